"""Property: what a claim compares, and the word on samples that are known, for each relation."""

import numpy as np
import pytest
from pandas import DataFrame

from capsim import ParameterError
from capsim.study.claims.decide import Sample, decide
from capsim.study.claims.design import Design
from capsim.study.claims.samples import TAU, RunRows, Statement
from capsim.study.file import Source
from capsmodel.experiments.printed import Printed
from capsmodel.experiments.statistics.robustness import TEXT
from capsmodel.experiments.statistics.sequential import FALSE_ALARM

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
    return RunRows(points, DataFrame(frames))


def word(value, **claim):
    statement = stated(**claim)
    return decide(statement.samples(rows_of(statement, value), SEEDS)).word


def of_scheme(**values):
    return lambda scheme, load: values[scheme]


LESS, MORE, EQUAL = of_scheme(A=0.6, B=1.0, C=1.0), of_scheme(A=1.6, B=1.0, C=1.0), of_scheme(A=1.0, B=1.0, C=1.0)
PAIR = {"subject": "A", "baseline": "B"}


def test_the_word_on_a_comparison_is_that_of_its_size(subtests):
    cases = [
        (LESS, {"is": "lower"}, "holds"),
        (MORE, {"is": "lower"}, "fails"),
        (MORE, {"is": "higher"}, "holds"),
        (LESS, {"is": "lower", "by": "significantly"}, "holds"),
        (LESS, {"is": "lower", "by": "much"}, "differs"),
        (MORE, {"is": "higher", "by": "much"}, "differs"),
        (LESS, {"is": "lower", "printed": "40 %"}, "agrees"),
        (LESS, {"is": "lower", "printed": "35..45 %"}, "agrees"),
        (LESS, {"is": "lower", "printed": "60..70 %"}, "differs"),
        (LESS, {"is": "lower", "printed": "..40 %"}, "agrees"),
        (LESS, {"is": "lower", "printed": "..70 %"}, "differs"),  # it is reached nowhere
        (LESS, {"is": "lower", "printed": "..20 %"}, "differs"),  # it is passed
        (MORE, {"is": "lower", "printed": "40 %"}, "fails"),
        (MORE, {"is": "higher", "printed": "60 %"}, "agrees"),
        (MORE, {"is": "higher", "printed": "1.6 x"}, "agrees"),
        (MORE, {"is": "higher", "printed": "3 x"}, "differs"),
        (MORE, {"is": "higher", "printed": "..1.6 x"}, "agrees"),
        (MORE, {"is": "higher", "printed": "..3 x"}, "differs"),  # it is reached nowhere
        (MORE, {"is": "higher", "printed": "..1.2 x"}, "differs"),  # it is passed
        (LESS, {"is": "lower", "printed": "1.7 x"}, "agrees"),  # 0.6 is 1 / 1.67
        (LESS, {"is": "lower", "printed": "1.2..2.5 x"}, "agrees"),
        (LESS, {"is": "lower", "printed": "1.3.. x"}, "agrees"),
        (LESS, {"is": "lower", "printed": "..1.7 x"}, "agrees"),
        (LESS, {"is": "lower", "printed": "..3 x"}, "differs"),
        (LESS, {"is": "lower", "printed": "3 x"}, "differs"),
        (LESS, {"is": "lower", "printed": "1.2 x"}, "differs"),
        (MORE, {"is": "lower", "printed": "1.6 x"}, "fails"),
        (EQUAL, {"is": "lower", "printed": "1.3..2 x"}, "absent"),
        (LESS, {"is": "equal", "printed": "0.6 x"}, "agrees"),
        (LESS, {"is": "higher", "printed": "1.6 x"}, "fails"),
        (EQUAL, {"is": "close"}, "holds"),
        (LESS, {"is": "close"}, "fails"),
        (LESS, {"is": "close", "printed": "50 %"}, "holds"),
        (EQUAL, {"is": "equal", "printed": "1 x"}, "agrees"),
        (LESS, {"is": "not higher"}, "holds"),
        (of_scheme(A=1.05, B=1.0, C=1.0), {"is": "not higher"}, "holds"),
        (MORE, {"is": "not higher"}, "fails"),
        (of_scheme(A=0.95, B=1.0, C=1.0), {"is": "not lower"}, "holds"),
        (LESS, {"is": "not lower"}, "fails"),
        (of_scheme(A=100.0, B=1.0, C=1.0), {"is": "equal", "printed": "~2 orders of magnitude"}, "agrees"),
        (of_scheme(A=10.0, B=1.0, C=1.0), {"is": "equal", "printed": "~2 orders of magnitude"}, "differs"),
        (LESS, {"is": "below", "printed": "1 x"}, "holds"),
        (MORE, {"is": "below", "printed": "1 x"}, "fails"),
        (LESS, {"is": "equal", "printed": "-400 ms"}, "agrees"),  # a gap in its unit
        (LESS, {"is": "equal", "printed": "-4 ms"}, "differs"),
        (LESS, {"is": "equal", "printed": "400 ms"}, "fails"),
    ]
    for value, claim, expected in cases:
        with subtests.test(value=value, claim=claim, expected=expected):
            assert word(value, **PAIR, **claim) == expected


