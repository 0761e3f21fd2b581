"""No error of the driver gets past storage."""

import inspect

import psycopg
import psycopg_pool
import pytest
from psycopg import errors

from backend.errors import AfterthoughtError, Duplicate, InvalidInput, StorageUnavailable
from backend.storage.translation import translated

EVERY_DRIVER_ERROR = sorted(
    {
        error
        for module in (psycopg, errors, psycopg_pool)
        for _, error in inspect.getmembers(module, inspect.isclass)
        if issubclass(error, psycopg.Error)
    },
    key=lambda error: error.__name__,
)


@pytest.mark.parametrize("error", EVERY_DRIVER_ERROR)
def test_every_error_of_the_driver_becomes_one_of_ours(error: type[psycopg.Error]):
    with pytest.raises(AfterthoughtError), translated():
        raise error("a text with a secret in it")


@pytest.mark.parametrize(
    ("error", "ours"),
    [
        (psycopg.OperationalError, StorageUnavailable),
        (psycopg.InterfaceError, StorageUnavailable),
        (psycopg_pool.PoolTimeout, StorageUnavailable),
        (psycopg_pool.PoolClosed, StorageUnavailable),
        (errors.AdminShutdown, StorageUnavailable),
        (errors.QueryCanceled, StorageUnavailable),
        (errors.LockNotAvailable, StorageUnavailable),
        (errors.UniqueViolation, Duplicate),
        (errors.UntranslatableCharacter, InvalidInput),
        (errors.InvalidTextRepresentation, InvalidInput),
        (errors.UndefinedTable, AfterthoughtError),
        (errors.CheckViolation, AfterthoughtError),
    ],
)
def test_the_error_says_who_has_to_act(error: type[psycopg.Error], ours: type[AfterthoughtError]):
    with pytest.raises(AfterthoughtError) as raised, translated():
        raise error
    assert type(raised.value) is ours


@pytest.mark.parametrize("error", [errors.UniqueViolation, errors.UndefinedTable, errors.UntranslatableCharacter])
def test_what_a_refused_statement_quotes_is_not_passed_on(error: type[psycopg.Error]):
    with pytest.raises(AfterthoughtError) as raised, translated():
        raise error("a text with a secret in it")
    assert "secret" not in str(raised.value)
    assert raised.value.__suppress_context__


@pytest.mark.parametrize("error", [ValueError, KeyError, StorageUnavailable])
def test_other_errors_pass(error: type[Exception]):
    with pytest.raises(error), translated():
        raise error
