"""Property: what a claim compares, and the word on samples that are known, for each relation."""

import numpy as np
import pytest
from pandas import DataFrame

from capsim import ParameterError
from capsim.study.claims import Design
from capsim.study.decide import decide
from capsim.study.file import Source
from capsim.study.samples import TAU, Rows, Statement, in_its_range
from capsmodel.experiments.printed import Printed
from capsmodel.experiments.statistics.intervals import Interval

SEEDS = 16
AXES = {"scheme": {"A": "caps", "B": "ecmp", "C": "rps"}, "load": [0.2, 0.4, 0.8]}


def stated(**claim):
    """Return the statement of a claim about the metric fct_s."""
    tables = {"axes": AXES, "scenario": "p64", "claim": [{"id": "c", "metric": "mean_fct_short_s", **claim}]}
    return Statement(Design(Source.of_tables(tables)), "c")


def rows_of(statement, value):
    """Return rows in which a point has a value, with noise of 1% that points of a seed share, and 0.01% of its own."""
    rng, points, frames = np.random.default_rng(1), [], []
    noise = 1 + 1e-2 * rng.standard_normal(SEEDS)
    for point in statement.points:
        points += [point] * SEEDS
        values = value(**dict(point)) * noise * (1 + 1e-4 * rng.standard_normal(SEEDS))
        frames += [{"seed": seed, statement.metric: one} for seed, one in zip(range(1, SEEDS + 1), values, strict=True)]
    return Rows(points, DataFrame(frames))


def word(value, **claim):
    statement = stated(**claim)
    return decide(statement.samples(rows_of(statement, value), SEEDS)).word


def of_scheme(**values):
    return lambda scheme, load: values[scheme]


LESS, MORE, EQUAL = of_scheme(A=0.6, B=1.0, C=1.0), of_scheme(A=1.6, B=1.0, C=1.0), of_scheme(A=1.0, B=1.0, C=1.0)
PAIR = {"subject": "A", "baseline": "B"}


@pytest.mark.parametrize(
    ("value", "claim", "expected"),
    [
        (LESS, {"is": "lower"}, "reproduced"),
        (MORE, {"is": "lower"}, "refuted"),
        (MORE, {"is": "higher"}, "reproduced"),
        (LESS, {"is": "lower", "by": "significantly"}, "reproduced"),
        (LESS, {"is": "lower", "by": "much"}, "differs in size"),
        (MORE, {"is": "higher", "by": "much"}, "differs in size"),
        (LESS, {"is": "lower", "printed": "40 %"}, "reproduced"),
        (LESS, {"is": "lower", "printed": "35..45 %"}, "reproduced"),
        (LESS, {"is": "lower", "printed": "60..70 %"}, "differs in size"),
        (LESS, {"is": "lower", "printed": "..40 %"}, "reproduced"),
        (LESS, {"is": "lower", "printed": "..70 %"}, "differs in size"),  # it is reached nowhere
        (LESS, {"is": "lower", "printed": "..20 %"}, "differs in size"),  # it is passed
        (MORE, {"is": "lower", "printed": "40 %"}, "refuted"),
        (MORE, {"is": "higher", "printed": "60 %"}, "reproduced"),
        (MORE, {"is": "higher", "printed": "1.6 x"}, "reproduced"),
        (MORE, {"is": "higher", "printed": "3 x"}, "differs in size"),
        (LESS, {"is": "higher", "printed": "1.6 x"}, "refuted"),
        (EQUAL, {"is": "close"}, "reproduced"),
        (LESS, {"is": "close"}, "refuted"),
        (LESS, {"is": "close", "printed": "50 %"}, "reproduced"),
        (EQUAL, {"is": "equal", "printed": "1 x"}, "reproduced"),
        (LESS, {"is": "not higher"}, "reproduced"),
        (of_scheme(A=1.05, B=1.0, C=1.0), {"is": "not higher"}, "reproduced"),
        (MORE, {"is": "not higher"}, "refuted"),
        (of_scheme(A=0.95, B=1.0, C=1.0), {"is": "not lower"}, "reproduced"),
        (LESS, {"is": "not lower"}, "refuted"),
        (of_scheme(A=100.0, B=1.0, C=1.0), {"is": "equal", "printed": "~2 orders of magnitude"}, "reproduced"),
        (of_scheme(A=10.0, B=1.0, C=1.0), {"is": "equal", "printed": "~2 orders of magnitude"}, "differs in size"),
        (LESS, {"is": "below", "printed": "1 x"}, "reproduced"),
        (MORE, {"is": "below", "printed": "1 x"}, "refuted"),
        (LESS, {"is": "equal", "printed": "-400 ms"}, "reproduced"),  # a gap in its unit
        (LESS, {"is": "equal", "printed": "-4 ms"}, "differs in size"),
        (LESS, {"is": "equal", "printed": "400 ms"}, "refuted"),
    ],
)
def test_the_word_on_a_comparison_is_that_of_its_size(value, claim, expected):
    assert word(value, **PAIR, **claim) == expected


