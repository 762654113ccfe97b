"""Claims read as comparisons of runs: each relation is met where its words say so, on paired samples."""

import numpy as np
import pytest
from pandas import DataFrame

from capsim.study.decide import Decision, decide
from capsmodel.checks import ParameterError
from capsmodel.experiments.statistics.intervals import Interval
from capsmodel.experiments.words import verdict_word
from capsmodel.papers.index import Claim
from capsmodel.papers.judging import Judged, verdict_of
from capsmodel.papers.statements import Comparison, Runs, Statement, compared, levels, relation_of, same_scheme

NAMES = {"A": "a", "B": "b", "C": "c"}
SEEDS = 16
"""From so many on, samples without spread decide (`repeated_interval`)."""


def claim(relation, low="", high="", unit="", metric="afct_short", baseline="B"):
    return Claim("id", "p", "w", "e", metric, "A", baseline, relation, low, high, unit, "", "")


def runs_of(column="mean_fct_short_s", spread=0.0, together=1.0, **values):
    """Values by scheme and place ("a_x"), each with a factor of its seed that all schemes share."""
    common = np.exp(np.random.default_rng(1).normal(0, together, SEEDS))
    own = np.random.default_rng(2)
    rows = [
        {
            "scheme": key[0],
            "place": key[2:],
            "seed": seed + 1,
            column: value * (common[seed] if value else 0) * np.exp(own.normal(0, spread)),
        }
        for key, value in values.items()
        for seed in range(SEEDS)
    ]
    return Runs(DataFrame(rows))


def word(asked, statement, runs):
    return decide(statement.points(asked, runs, SEEDS)).word


@pytest.mark.parametrize(
    ("asked", "ratio", "expected"),
    [
        (claim("reduction_pct", "40", "60"), 0.5, "reproduced"),
        (claim("reduction_pct", "40", "60"), 0.9, "differs in size"),
        (claim("reduction_pct", "40", "60"), 1.1, "refuted"),
        (claim("reduction_pct", "60", ""), 0.1, "reproduced"),
        (claim("reduction_pct", "", "60"), 0.3, "differs in size"),
        (claim("reduction_pct", "", "60"), 0.41, "reproduced"),
        (claim("reduction_pct", "", "60"), 0.6, "differs in size"),
        (claim("increase_pct", "", "45"), 1.44, "reproduced"),
        (claim("increase_pct", "", "45"), 1.1, "differs in size"),
        (claim("increase_pct", "", "45"), 0.9, "refuted"),
        (claim("absolute", "2", "2", "orders of magnitude"), 32.0, "reproduced"),  # 10^1.505
        (claim("absolute", "2", "2", "orders of magnitude"), 316.0, "reproduced"),  # 10^2.4997
        (claim("absolute", "2", "2", "orders of magnitude"), 31.0, "differs in size"),  # 10^1.491
        (claim("absolute", "2", "2", "orders of magnitude"), 317.0, "differs in size"),  # 10^2.501
        (claim("absolute", "2", "2", "orders of magnitude"), 0.5, "refuted"),
        (claim("increase_pct", "30", "30"), 1.3, "reproduced"),
        (claim("increase_pct", "30", "30"), 1.35, "differs in size"),
        (claim("increase_pct", "30", "30"), 0.9, "refuted"),
        (claim("ratio", "10", "10", "x"), 10.4, "reproduced"),
        (claim("ratio", "10", "10", "x"), 11.0, "differs in size"),
        (claim("ratio", "10", "10", "x"), 0.9, "refuted"),
        (claim("approx", unit="close"), 1.08, "reproduced"),
        (claim("approx", unit="close"), 1.2, "refuted"),
        (claim("approx", "1", "1", "ratio"), 1.04, "reproduced"),
        (claim("approx", "1", "1", "ratio"), 1.08, "refuted"),
        (claim("ordering", unit="lower"), 0.99, "reproduced"),
        (claim("ordering", unit="higher"), 0.99, "refuted"),
    ],
)
def test_ratios_of_paired_runs(asked, ratio, expected):
    """Seeds differ by far more than the schemes; pairs do not."""
    runs = runs_of(a_x=ratio, b_x=1.0, spread=1e-4)
    assert word(asked, compared(asked, ["x"], names=NAMES), runs) == expected


