"""Who speaks in a measured run: the user that its config names."""

from functools import partial

from backend.accounts.run_context import ReadContext, run_context

read_context: ReadContext = partial(run_context, auth_mode="none", default_user="local")