def test_a_level_is_in_the_unit_that_is_printed(subtests):
    cases = [
        ({"is": "equal", "printed": "600 ms"}, "agrees"),
        ({"is": "equal", "printed": "0.60"}, "agrees"),
        ({"is": "equal", "printed": "126 ms"}, "differs"),
        ({"is": "equal", "printed": "3000 ms", "times": 5}, "agrees"),
        ({"is": "below", "printed": "1.0 s"}, "holds"),
        ({"is": "above", "printed": "1.0 s"}, "fails"),
        ({"is": "above", "printed": "1 s"}, "holds"),  # within half a second
        ({"is": "above", "printed": "0"}, "holds"),
    ]
    for claim, expected in cases:
        with subtests.test(claim=claim, expected=expected):
            assert word(LESS, subject="A", **claim) == expected


def test_a_count_is_compared_over_the_time_that_is_printed_in_settings_that_run_shorter():
    """5000 flows in the 20 s of the paper: as many in a second of a run of 5 s are as many over its time."""
    claim = {"id": "c", "metric": "completed_short", "subject": "A", "at": {"load": 0.2}, "is": "equal"}
    claim |= {"printed": "5000 flows", "times": "{20.0 / run_s}"}
    tables = {"axes": AXES, "unstated": {"run_s": [20.0, 5.0]}, "scenario": "p64", "claim": [claim]}
    design = Design(Source.of_tables(tables))
    for setting, count in ((TEXT, 5000.0), ("run_s = 5", 1250.0)):
        statement = Statement(design, "c", setting)
        (point,) = statement.points
        rows = RunRows([point] * 4, DataFrame({"seed": [1, 2, 3, 4], "completed_short": count}))
        assert statement.samples(rows, 4)[0].samples.tolist() == [5000.0] * 4
    tables["claim"] = [claim | {"times": "20 runs"}]
    with pytest.raises(ParameterError, match="c: times = '20 runs' gives '20 runs', but it must be a number"):
        Design(Source.of_tables(tables)).times("c")


def test_a_claim_of_several_points_is_met_at_all_of_them_or_missed_at_all():
    def crossing(scheme, load):
        return {"A": 1.5 if load > 0.5 else 0.6}.get(scheme, 1.0)

    assert word(crossing, **PAIR, **{"is": "lower"}) == "holds in part"
    assert word(crossing, **PAIR, at={"load": [0.2, 0.4]}, **{"is": "lower"}) == "holds"
    assert word(crossing, **PAIR, at={"load": 0.8}, **{"is": "lower"}) == "fails"


def test_a_trend_is_over_its_axis_whatever_order_the_values_are_asked_in():
    def rising(scheme, load):
        return 1 + load

    for is_, expected in (("rising", "holds"), ("falling", "fails")):
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
    assert word(value, **claim, **{"is": "falling"}) == "holds"  # 2, 1.9, 1.7
    assert word(value, **claim, gap=True, **{"is": "rising"}) == "holds"  # 1, 1.4, 1.6


def test_a_gain_over_a_gain_divides_both_sides():
    def value(scheme, load):
        return {("A", 0.8): 9.0, ("A", 0.2): 3.0, ("B", 0.8): 4.0, ("B", 0.2): 2.0}.get((scheme, load), 1.0)

    claim = {**PAIR, "at": {"load": 0.8}, "over": {"load": 0.2}, "is": "higher", "printed": "1.5 x"}
    assert word(value, **claim) == "agrees"
    each = {"subject": {"scheme": "A", "over": "B"}, "baseline": {"scheme": "B", "over": "C"}, "at": {"load": 0.8}}
    assert word(value, **each, **{"is": "lower"}) == "holds"  # 9/4 under 4


