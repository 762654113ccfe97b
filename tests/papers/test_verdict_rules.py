"""Identity tests of the rules that turn a value into a verdict, on made-up claims."""

import re
from pathlib import Path
from typing import Any, get_args

import numpy as np
import pytest

from capsim.study.file import Claim
from capsmodel.checks import ParameterError
from capsmodel.experiments import words
from capsmodel.experiments.printed import reading_error
from capsmodel.experiments.statistics.intervals import Interval, quantile_ranks
from capsmodel.experiments.statistics.sequential import FALSE_ALARM, level_at
from capsmodel.papers import verdicts as rules
from capsmodel.papers.claim_list import PublishedClaim


def claimed(relation: Any = "equal", printed: str = "0.34", **others: Any) -> PublishedClaim:
    """Return a claim of a study that says this."""
    return PublishedClaim.of("caps", Claim(id="x", is_=relation, printed=printed, **others))


CLAIM = claimed()


@pytest.mark.parametrize(("value", "word"), [(0.344, "agrees"), (0.346, "differs")])
def test_a_value_is_met_within_half_a_unit_of_the_last_digit(value: float, word: str) -> None:
    assert rules.computed(CLAIM, value).verdict == word


@pytest.mark.parametrize(("value", "word"), [(0.355, "agrees"), (0.36, "differs")])
def test_an_approximate_value_is_met_within_five_percent(value: float, word: str) -> None:
    assert rules.computed(claimed(printed="~0.34"), value).verdict == word


def test_reading_error_is_half_a_unit_of_the_last_digit(subtests: pytest.Subtests) -> None:
    cases = [("0.34", 0.005), ("19", 0.5), ("1.50", 0.005), ("4.19e-05", 5e-8)]
    for text, error in cases:
        with subtests.test(text=text, error=error):
            assert reading_error(text) == pytest.approx(error)


def test_bounds_and_ends_of_ranges_have_the_reading_error_of_a_size(subtests: pytest.Subtests) -> None:
    cases = [
        ("below", "5", 5.5, 5.51),
        ("below", "3.5", 3.55, 3.551),
        ("above", "95", 94.5, 94.49),
        ("lower", "40 %", 38, 37.99),  # a round figure
        ("higher", "70 %", 73.5, 73.51),
        ("higher", "~10 x", 9.5, 9.49),
        ("equal", "6", 6.5, 6.51),
    ]
    for relation, printed, met, missed in cases:
        with subtests.test(relation=relation, printed=printed, met=met, missed=missed):
            claim = claimed(relation=relation, printed=printed)
            low, high = claim.said.range
            assert low <= met <= high
            assert not low <= missed <= high


def test_a_trend_needs_the_sign_of_kendalls_tau_and_of_its_ends(subtests: pytest.Subtests) -> None:
    cases = [
        ([1, 2, 2, 3], "rising", "holds"),
        ([3, 2, 1], "rising", "fails"),
        ([1, 1, 1], "rising", "fails"),
        ([9, 5, 7, 3, 4, 1], "falling", "holds"),
        ([5, 9, 8, 7, 6], "falling", "holds in part"),  # tau = -0.2, but it ends higher than it began
        ([5, 6, 7, 8, 4], "falling", "holds in part"),  # ends lower, but tau = 0.2
        ([2, 4, 1, 3], "rising", "holds in part"),  # ends higher, but tau = 0
        ([1, 2, 3, 1], "rising", "holds in part"),  # tau = 1/6, but it ends where it began
    ]
    for values, relation, word in cases:
        with subtests.test(values=values, relation=relation, word=word):
            assert rules.computed(claimed(relation, ""), values).verdict == word


def test_kendalls_tau_of_four_values() -> None:
    """Of six pairs one is out of order: (5 - 1) / 6."""
    assert words.kendall(np.array([1.0, 3.0, 2.0, 4.0])) == pytest.approx(4 / 6)


def test_a_trend_shows_its_ends_and_whether_it_is_monotone(subtests: pytest.Subtests) -> None:
    cases = [([3, 2, 2], "monotone"), ([1, 1, 2], "monotone"), ([1, 1.5, 1.25, 2], "not monotone, Kendall tau 0.67")]
    for values, kind in cases:
        with subtests.test(values=values, kind=kind):
            found = rules.computed(claimed("rising", ""), rules.Computed(values, "why"))
            assert (found.value, found.reason) == ((values[0], values[-1]), f"why; {kind}")