@pytest.mark.parametrize(
    ("claim", "expected"),
    [
        ({"is": "equal", "printed": "600 ms"}, "reproduced"),
        ({"is": "equal", "printed": "0.60"}, "reproduced"),
        ({"is": "equal", "printed": "126 ms"}, "differs in size"),
        ({"is": "equal", "printed": "3000 ms", "times": 5}, "reproduced"),
        ({"is": "below", "printed": "1.0 s"}, "reproduced"),
        ({"is": "above", "printed": "1.0 s"}, "refuted"),
        ({"is": "above", "printed": "1 s"}, "reproduced"),  # within half a second
        ({"is": "above", "printed": "0"}, "reproduced"),
    ],
)
def test_a_level_is_in_the_unit_that_is_printed(claim, expected):
    assert word(LESS, subject="A", **claim) == expected


def test_a_claim_of_several_points_is_met_at_all_of_them_or_missed_at_all():
    def crossing(scheme, load):
        return {"A": 1.5 if load > 0.5 else 0.6}.get(scheme, 1.0)

    assert word(crossing, **PAIR, **{"is": "lower"}) == "differs in size"
    assert word(crossing, **PAIR, at={"load": [0.2, 0.4]}, **{"is": "lower"}) == "reproduced"
    assert word(crossing, **PAIR, at={"load": 0.8}, **{"is": "lower"}) == "refuted"


def test_a_trend_is_over_its_axis_whatever_order_the_values_are_asked_in():
    def rising(scheme, load):
        return 1 + load

    for is_, expected in (("rising", "reproduced"), ("falling", "refuted")):
        claim = {"subject": "A", "x": "load", "at": {"load": [0.8, 0.2, 0.4]}, "is": is_}
        assert word(rising, **claim) == expected
    statement = stated(subject=["A", "B"], x="load", **{"is": "rising"})
    decision = decide(statement.samples(rows_of(statement, rising), SEEDS))
    assert list(decision.intervals) == [
        "A: last minus first", "A: Kendall's tau", "B: last minus first", "B: Kendall's tau"
    ]  # fmt: skip
    assert statement.value(decision) == (statement.value(decision).__class__)(TAU, (1.0, 1.0), ())


def test_a_trend_of_a_gain_is_of_the_ratio_unless_it_is_of_the_gap():
    def value(scheme, load):
        return {0.2: 2.0, 0.4: 3.0, 0.8: 4.0}[load] if scheme == "A" else {0.2: 1.0, 0.4: 1.6, 0.8: 2.4}[load]

    claim = {**PAIR, "x": "load"}
    assert word(value, **claim, **{"is": "falling"}) == "reproduced"  # 2, 1.9, 1.7
    assert word(value, **claim, gap=True, **{"is": "rising"}) == "reproduced"  # 1, 1.4, 1.6


def test_a_gain_over_a_gain_divides_both_sides():
    def value(scheme, load):
        return {("A", 0.8): 9.0, ("A", 0.2): 3.0, ("B", 0.8): 4.0, ("B", 0.2): 2.0}.get((scheme, load), 1.0)

    claim = {**PAIR, "at": {"load": 0.8}, "over": {"load": 0.2}, "is": "higher", "printed": "1.5 x"}
    assert word(value, **claim) == "reproduced"
    each = {"subject": {"scheme": "A", "over": "B"}, "baseline": {"scheme": "B", "over": "C"}, "at": {"load": 0.8}}
    assert word(value, **each, **{"is": "lower"}) == "reproduced"  # 9/4 under 4


def test_means_are_over_points_or_over_baselines():
    def value(scheme, load):
        return {"A": 1.0, "B": 2.0, "C": 8.0}[scheme] * (4.0 if load == 0.8 and scheme == "A" else 1.0)

    both = {"subject": "A", "at": {"load": [0.2, 0.8]}, "is": "equal"}
    assert word(value, **both, baseline="B", printed="1.00 x", average=True) == "reproduced"  # 1/2 and 2
    assert word(value, **both, baseline="B", printed="1.00 x") == "refuted"
    over = {"pairs": [["B", "A"], ["C", "A"]], "at": {"load": 0.2}, "average": "baseline", "is": "higher"}
    assert word(value, **over, printed="4 x") == "reproduced"  # the geometric mean of 2 and 8
    assert len(stated(**over, printed="4 x").comparisons) == 1


def test_a_model_is_added_and_has_a_number_for_each_point():
    claim = {**PAIR, "at": {"load": 0.2}, "is": "equal", "printed": "3.0 x"}
    assert word(EQUAL, **claim, expected=[float(np.log(3.0))]) == "reproduced"
    with pytest.raises(ParameterError, match="expected has 2 numbers, but 1 points"):
        word(EQUAL, **claim, expected=[0.0, 1.0])