@pytest.mark.parametrize(
    ("least", "most", "expected"),
    [
        (0.9, 0.56, "reproduced"),
        (0.9, 0.7, "differs in size"),
        (0.9, 0.3, "differs in size"),
        (1.1, 0.56, "differs in size"),  # it begins at no difference
        (1.2, 1.1, "refuted"),
    ],
)
def test_up_to_a_size_is_reached_somewhere_and_passed_nowhere(least, most, expected):
    asked = claim("reduction_pct", "", "45")
    runs = runs_of(a_x=least, b_x=1, a_y=most, b_y=1, spread=1e-3)
    assert word(asked, compared(asked, ["x", "y"], names=NAMES), runs) == expected


@pytest.mark.parametrize(("ratio", "expected"), [(0.4, "reproduced"), (0.7, "differs in size"), (1.2, "refuted")])
def test_a_word_of_size(ratio, expected):
    asked = claim("ordering", unit="lower")
    assert word(asked, compared(asked, ["x"], names=NAMES, size=0.5), runs_of(a_x=ratio, b_x=1.0)) == expected


def test_an_order_that_holds_at_some_places_differs_in_size():
    asked = claim("ordering", unit="lower", baseline="B;C")
    statement = compared(asked, ["x", "y"], names=NAMES)
    runs = runs_of(a_x=1, b_x=2, c_x=2, a_y=1, b_y=2, c_y=0.5)
    assert [one.name for one in statement.comparisons] == ["B, x", "B, y", "C, x", "C, y"]
    assert word(asked, statement, runs) == "differs in size"
    assert word(asked, statement.at(["x"]), runs) == "reproduced"


def test_schemes_that_the_simulator_does_not_have_are_left_out():
    asked = claim("ordering", unit="lower", baseline="B;C")
    statement = compared(asked, ["x"], names={"A": "caps", "B": "ecmp", "C": "of no simulator"})
    assert statement.simulated.terms == {("caps", "x"), ("ecmp", "x")}


def test_counts_are_compared_by_differences_and_zeros_say_nothing():
    asked = claim("ordering", unit="lower", metric="timeouts")
    statement = compared(asked, ["x", "y"], names=NAMES)
    runs = runs_of("timeouts_short", a_x=0, b_x=0, a_y=1, b_y=500)
    (point,) = statement.points(asked, runs, SEEDS)
    assert point.name == "B, y"
    assert (point.samples < 0).all()
    assert statement.without_events(asked, ["B, y"]) == ["B, x"]


def test_a_gap_is_read_in_the_unit_of_the_claim():
    """A carries 13 Mbps more than B: a printed difference, which no ratio says."""
    asked = claim("approx", low="13", high="13", unit="Mbps", metric="long_goodput_gap")
    statement = compared(asked, ["x"], names=NAMES, gap=True)
    printed, other, less, equal = (
        runs_of("mean_throughput_long_bps", together=0, spread=1e-4, a_x=one, b_x=42.5e6)
        for one in (55.5e6, 50e6, 40e6, 42.5e6)
    )
    (point,) = statement.points(asked, printed, SEEDS)
    assert point.interval(0.01).value == pytest.approx(13, rel=1e-3)
    assert word(asked, statement, printed) == "reproduced"
    assert word(asked, statement, other) == "differs in size"
    assert word(asked, statement, less) == "refuted"
    assert word(asked, statement, equal) == "open"


@pytest.mark.parametrize(
    ("gap_mbps", "expected"), [(-5, "reproduced"), (-8, "differs in size"), (5, "refuted"), (0, "open")]
)
def test_a_printed_difference_below_0_is_on_that_side(gap_mbps, expected):
    """A carries 5 Mbps less than B."""
    asked = claim("absolute", low="-5", high="-5", unit="Mbps", metric="long_goodput_gap")
    runs = runs_of("mean_throughput_long_bps", together=0, spread=1e-4, a_x=(20 + gap_mbps) * 1e6, b_x=20e6)
    assert word(asked, compared(asked, ["x"], names=NAMES, gap=True), runs) == expected