WORDS = ["holds", "holds in part", "fails"]


def test_a_bound_holds_everywhere_on_a_part_or_nowhere() -> None:
    upper = claimed(relation="below", printed="5")
    found = [rules.computed(upper, values) for values in ([1, 5.5], [1, 6], [6, 7])]
    assert [one.verdict for one in found] == WORDS
    assert [one.value for one in found] == [(5.5,), (6,), (7,)]
    lower = claimed(relation="above", printed="5")
    found = [rules.computed(lower, values) for values in ([4.5, 9], [4, 9], [1, 4])]
    assert [one.verdict for one in found] == WORDS
    assert [one.value for one in found] == [(4.5,), (4,), (1,)]


def test_a_range_holds_everywhere_has_the_sign_or_not() -> None:
    span = claimed(relation="lower", printed="40..70 %")
    values = ([38, 73.5], [37, 50], [-5, 1], [80, 90], [-5, -1], [-5, 0])
    assert [rules.computed(span, v).verdict for v in values] == [
        "agrees", "differs", "absent", "differs", "fails", "fails",
    ]  # fmt: skip
    assert rules.computed(span, [-5, 50]).verdict == "holds in part"
    up_to, at_least = claimed("lower", "..70 %"), claimed("lower", "40.. %")
    assert rules.computed(up_to, [0, 73]).verdict == "agrees"
    assert rules.computed(up_to, [10, 73.6]).verdict == "differs"
    assert rules.computed(at_least, [39, 99]).verdict == "agrees"
    assert rules.computed(at_least, [37.9, 99]).verdict == "differs"


def test_an_order_holds_with_its_size_without_it_or_not(subtests: pytest.Subtests) -> None:
    cases = [
        ("lower", "", [0.1, 0.99], [0.1, 1.04], [1, 2]),
        ("higher", "", [1.01, 9], [0.96, 9], [0.5, 1]),
        ("lower", "significantly", [0.1, 0.89], [0.91, 0.5], [1, 1.2]),
        ("higher", "significantly", [1.11, 9], [1.09, 2], [1, 0.8]),
        ("lower", "much", [0.1, 0.49], [0.51, 0.1], [1, 3]),
        ("higher", "much", [2.01, 9], [1.99, 9], [1, 0.2]),
    ]
    for relation, by, everywhere, in_part, nowhere in cases:
        with subtests.test(relation=relation, by=by, everywhere=everywhere, in_part=in_part, nowhere=nowhere):
            claim = claimed(relation, "", by=by)
            found = [rules.computed(claim, (ratios, [1, 1])) for ratios in (everywhere, in_part, nowhere)]
            of_size = ["holds", "differs", "fails"] if by else WORDS
            assert [one.verdict for one in found] == of_size
            assert [one.value for one in found] == [(min(r), max(r)) for r in (everywhere, in_part, nowhere)]


def test_an_order_over_a_sweep_is_not_lost_on_a_tie_and_a_small_effect_is_absent() -> None:
    assert rules.computed(claimed("lower", ""), ([0.1, 1.02], [1, 1])).verdict == "holds"
    assert rules.computed(claimed("lower", "", by="significantly"), ([0.91, 0.99], [1, 1])).verdict == "absent"


def test_what_is_close_is_not_significant() -> None:
    for ratio in (0.9, 0.95, 1.1):
        assert rules.computed(claimed("close", ""), ([ratio], [1])).verdict == "holds"
        assert not words.SIGNIFICANTLY[0] > ratio
        assert not words.SIGNIFICANTLY[1] < ratio


def test_close_is_within_ten_percent(subtests: pytest.Subtests) -> None:
    cases = [(1.09, "holds"), (1.12, "fails"), (0.91, "holds"), (0.88, "fails")]
    for ratio, word in cases:
        with subtests.test(ratio=ratio, word=word):
            assert rules.computed(claimed("close", ""), ([ratio], [1])).verdict == word


def test_what_is_close_or_lower_is_the_ratio_to_the_baseline() -> None:
    close = rules.computed(claimed("close", ""), ([2, 4.2], [2, 4]))
    lower = rules.computed(claimed("lower", ""), ([3, 4], [4, 8]))
    assert (close.value, close.verdict) == ((1, 1.05), "holds")
    assert (lower.value, lower.verdict) == ((0.5, 0.75), "holds")


