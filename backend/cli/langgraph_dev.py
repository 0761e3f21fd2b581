"""`langgraph dev` with a log that a person can follow: `python -m backend.cli.langgraph_dev dev ...`.

Left alone it greets with a banner that calls the data in-memory, then writes thirty lines at start, several for each
run and two every minute. Here it speaks up from WARNING on.
"""

import logging
import warnings

from langgraph_cli.cli import cli

TALKATIVE = ("langgraph_api", "langgraph_runtime", "langgraph_runtime_inmem", "watchfiles")
"""The server's own loggers, and that of the files that changed in the folder, the database's among them."""


def quieten() -> None:
    """Must run before the server's modules are imported: a root handler that is there keeps them from adding theirs."""
    warnings.filterwarnings("ignore", "`durability` has no effect when no checkpointer is present", UserWarning)
    logging.basicConfig(level=logging.WARNING)
    for name in TALKATIVE:
        logging.getLogger(name).setLevel(logging.WARNING)


# Not under `__main__`: when it reloads, the server's process imports this module under another name.
quieten()

if __name__ == "__main__":
    cli()