def test_a_list_in_a_term_is_a_term_for_each_value():
    short = stated(subject={"load": 0.2}, baseline={"load": [0.4, 0.8]}, at={"scheme": "A"}, **{"is": "lower"})
    listed = stated(
        subject={"load": 0.2}, baseline=[{"load": 0.4}, {"load": 0.8}], at={"scheme": "A"}, **{"is": "lower"}
    )
    assert short.comparisons == listed.comparisons
    assert len(short.comparisons) == 2


def test_what_is_not_there_keeps_a_claim_open():
    statement = stated(**PAIR, **{"is": "lower"})
    zero = rows_of(
        statement, lambda scheme, load: 0.0 if load == 0.2 and scheme == "A" else 1.0 if scheme == "A" else 2
    )
    found = decide(statement.samples(zero, SEEDS))
    assert found.word == "open"
    assert "A against B, load 0.2 (0 in some runs)" in found.intervals
    assert not Rows().has(statement.points, 4)
    assert not rows_of(statement, EQUAL).has(statement.points, SEEDS + 1)


def test_rows_count_up_to_the_first_missing_seed():
    point = (("scheme", "A"), ("load", 0.2))
    frame = DataFrame({"seed": [4, 1, 2], "x": [4.0, 1.0, 2.0]})
    rows = Rows([point] * 3, frame)
    assert (rows.has([point], 2), rows.has([point], 3)) == (True, False)
    assert rows.values(point, "x", 2).tolist() == [1.0, 2.0]


def test_counts_that_can_be_0_are_compared_by_their_difference():
    def timeouts(scheme, load):
        return 0.0 if scheme == "A" else load * 10

    claim = {**PAIR, "metric": "timeouts_short"}
    statement = stated(**claim, **{"is": "lower"})
    rows = rows_of(statement, timeouts)
    assert decide(statement.samples(rows, SEEDS)).word == "reproduced"
    assert statement.quantity == "difference"
    none = rows_of(statement, lambda scheme, load: 0.0)
    assert statement.samples(none, SEEDS) == []
    assert len(statement.without_events(none, SEEDS)) == 3
    assert decide(statement.samples(none, SEEDS)).word == "open"


@pytest.mark.parametrize(
    ("claim", "told"),
    [
        ({"subject": "A", "is": "lower"}, "is = 'lower' compares: name a baseline"),
        ({"subject": "A", "is": "close"}, "is = 'close' compares: name a baseline"),
        ({"subject": "A", "is": "equal"}, "is = 'equal' needs a size: give printed"),
        ({**PAIR, "is": "below"}, "is = 'below' needs a size"),
        ({**PAIR}, "is is missing: say what is claimed"),
        ({**PAIR, "is": "lower", "printed": "5 ms"}, "a size of lower is a percentage or a factor x"),
        ({**PAIR, "is": "equal", "printed": "5 %"}, "of a comparison, equal has a factor x"),
        ({**PAIR, "is": "lower", "printed": "5 %", "by": "much"}, "by and printed are both a size"),
        ({"subject": "A", "is": "equal", "printed": "5 mss"}, "unknown unit 'mss'"),
        ({"subject": "A", "is": "equal", "printed": "many"}, "write a number and its unit"),
        ({"subject": "A", "is": "equal", "printed": "1 2 ms"}, "unknown unit|two numbers"),
        ({"metric": "", **PAIR, "is": "lower"}, "c: metric is missing"),
        ({"metric": "mean_fct_sort_s", **PAIR, "is": "lower"}, "no metric mean_fct_sort_s: did you mean"),
    ],
)
def test_a_claim_that_says_too_little_or_too_much_is_refused(claim, told):
    with pytest.raises(ParameterError, match=told):
        word(EQUAL, **claim)


@pytest.mark.parametrize(
    ("text", "low", "high"),
    [
        ("126 ms", 125.5, 126.5),
        ("0.013", 0.0125, 0.0135),
        ("~10 x", 9.5, 10.5),
        ("60..70 %", 59.5, 70.5),
        ("..45 %", -np.inf, 45.5),
        ("1.3..", 1.25, np.inf),
        ("-5 percentage points", -5.5, -4.5),
        ("1.37e7", 13.65e6, 13.75e6),
        ("0", -0.5, 0.5),
    ],
)
def test_the_digits_of_what_is_printed_are_its_reading_error(text, low, high):
    assert Printed.read(text).range == pytest.approx((low, high), rel=1e-8)


@pytest.mark.parametrize(
    ("point", "low", "high", "ends"),
    [
        (f"A: {TAU}", -0.2, 1.2, (-0.2, 1.0)),
        (f"A: {TAU}", -4.2, 0.5, (-1.0, 0.5)),
        (f"A: {TAU}", -np.inf, np.inf, (-np.inf, np.inf)),
        ("A: last minus first", -4.2, 5.2, (-4.2, 5.2)),
    ],
)
def test_an_interval_of_tau_ends_where_tau_does(point, low, high, ends):
    found = in_its_range(point, Interval(value=0.4, low=low, high=high, confidence=0.95, samples=4))
    assert (found.low, found.high) == ends