def test_means_are_over_points_or_over_baselines():
    def value(scheme, load):
        return {"A": 1.0, "B": 2.0, "C": 8.0}[scheme] * (4.0 if load == 0.8 and scheme == "A" else 1.0)

    both = {"subject": "A", "at": {"load": [0.2, 0.8]}, "is": "equal"}
    assert word(value, **both, baseline="B", printed="1.00 x", average=True) == "agrees"  # 1/2 and 2
    assert word(value, **both, baseline="B", printed="1.00 x") == "differs"
    over = {"pairs": [["B", "A"], ["C", "A"]], "at": {"load": 0.2}, "average": "baseline", "is": "higher"}
    assert word(value, **over, printed="4 x") == "agrees"  # the geometric mean of 2 and 8
    assert len(stated(**over, printed="4 x").comparisons) == 1


def test_a_model_is_added_and_has_a_number_for_each_point():
    claim = {**PAIR, "at": {"load": 0.2}, "is": "equal", "printed": "3.0 x"}
    assert word(EQUAL, **claim, expected=[float(np.log(3.0))]) == "agrees"
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
    assert not RunRows().has(statement.points, 4)
    assert not rows_of(statement, EQUAL).has(statement.points, SEEDS + 1)


def test_rows_count_up_to_the_first_missing_seed():
    point = (("scheme", "A"), ("load", 0.2))
    frame = DataFrame({"seed": [4, 1, 2], "x": [4.0, 1.0, 2.0]})
    rows = RunRows([point] * 3, frame)
    assert (rows.has([point], 2), rows.has([point], 3)) == (True, False)
    assert rows.values(point, "x", 2).tolist() == [1.0, 2.0]


def test_counts_that_can_be_0_are_compared_by_their_difference():
    def timeouts(scheme, load):
        return 0.0 if scheme == "A" else load * 10

    claim = {**PAIR, "metric": "timeouts_short"}
    statement = stated(**claim, **{"is": "lower"})
    rows = rows_of(statement, timeouts)
    assert decide(statement.samples(rows, SEEDS)).word == "holds"
    assert statement.quantity == "difference"
    none = rows_of(statement, lambda scheme, load: 0.0)
    assert statement.samples(none, SEEDS) == []
    assert len(statement.without_events(none, SEEDS)) == 3
    assert decide(statement.samples(none, SEEDS)).word == "open"


def test_a_claim_that_says_too_little_or_too_much_is_refused(subtests):
    cases = [
        ({"subject": "A", "is": "lower"}, "is = 'lower' compares: name a baseline"),
        ({"subject": "A", "is": "close"}, "is = 'close' compares: name a baseline"),
        ({"subject": "A", "is": "equal"}, "is = 'equal' needs a size: give printed"),
        ({"subject": "A", "is": "u-shaped"}, "is = 'u-shaped' is said of formulas: of runs write rising or falling"),
        ({**PAIR, "is": "below"}, "is = 'below' needs a size"),
        ({**PAIR}, "is is missing: say what is claimed"),
        ({**PAIR, "is": "lower", "printed": "5 ms"}, "a size of lower is a percentage or a factor x"),
        ({**PAIR, "is": "equal", "printed": "5 %"}, "of a comparison, equal has a factor x"),
        ({**PAIR, "is": "equal", "printed": "5"}, "of a comparison, equal has a factor x or a difference in a unit"),
        ({**PAIR, "is": "below", "printed": "5 %"}, "of a comparison, below has a factor x; a percentage is of lower"),
        ({**PAIR, "is": "above", "printed": "5 ms"}, "of a comparison, above has a factor x"),
        ({**PAIR, "is": "below", "printed": "1.1..1.2 x"}, "below has one bound"),
        ({"subject": "A", "is": "above", "printed": "..5 ms"}, "above has one bound"),
        ({"subject": "A", "is": "below", "printed": "5.. ms"}, "below has one bound"),
        (
            {**PAIR, "is": "lower", "printed": "0.8 x"},
            'n times lower, from 1 x on: if the value .* is = "equal"; .*20 %',
        ),
        ({**PAIR, "is": "lower", "printed": "0.8..1.3 x"}, "n times lower, from 1 x on"),
        ({**PAIR, "is": "higher", "printed": "0.8 x"}, "n times higher, from 1 x on"),
        ({**PAIR, "is": "higher", "printed": "..0.8 x"}, "n times higher, from 1 x on"),
        ({**PAIR, "is": "lower", "printed": "-20 %"}, "from 0 % on: if the contrary is meant"),
        ({**PAIR, "is": "higher", "printed": "-5..20 %"}, "from 0 % on"),
        ({**PAIR, "is": "lower", "printed": "150 %"}, "nothing is lower by more than 100 %"),
        ({**PAIR, "is": "close", "printed": "1.2 x"}, "close is within a percentage"),
        ({**PAIR, "is": "close", "printed": "10..20 %"}, "close is within a percentage"),
        ({**PAIR, "is": "not higher", "printed": "5 %"}, "not higher has no size"),
        ({"subject": "A", "x": "load", "is": "rising", "printed": "2 x"}, "rising has no size"),
        ({**PAIR, "is": "close", "by": "much"}, "only lower and higher have a word of size"),
        ({**PAIR, "is": "lower", "printed": "5 %", "by": "much"}, "by and printed are both a size"),
        ({"subject": "A", "is": "equal", "printed": "5 mss"}, "unknown unit 'mss'"),
        ({"subject": "A", "is": "equal", "printed": "many"}, "write a number and its unit"),
        ({"subject": "A", "is": "equal", "printed": "1 2 ms"}, "unknown unit|two numbers"),
        ({"metric": "", **PAIR, "is": "lower"}, "c: metric is missing"),
        ({"metric": "mean_fct_sort_s", **PAIR, "is": "lower"}, "no metric mean_fct_sort_s: did you mean"),
        ({"metric": "p9999_fct_s", **PAIR, "is": "lower"}, "p9999_fct_s is no percentile that is recorded: there are "),
    ]
    for claim, told in cases:
        with subtests.test(claim=claim, told=told), pytest.raises(ParameterError, match=told):
            word(EQUAL, **claim)


