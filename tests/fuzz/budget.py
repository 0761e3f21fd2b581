"""How much is tried: in CI a little, always the same; in the long run always other, and as FUZZ_EXAMPLES says.

FUZZ_EXAMPLES=5000 python -m pytest tests/fuzz
"""

import os
from typing import Final

import pytest
from hypothesis import HealthCheck, settings

ASKED: Final = int(os.environ.get("FUZZ_EXAMPLES", "0"))
"""How many examples of what costs nothing but time to think; 0 for the usual run."""
TIME: Final = pytest.mark.timeout(3 * 3600 if ASKED else 120)


def examples(usual: int, *, share: int = 1) -> settings:
    """The settings of a test that tries so many; in the long run one `share`th of what is asked for, if it is slow."""
    return settings(
        max_examples=max(usual, ASKED // share),
        derandomize=not ASKED,
        deadline=None,
        database=None,
        print_blob=True,
        suppress_health_check=[
            HealthCheck.function_scoped_fixture,
            HealthCheck.too_slow,
            HealthCheck.data_too_large,
            HealthCheck.filter_too_much,
        ],
    )