def test_closeness_holds_everywhere_on_a_part_or_nowhere() -> None:
    found = [rules.computed(claimed("close", ""), (ratios, [1, 1])).verdict for ratios in ([1, 1.09], [1, 1.2], [2, 2])]
    assert found == WORDS


def test_what_is_no_finite_number_has_no_word(subtests: pytest.Subtests) -> None:
    """Each comparison with NaN fails, so that it would fail."""
    cases = [
        ("equal", "3", lambda number: number),
        ("below", "3", lambda number: number),
        ("higher", "3 %", lambda number: number),
        ("best at", "3", lambda number: number),
        ("true", "", lambda number: number),
        ("lower", "3 %", lambda number: [1, number]),
        ("lower", "", lambda number: ([1, number], [2, 2])),
        ("close", "", lambda number: ([1, number], [1, 1])),
        ("rising", "", lambda number: [1, number, 2]),
    ]
    for relation, printed, given in cases:
        for number in [np.nan, np.inf]:
            with (
                subtests.test(relation=relation, printed=printed, given=given, number=number),
                pytest.raises(ParameterError, match=r"x: .* not all finite numbers"),
            ):
                rules.computed(claimed(relation, printed), given(number))


def interval(low: float, high: float) -> Interval:
    return Interval(value=(low + high) / 2, low=low, high=high, confidence=0.95, samples=9)


def test_a_statement_on_a_sample_holds_fails_or_is_undecided() -> None:
    assert [words.above(interval(*ends), 1) for ends in ((1.1, 2), (0.5, 1), (1, 2), (0.5, 1.5))] == [
        True, False, None, None,
    ]  # fmt: skip
    assert [words.below(interval(*ends), 1) for ends in ((0.5, 0.9), (1, 2), (0.5, 1), (0.5, 1.5))] == [
        True, False, None, None,
    ]  # fmt: skip
    ends = ((1, 2), (0, 0.9), (2.1, 3), (0.9, 1.5), (1.5, 2.1), (0, 3))
    assert [words.within(interval(*one), 1, 2) for one in ends] == [True, False, False, None, None, None]


def test_a_measured_size_is_met_by_an_interval_that_is_close_as_a_whole() -> None:
    ends = ((9.1, 10.9), (9.1, 9.4), (10.6, 10.9), (8.9, 10), (10, 11.1), (0, 99), (7, 8.9), (11.1, 12))
    assert [words.within(interval(*one), *words.near(10)) for one in ends] == [
        True, True, True, None, None, None, False, False,
    ]  # fmt: skip
    assert words.within(interval(8.1, 11.9), *words.near(10, 2)) is True  # all of it within the reading error
    assert words.within(interval(-10.9, -9.1), *words.near(-10)) is True


def test_all_of_fails_with_one_and_holds_with_all() -> None:
    cases = [(True, True), (True, False), (None, False), (True, None), (None, None)]
    assert [words.all_of(*case) for case in cases] == [True, False, False, None, None]


def test_what_is_undecided_says_nothing(subtests: pytest.Subtests) -> None:
    cases = [
        (words.LEVEL, [True, True], [None, None], "agrees"),
        (words.LEVEL, [True, False], [None, None], "differs"),
        (words.LEVEL, [False, False], [None, None], "differs"),
        (words.LEVEL, [True, None], [None, None], "open"),
        (words.SIZE, [True, True], None, "agrees"),
        (words.SIZE, [False], [True], "differs"),
        (words.SIZE, [False], [False], "fails"),
        (words.SIZE, [False], [None], "open"),
        (words.SIZE, [False], [False, True], "holds in part"),
        (words.SIZE, [False], [None, True], "differs"),
        (words.SIZE, [None], [True], "open"),
        (words.WORD_OF_SIZE, [True], [True], "holds"),
        (words.WORD_OF_SIZE, [False], [True], "differs"),
        (words.STATEMENT, [True, True], None, "holds"),
        (words.STATEMENT, [True, False], None, "holds in part"),
        (words.STATEMENT, [False, False], None, "fails"),
        (words.STATEMENT, [True, None], None, "open"),
        (words.STATEMENT, [False, None], None, "open"),
        (words.STATEMENT, [True, False, None], None, "holds in part"),
        (words.STATEMENT, [], None, "open"),
    ]
    for kind, met, direction, word in cases:
        with subtests.test(kind=kind, met=met, direction=direction, word=word):
            assert words.word_on(kind, met, direction) == word


