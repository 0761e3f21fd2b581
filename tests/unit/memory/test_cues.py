"""Names and days in a text."""

from datetime import date

import pytest

from backend.memory.cues import MAX_DATES, dates_in, names_in

TODAY = date(2026, 3, 20)


def day(year: int, month: int, day: int) -> tuple[date, date]:
    return date(year, month, day), date(year, month, day)


@pytest.mark.parametrize(
    "text",
    [
        "on 8 May, 2023",
        "on May 8, 2023",
        "8th of May 2023",
        "2023-05-08",
        "8.5.2023",
        "am 8. Mai 2023",
        "2023年5月8日",
        "el 8 de mayo de 2023",
        "8 мая 2023",
    ],
)
def test_a_day_is_found_in_figures_and_words(text: str):
    assert dates_in(text, today=TODAY) == [day(2023, 5, 8)]


@pytest.mark.parametrize("text", ["in February 2024", "2024-02", "im Februar 2024", "в феврале 2024", "2024年2月"])
def test_a_month_of_a_year_is_all_of_its_days(text: str):
    assert dates_in(text, today=TODAY) == [(date(2024, 2, 1), date(2024, 2, 29))]


def test_a_month_without_a_year_is_that_month_in_each_of_ten_years():
    found = dates_in("What did we plan in June?", today=TODAY)
    assert [first.year for first, _ in found] == list(range(2026, 2016, -1))
    assert {(first.month, last.day) for first, last in found} == {(6, 30)}


def test_a_year_alone_is_all_of_it():
    assert dates_in("the trip of 2022", today=TODAY) == [(date(2022, 1, 1), date(2022, 12, 31))]


@pytest.mark.parametrize(
    "text",
    ["", "may I ask you something", "march on", "31 February", "2024-13-40", "1.2022.3", "call 12025550123", "a"],
)
def test_what_is_no_date_gives_none(text: str):
    assert dates_in(text, today=TODAY) == []


@pytest.mark.parametrize("text", ["yesterday", "gestern", "ayer", "вчера", "昨天", "昨日"])
def test_yesterday_is_the_day_before(text: str):
    assert dates_in(text, today=TODAY) == [day(2026, 3, 19)]


def test_there_are_never_more_dates_than_a_statement_should_carry():
    assert len(dates_in(" ".join(f"2020-01-{n % 28 + 1:02}, {n} May" for n in range(400)), today=TODAY)) <= MAX_DATES


def test_every_word_could_be_a_name_and_so_could_two():
    assert names_in("What did Ana María's friend say?")[1:] == [
        "did",
        "ana",
        "maría",
        "friend",
        "say",
        "what did",
        "did ana",
        "ana maría",
        "maría friend",
        "friend say",
    ]


def test_a_text_without_letters_names_nobody():
    assert names_in("42 % _ ?!") == []