def test_a_value_beside_times_lower_is_how_many_times_it_is_lower():
    statement = stated(**PAIR, **{"is": "lower", "printed": "1.2..2.5 x"})
    decision = decide(statement.samples(rows_of(statement, LESS), SEEDS))
    found = statement.value(decision)
    assert found.quantity == ""
    assert found.values[0] == pytest.approx(1 / 0.6, rel=0.02)
    assert found.values[-1] < 2 or len(found.values) == 1


def test_the_digits_of_what_is_printed_are_its_reading_error(subtests):
    cases = [
        ("126 ms", 125.5, 126.5),
        ("0.013", 0.0125, 0.0135),
        ("~10 x", 9.5, 10.5),
        ("60..70 %", 59.5, 70.5),
        ("..45 %", -np.inf, 45.5),
        ("1.3..", 1.25, np.inf),
        ("-5 percentage points", -5.5, -4.5),
        ("1.37e7", 13.65e6, 13.75e6),
        ("0", -0.5, 0.5),
    ]
    for text, low, high in cases:
        with subtests.test(text=text, low=low, high=high):
            assert Printed.read(text).range == pytest.approx((low, high), rel=1e-8)


def test_an_interval_of_tau_ends_where_tau_does():
    taus = np.array([1.0, 0.2] * 4)
    says = stated(subject="A", x="load", **{"is": "rising"}).relation.of_order(0.0)
    found = Sample(name=TAU, samples=taus, says=says).interval(FALSE_ALARM)
    assert (found.value, found.low, found.high) == (pytest.approx(0.6), 0.2, 1.0)


def test_a_series_that_rises_at_each_step_in_each_run_rises():
    statement = stated(subject="A", x="load", **{"is": "rising"})
    rows = rows_of(statement, lambda scheme, load: 1 + load)
    decision = decide(statement.samples(rows, 8))
    assert decision.word == "holds"
    assert (decision.intervals[TAU].low, decision.intervals[TAU].high) == (1.0, 1.0)
    falling = stated(subject="A", x="load", **{"is": "falling"})
    assert decide(falling.samples(rows, 8)).word == "fails"


ORDER = {"is": "lower"}


