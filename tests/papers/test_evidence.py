"""What a setting changes at the reduced scale is carried over as a factor, but for signs; what is 0 says nothing."""

import csv
from collections import defaultdict
from dataclasses import replace

import numpy as np
import pytest
from pandas import DataFrame

from capsim.study.decide import decide
from capsmodel.datafiles import data_path
from capsmodel.papers.index import read_claims
from capsmodel.papers.judging import CarriedOver, OfRuns, can_be_carried_over, is_changed
from capsmodel.papers.metric_columns import TAILS
from capsmodel.papers.statements import Comparison, Runs, Statement, levels

CLAIMS = read_claims()
SEEDS = 4
LEVEL = CLAIMS["mmptcp-t2-tcp-fct"]  # a value in ms
RATIO = CLAIMS["repflow-f8a"]  # the mean of short flows, RepFlow's below TCP's
COUNT = CLAIMS["mmptcp-s33-tcp-loss"]  # an order of losses, which can be 0
ONE = {"text": 1.0, "before": 3.0, "after": 6.0}


def runs(of_scheme):
    """Return runs of one place: a list of values for each scheme, which any column has."""
    rows = [
        {"scheme": scheme, "place": "p", "seed": seed, "x": value, "core_loss_ratio": value}
        for scheme, values in of_scheme.items()
        for seed, value in enumerate(values, start=1)
    ]
    return Runs(DataFrame(rows))


def carried(statement, text, before, after, in_setting=None):
    return CarriedOver(
        OfRuns(statement, runs(text)),
        OfRuns(statement, runs(before)),
        OfRuns(in_setting or statement, runs(after)),
    )


def samples(evidence, claim):
    (point,) = evidence.points(claim, SEEDS)
    return point.samples


def level(scheme="ecmp"):
    return levels([scheme], ["p"], column="x")


def ratio(**more):
    return Statement(comparisons=(Comparison("p", ((1, ("repflow", "p")), (-1, ("ecmp", "p")))),), column="x", **more)


def test_a_value_is_multiplied_by_what_the_setting_changes_with_the_same_seed():
    evidence = carried(level(), {"ecmp": [1, 2, 3, 4]}, {"ecmp": [5, 5, 10, 10]}, {"ecmp": [10, 5, 5, 20]})
    assert samples(evidence, LEVEL) == pytest.approx(1e3 * np.array([2, 2, 1.5, 8]))


def test_a_ratio_is_multiplied_by_the_factor_between_the_ratios():
    text = {"repflow": [1, 1, 1, 1], "ecmp": [2, 2, 2, 4]}
    before = {"repflow": [3, 3, 3, 3], "ecmp": [3, 3, 3, 3]}
    after = {"repflow": [3, 6, 3, 3], "ecmp": [3, 3, 9, 3]}
    evidence = carried(ratio(), text, before, after)
    assert np.exp(samples(evidence, RATIO)) == pytest.approx([1 / 2, 1, 1 / 6, 1 / 4])


def test_to_a_printed_difference_the_change_is_added():
    text, before = {"repflow": [3, 3, 3, 3], "ecmp": [1, 1, 1, 2]}, {"repflow": [2] * 4, "ecmp": [2] * 4}
    evidence = carried(ratio(gap=True), text, before, {"repflow": [2, 4, 2, 2], "ecmp": [2, 2, 3, 2]})
    claim = replace(LEVEL, unit="")
    assert samples(evidence, claim) == pytest.approx([2, 4, 1, 1])


def test_signs_are_those_of_the_runs_in_the_setting():
    """A loss that is 0 in all runs of the text has no factor."""
    statement = replace(ratio(), column="core_loss_ratio")
    text = {"repflow": [0] * 4, "ecmp": [1] * 4}
    evidence = carried(statement, text, text, {"repflow": [2, 3, 2, 4], "ecmp": [1] * 4})
    assert statement.has_signs_only(COUNT)
    assert samples(evidence, COUNT).tolist() == [1, 2, 1, 3]


@pytest.mark.parametrize("zero", ["before", "after"])
def test_a_value_that_is_0_in_a_run_says_nothing(zero):
    values = {name: {"ecmp": [value] * SEEDS} for name, value in ONE.items()} | {zero: {"ecmp": [1, 0, 1, 1]}}
    evidence = carried(level(), **values)
    assert decide(evidence.points(LEVEL, SEEDS)).word == "open"
    assert evidence.points(LEVEL, SEEDS)[0].name.endswith("(0 in some runs)")


def test_a_ratio_with_a_0_says_nothing():
    values = {"repflow": [1] * SEEDS, "ecmp": [2] * SEEDS}
    evidence = carried(ratio(), values, values | {"ecmp": [0, 1, 1, 1]}, values)
    assert [point.is_silent for point in evidence.points(RATIO, SEEDS)] == [True]