def test_a_count_over_all_runs_of_the_paper_is_so_many_times_that_of_one():
    asked = claim("absolute", low="100", high="100", unit="flows", metric="completed_short")
    statement = levels(["a"], ["x"], times=20)
    assert word(asked, statement, runs_of("completed_short", together=0, a_x=5)) == "reproduced"
    assert word(asked, statement, runs_of("completed_short", together=0, a_x=100)) == "differs in size"


@pytest.mark.parametrize(
    ("last", "expected"), [(1.05, "reproduced"), (1.3, "differs in size"), (0.8, "differs in size")]
)
def test_a_flat_trend_stays_close_to_its_first_place(last, expected):
    asked = claim("trend", unit="flat")
    statement = same_scheme(["a"], [("2", "1"), ("3", "1")])
    runs = runs_of(a_1=1, a_2=1.02, a_3=last)
    assert word(asked, statement, runs) == expected


@pytest.mark.parametrize(("other", "expected"), [(1.1, "reproduced"), (0.9, "differs in size")])
def test_an_optimum_is_lower_than_all_other_places(other, expected):
    asked = claim("argmax", "2", "2", unit="dupACKs")
    statement = same_scheme(["a"], [("2", "1"), ("2", "3")], direction="lower")
    assert word(asked, statement, runs_of(a_1=1.5, a_2=1, a_3=other)) == expected


def test_a_trend_over_one_place_stays_open():
    """As where a single place of a sweep is sampled."""
    assert word(claim("trend", unit="increasing"), levels(["a"], ["1"]), runs_of(a_1=1)) == "open"


def test_a_trend_of_several_schemes_is_read_in_each():
    asked = claim("trend", unit="increasing")
    statement = levels(["a", "b"], ["1", "2", "3"])
    up = {"a_1": 1, "a_2": 2, "a_3": 3}
    assert len(statement.points(asked, runs_of(together=0.1, **up, b_1=1, b_2=2, b_3=3), SEEDS)) == 4
    assert word(asked, statement, runs_of(together=0.1, **up, b_1=1, b_2=2, b_3=3)) == "reproduced"
    assert word(asked, statement, runs_of(together=0.1, **up, b_1=3, b_2=2, b_3=1)) == "differs in size"


def test_a_ratio_with_a_zero_says_nothing():
    """Losses that some runs do not have cannot be compared by their ratio."""
    asked = claim("approx", unit="close", metric="core_loss")
    statement = compared(asked, ["x"], names=NAMES)
    runs = runs_of("core_loss_ratio", a_x=0.0, b_x=1.0)
    assert word(asked, statement, runs) == "open"


def test_a_ratio_of_ratios():
    """The gain of A over B at x is smaller than that at y: 2 against 4."""
    terms = ((1, ("b", "x")), (-1, ("a", "x")), (-1, ("b", "y")), (1, ("a", "y")))
    statement = Statement(comparisons=(Comparison("gain", terms),), column="mean_fct_short_s")
    asked = claim("ordering", unit="lower", metric="fct_gain")
    runs = runs_of(a_x=1, b_x=2, a_y=1, b_y=4)
    (point,) = statement.points(asked, runs, SEEDS)
    assert point.interval(0.01).value == pytest.approx(0.5)
    assert word(asked, statement, runs) == "reproduced"


@pytest.mark.parametrize(("predicted", "expected"), [(1.2, "reproduced"), (1.05, "refuted")])
def test_a_ratio_over_what_a_model_says(predicted, expected):
    """A measured growth of 10% is lower than a predicted one of 20%, and higher than one of 5%."""
    growth = Comparison("growth", ((1, ("a", "x")), (-1, ("b", "x"))), added=-float(np.log(predicted)))
    statement = Statement(comparisons=(growth,), column="mean_fct_long_s")
    asked, runs = claim("ordering", unit="lower"), runs_of("mean_fct_long_s", a_x=1.1, b_x=1)
    (point,) = statement.points(asked, runs, SEEDS)
    assert point.interval(0.01).value == pytest.approx(1.1 / predicted)
    assert word(asked, statement, runs) == expected