@pytest.mark.parametrize(
    ("claim", "by_load", "expected"),
    [
        (ORDER, (0.5, 0.5, 1.02), "holds"),  # a tie at one of many points, better on average
        (ORDER, (0.5, 0.5, 1.06), "holds in part"),
        (ORDER, (1.02, 1.0, 1.02), "absent"),  # nowhere better, and nowhere by more than 3% worse
        (ORDER, (1.5, 1.5, 0.999), "holds in part"),
        ({"is": "lower", "by": "much"}, (0.97, 0.96, 0.98), "absent"),
        ({"is": "lower", "by": "much"}, (0.4, 0.8, 0.98), "differs"),
        ({"is": "lower", "by": "much"}, (0.4, 0.8, 1.06), "holds in part"),
        ({"is": "lower", "printed": "40 %"}, (0.97, 1.2, 1.0), "absent"),  # at no point an effect
        ({"is": "lower", "printed": "40 %"}, (0.7, 1.2, 1.2), "holds in part"),
        ({"is": "lower", "printed": "40 %"}, (0.7, 0.7, 0.99), "differs"),
        ({"is": "lower", "printed": "40 %"}, (0.7, 0.7, 1.02), "differs"),  # contrary by less than 3%
        ({"is": "lower", "printed": "40 %"}, (0.95, 0.7, 1.06), "holds in part"),
        ({"is": "lower", "printed": "40 %"}, (1.2, 1.2, 1.2), "fails"),
        ({"is": "lower", "printed": "5 %"}, (0.97, 0.97, 0.97), "differs"),  # half of so little is an effect
        ({"is": "lower", "printed": "5 %"}, (0.98, 0.98, 0.98), "absent"),
        ({"is": "lower", "printed": "..40 %"}, (0.99, 0.99, 0.99), "absent"),
        ({"is": "higher", "printed": "2 x"}, (1.05, 1.05, 0.5), "absent"),
        ({"is": "lower", "printed": "2 x"}, (1 / 1.05, 1 / 1.05, 2.0), "absent"),
        ({"is": "lower", "printed": "2 x"}, (0.5, 0.5, 0.8), "differs"),
        ({"is": "lower", "printed": "..2 x"}, (0.9, 0.7, 0.5), "agrees"),
        ({"is": "equal", "printed": "2 x"}, (0.5, 0.5, 0.5), "fails"),
        ({"is": "equal", "printed": "1 x"}, (0.5, 0.5, 2.0), "differs"),
        ({"is": "close"}, (1.0, 1.0, 1.5), "holds in part"),
        ({"is": "equal", "printed": "-400 ms"}, (0.99, 0.99, 0.99), "absent"),
    ],
)
def test_the_word_on_many_points_is_that_of_the_law_of_all(claim, by_load, expected):
    value_of = dict(zip((0.2, 0.4, 0.8), by_load, strict=True))
    assert word(lambda scheme, load: value_of[load] if scheme == "A" else 1.0, **PAIR, **claim) == expected


def test_an_order_is_absent_at_the_last_look_only():
    statement = stated(**PAIR, **ORDER)
    samples = statement.samples(rows_of(statement, of_scheme(A=1.005, B=1.0, C=1.0)), SEEDS)
    assert decide(samples, is_last=False).word in ("open", "fails")
    equal = statement.samples(rows_of(statement, EQUAL), SEEDS)
    assert (decide(equal, is_last=False).word, decide(equal).word) == ("open", "absent")
    sized = stated(**PAIR, **{"is": "lower", "printed": "40 %"})
    assert decide(sized.samples(rows_of(sized, EQUAL), SEEDS), is_last=False).word == "absent"


def test_the_factor_by_which_a_value_is_off_print(subtests):
    cases = [
        ({"subject": "A", "is": "equal", "printed": "300 ms"}, LESS, 2.0),
        ({"subject": "A", "is": "equal", "printed": "600 ms"}, LESS, 1.0),
        ({**PAIR, "is": "lower", "printed": "70 %"}, LESS, 2.0),
        ({**PAIR, "is": "lower", "printed": "..70 %"}, LESS, 2.0),
        ({**PAIR, "is": "higher", "printed": "4 x"}, MORE, 2.5),
        ({**PAIR, "is": "higher", "printed": "1.3.. x"}, MORE, 1.0),
        ({**PAIR, "is": "lower", "printed": "5 x"}, LESS, 3.0),
        ({**PAIR, "is": "lower", "printed": "..5 x"}, LESS, 3.0),
        ({**PAIR, "is": "lower", "printed": "1.3.. x"}, LESS, 1.0),
        ({**PAIR, "is": "lower", "printed": "1.2 x"}, LESS, 1.39),
        ({**PAIR, "is": "lower"}, LESS, 0.0),
        ({**PAIR, "is": "equal", "printed": "-4 ms"}, LESS, 0.0),
    ]
    for claim, value, factor in cases:
        with subtests.test(claim=claim, value=value, factor=factor):
            statement = stated(**claim)
            points = statement.samples(rows_of(statement, value), SEEDS)
            assert statement.times_printed(one.median for one in points) == pytest.approx(factor, rel=0.02)
