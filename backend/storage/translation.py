"""The edge: errors of the database driver become ours here, and nothing above storage knows the driver's."""

from collections.abc import Generator
from contextlib import contextmanager

import psycopg
from psycopg.errors import UniqueViolation

from backend.errors import AfterthoughtError, Duplicate, InvalidInput, StorageUnavailable


@contextmanager
def translated() -> Generator[None]:
    """Raise what the block raises, the driver's errors as our own.

    The texts of refused statements quote values, so they are dropped; what is kept tells which rule was broken.

    Raises:
        StorageUnavailable: the database does not answer, is busy, or gave up on the statement; try again.
        Duplicate: a uniqueness constraint.
        InvalidInput: a value that PostgreSQL cannot hold, such as a NUL in text.
        AfterthoughtError: any other refusal, a mistake of this program.
    """
    try:
        yield
    except (psycopg.OperationalError, psycopg.InterfaceError) as error:
        raise StorageUnavailable from error
    except UniqueViolation as error:
        raise Duplicate(f"The same thing is already stored ({error.diag.constraint_name}).") from None
    except psycopg.DataError as error:
        raise InvalidInput(f"The database cannot hold this value ({_describe(error)}).") from None
    except psycopg.Error as error:
        raise AfterthoughtError(f"The database refused a statement ({_describe(error)}).") from None


def _describe(error: psycopg.Error) -> str:
    details = (type(error).__name__, error.sqlstate, error.diag.table_name, error.diag.constraint_name)
    return ", ".join(detail for detail in details if detail)