def test_a_bound_on_a_share_of_all_traffic_is_met_by_a_larger_share_of_a_tenth_of_it():
    asked = claim("less_than", "6", "6", unit="%", metric="overhead")
    statement = levels(["a"], ["x"], column="coding_overhead", times=0.1)
    assert word(asked, statement, runs_of("coding_overhead", together=0, a_x=0.5)) == "reproduced"
    assert word(asked, statement, runs_of("coding_overhead", together=0, a_x=0.7)) == "refuted"


def test_coded_packets_are_a_share_of_all_packets():
    """Seven coded ones beside ten others are 7/17 of all, 4.1% of all traffic; 25 beside ten are 7.1%."""
    asked = claim("less_than", "6", "6", unit="%", metric="overhead")
    statement = levels(["a"], ["x"], column="coded_share", times=0.1)
    (point,) = statement.points(asked, runs_of("coding_overhead", together=0, a_x=0.7), SEEDS)
    assert point.samples == pytest.approx(10 * 7 / 17)
    assert word(asked, statement, runs_of("coding_overhead", together=0, a_x=0.7)) == "reproduced"
    assert word(asked, statement, runs_of("coding_overhead", together=0, a_x=2.5)) == "refuted"


def verdict_on(asked, statement, runs):
    return verdict_of(asked, statement, Judged(decide(statement.points(asked, runs, SEEDS)), SEEDS, 0), testbed=False)


def test_the_value_of_a_trend_is_kendalls_tau_and_its_change_stands_in_the_reason():
    """Two of three pairs rise, and the last ratio is three times the first; together they are no range."""
    asked = claim("trend", unit="increasing")
    found = verdict_on(
        asked, compared(asked, ["1", "2", "3"], names=NAMES), runs_of(a_1=1, b_1=1, a_2=4, b_2=1, a_3=3, b_3=1)
    )
    assert (found.quantity, found.value) == ("Kendall's tau", pytest.approx((1 / 3,)))
    assert found.interval == pytest.approx((1 / 3, 1 / 3))
    assert "last over first: 3; Kendall's tau: 0.3333" in found.reason


def test_a_verdict_says_what_it_rests_on():
    """Seeds, level, the reading that was chosen, the testbed, schemes that are not simulated, and each point."""
    asked = claim("ordering", unit="lower")
    statement = compared(asked, ["x"], names=NAMES, note="the mean of both")
    found = Judged(decide(statement.points(asked, runs_of(a_x=1.0, b_x=2.0), SEEDS)), SEEDS, 0)
    reason = verdict_of(asked, statement, found, testbed=True).reason
    level, note, testbed, missing, point = reason.split("; ")
    assert (level, note) == ("16 seeds, level 0.005", "the mean of both")
    assert (testbed, missing) == ("the testbed is simulated in packets", "not simulated: a, b")
    assert point == "B, x: 0.5"
    assert verdict_of(asked, statement, Judged(Decision("open", {}), 0, 0), testbed=False).reason == (
        "no look yet; the mean of both; not simulated: a, b"
    )


def test_the_interval_of_kendalls_tau_ends_where_tau_does():
    """Three of four seeds rise throughout, the fourth has one of three pairs the other way round."""
    asked, statement = claim("trend", unit="increasing"), levels(["a"], ["1", "2", "3"])
    rows = [{"scheme": "a", "place": str(place), "seed": seed} for seed in range(1, 5) for place in (1, 2, 3)]
    runs = Runs(DataFrame(rows).assign(mean_fct_short_s=[1, 2, 3] * 3 + [1, 3, 2]))
    points = statement.points(asked, runs, 4)
    (tau,) = (point.interval(0.005) for point in points if point.name == "Kendall's tau")
    assert tau.low > -1
    assert tau.high > 1
    found = verdict_of(asked, statement, Judged(decide(points), 4, 0), testbed=False)
    assert found.interval == (pytest.approx(tau.low), 1.0)


