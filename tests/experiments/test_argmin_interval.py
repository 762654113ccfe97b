"""Property: the set of places that may hold the minimum covers it as often as stated, by simulation, fixed seeds."""

import numpy as np
import pytest

from capsmodel import ParameterError
from capsmodel.experiments.statistics.argmin import argmin_interval
from capsmodel.experiments.statistics.intervals import welch_difference, wilson_interval

pytestmark = pytest.mark.agreement

REPEATS = 2000
# Each simulated probability is held against an interval that misses the truth once in 10^4 cases.
SURE = 0.9999
PLACES = [1, 2, 4, 8, 16, 32]


def repeated(means, spreads, *, observations, confidence, seed):
    rng = np.random.default_rng(seed)
    for _ in range(REPEATS):
        rows = [rng.normal(m, s, n) for m, s, n in zip(means, spreads, observations, strict=True)]
        yield argmin_interval(PLACES, rows, confidence=confidence)


@pytest.mark.parametrize("confidence", [0.8, 0.95])
@pytest.mark.parametrize(
    "means",
    [
        pytest.param([2.0, 1.5, 1.0, 1.2, 1.6, 2.5], id="valley"),
        pytest.param([1.0] * 5 + [1.0 - 1e-9], id="flat"),  # the hardest case: five places as low as the best
        pytest.param([3.0, 2.5, 2.0, 1.5, 1.0, 0.5], id="at the end"),
    ],
)
def test_the_place_of_the_minimum_is_among_those_kept(means, confidence):
    spreads, observations = [1.0, 0.3, 0.5, 2.0, 0.1, 1.0], [10, 20, 8, 30, 12, 15]
    found = list(repeated(means, spreads, observations=observations, confidence=confidence, seed=31))
    best = PLACES[int(np.argmin(means))]
    covered = wilson_interval(sum(best in one.places for one in found), trials=REPEATS, confidence=SURE)
    assert covered.high >= confidence


def test_equal_means_are_left_out_about_as_often_as_allowed():
    """Power: with equal means and spreads each place is lost nearly as often as the Bonferroni bound permits."""
    found = list(repeated([1.0] * 6, [1.0] * 6, observations=[30] * 6, confidence=0.8, seed=32))
    lost = wilson_interval(sum(4.0 not in one.places for one in found), trials=REPEATS, confidence=SURE)
    assert lost.low > 0.08
    assert lost.high < 0.2


def test_more_observations_leave_only_the_minimum():
    few, many = (
        list(repeated([1.6, 1.3, 1.0, 1.2, 1.5, 2.0], [0.5] * 6, observations=[n] * 6, confidence=0.95, seed=33))
        for n in (10, 1000)
    )
    assert np.mean([len(one.places) for one in few]) > 2
    assert all(one.places == (4.0,) and one.value == one.low == one.high == 4 for one in many)


def test_two_places_are_welch_with_one_side():
    rng = np.random.default_rng(34)
    for shift in np.linspace(-1.5, 1.5, 31):
        a, b = rng.normal(0, 1, 9), rng.normal(shift, 2, 14)
        # One-sided at 0.95 is two-sided at 0.9.
        difference = welch_difference(a, b, confidence=0.9)
        kept = tuple(place for place, stays in ((1, difference.low <= 0), (2, difference.high >= 0)) if stays)
        assert argmin_interval([1, 2], [a, b]).places == kept


def test_the_order_of_places_does_not_matter():
    rng = np.random.default_rng(35)
    rows = [rng.normal(mean, 1, 12) for mean in (1, 0.5, 0, 3)]
    forth = argmin_interval([4, 3, 2, 1], rows)
    assert forth == argmin_interval([1, 2, 3, 4], rows[::-1])
    assert forth.places == tuple(sorted(forth.places))
    assert forth.samples == 48


@pytest.mark.parametrize(
    ("places", "samples", "told"),
    [
        ([1], [[1.0, 2.0]], "at least 2"),
        ([1, 1], [[1.0, 2.0], [3.0, 4.0]], "repeat"),
        ([1, 2], [[1.0, 2.0]], "one for each place"),
        ([1, 2], [[1.0, 2.0], [3.0]], "sample at 2 holds 1 values"),
        ([1, 2, 3], [[1.0, 1.0], [3.0, 3.0], [1.0, 2.0]], "do not vary"),
    ],
)
def test_bad_samples_are_told(places, samples, told):
    with pytest.raises(ParameterError, match=told):
        argmin_interval(places, samples)
