"""Identity tests of the rules that turn a value into a verdict, on made-up claims."""

from dataclasses import replace

import pytest

from capsmodel._paper_index import Claim, PrintedNumber
from capsmodel.experiments import verdicts as rules

CLAIM = Claim("x", "caps", "", "", "", "", "", "absolute", "0.34", "0.34", "", "", "")


@pytest.mark.parametrize(("value", "word"), [(0.344, "reproduced"), (0.346, "differs in size")])
def test_a_value_is_met_within_half_a_unit_of_the_last_digit(value: float, word: str) -> None:
    assert rules.by_size(CLAIM, value, "").verdict == word


@pytest.mark.parametrize(("value", "word"), [(0.355, "reproduced"), (0.36, "differs in size")])
def test_an_approximate_value_is_met_within_five_percent(value: float, word: str) -> None:
    assert rules.by_size(replace(CLAIM, relation="approx"), value, "").verdict == word


@pytest.mark.parametrize(("text", "error"), [("0.34", 0.005), ("19", 0.5), ("1.50", 0.005), ("4.19e-05", 5e-8)])
def test_reading_error_is_half_a_unit_of_the_last_digit(text: str, error: float) -> None:
    assert rules.reading_error(text) == pytest.approx(error)


@pytest.mark.parametrize(
    ("values", "unit", "word"),
    [
        ([1, 2, 2, 3], "increasing", "reproduced"),
        ([3, 2, 1], "increasing", "refuted"),
        ([1, 1, 1], "increasing", "refuted"),
        ([9, 5, 7, 3, 4, 1], "decreasing", "reproduced"),
        ([5, 9, 7, 8, 6], "decreasing", "refuted"),  # ends higher than it began
    ],
)
def test_a_trend_needs_the_sign_of_kendalls_tau_and_of_its_ends(values: list[float], unit: str, word: str) -> None:
    assert rules.by_trend(replace(CLAIM, unit=unit), values, "").verdict == word


def test_bounds_ranges_orders_and_closeness_hold_everywhere_partly_or_nowhere() -> None:
    bound = replace(CLAIM, high="5")
    assert [rules.by_bound(bound, v, "").verdict for v in ([1, 4], [1, 6], [6, 7])] == [
        "reproduced", "differs in size", "refuted",
    ]  # fmt: skip
    span = replace(CLAIM, low="40", high="70")
    assert [rules.by_range(span, v, "").verdict for v in ([40, 69], [38.5, 50], [-5, -1])] == [
        "reproduced", "differs in size", "refuted",
    ]  # fmt: skip
    lower = replace(CLAIM, unit="lower")
    assert [rules.by_order(lower, [1, s], [2, 2], "").verdict for s in (1, 2)] == ["reproduced", "refuted"]
    assert [rules.by_closeness(CLAIM, s, [1, 1], "").verdict for s in ([1.0, 1.09], [1.0, 1.2], [2, 2])] == [
        "reproduced", "differs in size", "refuted",
    ]  # fmt: skip
    assert [rules.by_place(replace(CLAIM, low="29"), k, "").verdict for k in (29, 61)] == ["reproduced", "refuted"]


def test_numbers_are_compared_by_their_relation(monkeypatch: pytest.MonkeyPatch) -> None:
    cases = [
        (PrintedNumber("caps", "n", "", "", "at_most", (3.5,)), 3.6, "differs in size"),
        (PrintedNumber("caps", "n", "", "", "at_least", (50.0,)), 58.0, "reproduced"),
        (PrintedNumber("caps", "n", "", "", "within", (40.0, 70.0)), (41.0, 69.0), "reproduced"),
        (PrintedNumber("caps", "n", "", "", "within", (40.0, 70.0)), (39.0, 69.0), "differs in size"),
        (PrintedNumber("caps", "n", "", "", "equal", (1.0, 9.0), 0.5), (1.4, 9.6), "differs in size"),
        (PrintedNumber("caps", "n", "", "", "true"), False, "refuted"),
        (PrintedNumber("caps", "n", "", "", "none"), 1.0, "not testable"),
    ]
    for number, value, word in cases:
        monkeypatch.setitem(rules._VALUES, "n", lambda value=value: value)
        assert rules.judge_number(number).verdict == word