@pytest.mark.parametrize(
    ("asked", "column", "baseline", "quantity", "value"),
    [
        (claim("ordering", unit="lower"), "mean_fct_short_s", 2.0, "ratio", 0.5),
        (claim("ordering", unit="lower", metric="timeouts"), "timeouts_short", 2.0, "difference", -1.0),
        (claim("reduction_pct", "50", "50", "%"), "mean_fct_short_s", 2.0, "", 50.0),
        (claim("increase_pct", "30", "30", "%"), "mean_fct_short_s", 0.8, "", 25.0),
        (claim("absolute", "2", "2", "orders of magnitude"), "mean_fct_short_s", 0.01, "", 2.0),
    ],
)
def test_a_verdict_says_what_its_value_is(asked, column, baseline, quantity, value):
    runs = runs_of(column, together=0.0, a_x=1.0, b_x=baseline)
    found = verdict_on(asked, compared(asked, ["x"], names=NAMES), runs)
    assert (found.quantity, found.value) == (quantity, pytest.approx((value,)))


def test_a_trend_that_comes_back_is_none():
    asked = claim("trend", unit="increasing")
    runs = runs_of(a_1=1, b_1=1, a_2=9, b_2=1, a_3=8, b_3=1, a_4=7, b_4=1, a_5=2, b_5=1, spread=1e-3)
    assert word(asked, compared(asked, ["1", "2", "3", "4", "5"], names=NAMES), runs) == "differs in size"


@pytest.mark.parametrize(
    ("asked", "value", "expected"),
    [
        (claim("absolute", "3.45", "3.45", "%", metric="overhead"), 0.034502, "reproduced"),
        (claim("absolute", "3.45", "3.45", "%", metric="overhead"), 0.0352, "differs in size"),
        (claim("less_than", "6", "6", "%", metric="overhead"), 0.02, "reproduced"),
        (claim("less_than", "6", "6", "%", metric="overhead"), 0.09, "refuted"),
        (claim("greater_than", "0", "0", "fraction", metric="reorder_ratio"), 0.02, "reproduced"),
        (claim("greater_than", "0", "0", "fraction", metric="reorder_ratio"), 0.0, "open"),
        (claim("greater_than", "5", "5", "%", metric="overhead"), 0.0451, "reproduced"),
        (claim("greater_than", "5", "5", "%", metric="overhead"), 0.0449, "refuted"),
        (claim("greater_than", "5", "5", "%", metric="overhead"), 0.0, "refuted"),
        (claim("absolute", "3", "3", "%", metric="overhead"), np.nan, "open"),
        (claim("less_than", "6", "6", "%", metric="overhead"), np.inf, "open"),
        (claim("absolute", "0", "0", "fraction", metric="reorder_ratio"), 0.0, "reproduced"),
        (claim("absolute", "0", "0", "fraction", metric="reorder_ratio"), 0.7, "refuted"),
    ],
)
def test_levels_of_one_scheme(asked, value, expected):
    column = {"overhead": "copied_ratio", "reorder_ratio": "reordered_ratio_short"}[asked.metric]
    rows = [{"scheme": "a", "place": "x", "seed": seed, column: value} for seed in range(1, SEEDS + 1)]
    assert word(asked, levels(["a"], ["x"]), Runs(DataFrame(rows))) == expected


def test_an_event_of_rare_runs_is_not_refuted_by_those_without_it():
    """In 5% of runs; of 100 studies, some forty have none in their first 16."""
    asked, statement = claim("greater_than", "0", "0", "flows", metric="timeouts"), levels(["a"], ["x"])
    words, without = [], 0
    for events in np.random.default_rng(3).random((100, SEEDS)) < 0.05:
        rows = [{"scheme": "a", "place": "x", "seed": 1 + i, "timeouts_short": one} for i, one in enumerate(events)]
        words.append(word(asked, statement, Runs(DataFrame(rows).astype({"timeouts_short": float}))))
        without += not events.any()
    assert 30 < without < 60
    assert set(words) == {"open"}