def test_each_word_has_its_meaning() -> None:
    assert tuple(words.MEANINGS) == get_args(words.VerdictWord)
    parts = {
        "agrees": "within 10%",
        "holds": "no number is printed",
        "holds in part": "of a ratio by more than 3%",
        "differs": "of a ratio by more than 10%",
        "absent": "none of more than 10%",
        "fails": "contrary holds at every point",
        "depends": "in another one",
        "not testable": "nothing computable",
        "open": "does not decide",
    }
    assert parts.keys() == words.MEANINGS.keys()
    for word, part in parts.items():
        assert part in words.MEANINGS[word]


def test_one_value_is_judged_by_the_relation_of_the_claim(subtests: pytest.Subtests) -> None:
    cases = [
        ("equal", "9", 9.5, "agrees"),
        ("equal", "9", 9.6, "differs"),
        ("equal", "~9", 9.4, "agrees"),
        ("higher", "~2 x", 2.2, "differs"),
        ("below", "3.5", 3.54, "holds"),
        ("below", "3.5", 3.56, "fails"),
        ("above", "50", 49.5, "holds"),
        ("above", "50", 49.4, "fails"),
        ("lower", "50.. %", 58.0, "agrees"),
        ("lower", "50.. %", 40.0, "differs"),
        ("higher", "30 %", -1.0, "fails"),
        ("best at", "9", 9.0, "agrees"),
        ("best at", "9", 9.4, "fails"),
        ("true", "", True, "holds"),
        ("true", "", False, "fails"),
    ]
    for relation, printed, value, word in cases:
        with subtests.test(relation=relation, printed=printed, value=value, word=word):
            claim = claimed(relation=relation, printed=printed)
            found = rules.computed(claim, rules.Computed(value, "why"))
            assert (found.value, found.verdict, found.reason, found.interval) == ((float(value),), word, "why", ())


def test_a_pair_is_judged_by_its_order_with_the_size_of_its_word(subtests: pytest.Subtests) -> None:
    cases = [("", "holds"), ("significantly", "holds"), ("much", "differs")]
    for by, word in cases:
        with subtests.test(by=by, word=word):
            claim = claimed(relation="lower", printed="", by=by, note="why")
            found = rules.computed(claim, ([6.0, 7.0], [10.0, 10.0]))
            assert (found.value, found.verdict, found.reason, found.quantity) == ((0.6, 0.7), word, "why", "ratio")


def test_the_factor_by_which_a_value_is_off_print(subtests: pytest.Subtests) -> None:
    cases = [
        ("equal", "10 ms", (10.0,), 1.0),
        ("equal", "10 ms", (25.0,), 2.5),
        ("equal", "10 ms", (5.0,), 2.0),
        ("equal", "10 ms", (0.0,), 0.0),
        ("lower", "60 %", (20.0,), 2.0),  # 0.8 of the baseline in place of 0.4
        ("lower", "..60 %", (20.0, 60.0), 1.0),
        ("higher", "50..100 %", (60.0, 300.0), 2.0),
        ("below", "3", (6.0,), 0.0),
    ]
    for relation, printed, value, factor in cases:
        with subtests.test(relation=relation, printed=printed, value=value, factor=factor):
            found = rules.computed(
                claimed(relation=relation, printed=printed), value[0] if len(value) == 1 else list(value)
            )
            assert found.times_printed == pytest.approx(factor)


def test_the_page_has_the_level_and_the_interval_of_each_analysis() -> None:
    """Wrong line: somebody who follows the page decides a claim at another number of seeds."""
    page = (Path(__file__).parents[2] / "docs" / "verdict_rules.md").read_text(encoding="utf-8")
    rows = re.findall(r"^ +\| (\d+) \| ([0-9.]+) \| (\d+), (\d+) \|$", page, re.MULTILINE)
    assert [int(row[0]) for row in rows] == [8 * 2**number for number in range(6)]
    for number, (seeds, percent, *ranks) in enumerate(rows, start=1):
        level = level_at(number, false_alarm=FALSE_ALARM)
        assert 100 * level == pytest.approx(float(percent))
        assert quantile_ranks(int(seeds), 0.5, 1 - level)[:2] == tuple(map(int, ranks))