def test_a_setting_may_have_another_scheme_in_the_place_of_one():
    """As where the authors' code has one subflow for short flows: the second scheme takes the place of the first."""
    evidence = carried(level(), {"ecmp": [1] * 4}, {"ecmp": [2] * 4}, {"rps": [6] * 4}, in_setting=level("rps"))
    assert evidence.statement == level("rps")
    assert samples(evidence, LEVEL) == pytest.approx([3e3] * 4)


@pytest.mark.parametrize("short", ONE)
def test_seeds_have_to_be_there_at_both_scales(short):
    values = {name: {"ecmp": [value] * SEEDS} for name, value in ONE.items()}
    assert carried(level(), **values).has(SEEDS)
    assert not carried(level(), **values | {short: {"ecmp": [1.0] * (SEEDS - 1)}}).has(SEEDS)


def test_the_interval_covers_the_noise_of_both_scales():
    """Independent noise of the text and of the change: the mean lies in the interval of 99.5% in almost all of 400."""
    rng, inside = np.random.default_rng(1), 0
    for _ in range(400):
        text = np.exp(rng.normal(0, 0.02, SEEDS))
        flows = np.exp(rng.normal(0, 0.5, SEEDS))  # what runs of the small fabric differ by, with the same flows
        after = 2 * flows * np.exp(rng.normal(0, 0.02, SEEDS))
        evidence = carried(level(), {"ecmp": text}, {"ecmp": flows}, {"ecmp": after})
        (point,) = evidence.points(LEVEL, SEEDS)
        found = point.interval(0.005)
        inside += found.low < 2e3 < found.high
        assert found.high - found.low < 2e3
    assert 393 <= inside <= 400


@pytest.mark.parametrize(
    ("after", "changed"),
    [([1.1, 2.2, 3.3, 4.4], True), ([1.01, 1.98, 3.03, 3.96], False), ([1, 2, 3, 4], False), ([9, 2, 3, 4], False)],
)
def test_a_change_is_proven_seed_by_seed(after, changed):
    """The samples spread by far more than they change."""
    before, found = OfRuns(ratio(), runs(both([1, 2, 3, 4]))), OfRuns(ratio(), runs(both(after)))
    assert is_changed(RATIO, before, found, SEEDS) is changed


def test_what_says_nothing_does_not_change():
    before = OfRuns(ratio(), runs(both([0, 2, 3, 4])))
    assert not is_changed(RATIO, before, OfRuns(ratio(), runs(both([10, 20, 30, 40]))), SEEDS)


def both(values):
    """Return values of RepFlow, and 1 for all of ECMP."""
    return {"repflow": values, "ecmp": [1] * SEEDS}


@pytest.mark.parametrize(
    ("claim", "statement", "carried_over"),
    [
        ("repflow-f8a", Statement(comparisons=()), True),  # a mean
        ("repflow-abs-tail", Statement(comparisons=()), False),  # a 99th percentile
        ("repflow-f8a", Statement(comparisons=(), column="p99_fct_s"), False),
        ("repflow-f8b-low", Statement(comparisons=(), direction="lower"), False),
    ],
)
def test_tails_are_not_carried_over(claim, statement, carried_over):
    assert can_be_carried_over(statement, CLAIMS[claim]) is carried_over


def test_the_trend_of_a_tail_is_that_of_its_own_runs():
    trend = replace(CLAIMS["repflow-abs-tail"], relation="trend", unit="increasing")
    assert can_be_carried_over(Statement(comparisons=()), trend)


def test_what_was_run_at_both_scales_supports_what_is_carried_over():
    """The figures that data/papers/README.md states: for all but tails, and against these."""
    with data_path("papers/carried_over.csv").open(newline="", encoding="utf-8") as file:
        rows = list(csv.DictReader(file))
    off = defaultdict(float)
    for row in rows:
        off[row["metric"]] = max(off[row["metric"]], abs(float(row["ratio"]) - 1))
    assert max(off[metric] for metric in ("mean_throughput_long_bps", "core_utilisation", "untimed_ratio")) < 0.015
    assert off["mean_fct_long_s"] < 0.015
    assert 0.2 < off["mean_fct_short_s"] < 0.25
    covered = [float(row["ratio_low"]) < 1 < float(row["ratio_high"]) for row in rows if row["metric"] not in TAILS]
    assert (len(covered), sum(covered)) == (80, 77)
    tail = next(row for row in rows if row["metric"] == "p99_fct_short_s" and row["scheme"] == "mmptcp")
    assert (float(tail["reduced_factor"]), float(tail["paper_factor"])) == pytest.approx((1.75, 1.03), abs=0.005)
    assert float(tail["ratio_high"]) < 1