@pytest.mark.parametrize(
    ("mean", "spread", "expected"),
    [
        (62.0, 1.0, "reproduced"),  # wider than the reading error; it contains 62.1, and lies within 10% of it
        (62.0, 20.0, "open"),  # it is not within 10%
        (63.0, 0.1, "differs in size"),
        (90.0, 1.0, "differs in size"),
    ],
)
def test_a_printed_size_is_met_by_an_interval_that_contains_it_and_is_close(mean, spread, expected):
    """The rule of figures (`has_size`): no number of runs puts a whole interval within half a unit of 62.1."""
    values = mean + spread * np.linspace(-1, 1, SEEDS)
    rows = [{"scheme": "a", "place": "x", "seed": 1 + seed, "copied_ratio": value} for seed, value in enumerate(values)]
    asked = claim("absolute", "62.1", "62.1", "ms", metric="overhead")
    statement = levels(["a"], ["x"], times=1e-3)
    assert word(asked, statement, Runs(DataFrame(rows))) == expected


@pytest.mark.parametrize(("ratio", "spread", "expected"), [(2.0, 0.01, "reproduced"), (2.0, 0.2, "open")])
def test_a_printed_ratio_is_met_likewise(ratio, spread, expected):
    runs = runs_of(a_x=ratio, b_x=1.0, spread=spread)
    assert word(claim("ratio", "2", "2", "x"), compared(claim("ratio"), ["x"], names=NAMES), runs) == expected


@pytest.mark.parametrize(
    ("asked", "low", "high", "expected"),
    [
        (claim("reduction_pct", "50", "50"), 0.46, 0.54, "reproduced"),  # wider than 47.5 to 52.5%, within 45 to 55%
        (claim("reduction_pct", "50", "50"), 0.44, 0.54, "open"),
        (claim("reduction_pct", "50", "50"), 0.526, 0.54, "differs in size"),
        (claim("increase_pct", "50", "50"), 1.46, 1.54, "reproduced"),
        (claim("increase_pct", "50", "50"), 1.46, 1.56, "open"),
        (claim("reduction_pct", "40", "50"), 0.46, 0.54, "open"),  # a range has to hold all of it
    ],
)
def test_a_printed_percentage_is_met_likewise(asked, low, high, expected):
    found = Interval(value=(low + high) / 2, low=low, high=high, confidence=0.99, samples=SEEDS)
    met, holds = relation_of(asked).of_ratio()
    assert verdict_word([met(found)], [holds(found)]) == expected


@pytest.mark.parametrize(
    ("relation", "bound", "ratio", "expected"),
    [
        ("greater_than", "3", 2.6, "reproduced"),  # within half a unit of the last digit
        ("greater_than", "3", 2.4, "refuted"),
        ("less_than", "3", 3.4, "reproduced"),
        ("less_than", "3", 3.6, "refuted"),
        ("greater_than", "1", 0.9, "refuted"),  # a direction
        ("greater_than", "1", 1.1, "reproduced"),
        ("less_than", "1", 1.1, "refuted"),
        ("less_than", "1", 0.9, "reproduced"),
    ],
)
def test_a_ratio_keeps_to_a_printed_bound(relation, bound, ratio, expected):
    asked = claim(relation, bound, bound, "ratio")
    assert word(asked, compared(asked, ["x"], names=NAMES), runs_of(a_x=ratio, b_x=1.0, spread=1e-4)) == expected


def test_a_relation_that_says_nothing_about_a_ratio_is_told():
    asked = claim("argmax", "2", "2")
    with pytest.raises(ParameterError, match="id: 'argmax' says nothing about a ratio"):
        compared(asked, ["x"], names=NAMES).points(asked, runs_of(a_x=1.0, b_x=1.0), SEEDS)


def test_the_same_scheme_at_two_places():
    asked = claim("ordering", unit="higher", metric="loss")
    statement = same_scheme(["a", "b"], [("with", "without")])
    runs = runs_of("lost_ratio_short", a_with=0.2, a_without=0.1, b_with=0.3, b_without=0.1)
    assert statement.terms == {("a", "with"), ("a", "without"), ("b", "with"), ("b", "without")}
    assert [point.samples.mean() > 0 for point in statement.points(asked, runs, SEEDS)] == [True, True]


def test_runs_know_which_seeds_are_there():
    runs = runs_of(a_x=1)
    assert runs.has([("a", "x")], SEEDS)
    assert not runs.has([("a", "x")], SEEDS + 1)
    assert not runs.has([("a", "x"), ("b", "x")], 1)
    assert not Runs(DataFrame()).has([("a", "x")], 1)
