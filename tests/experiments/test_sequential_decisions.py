"""Sequential decisions: false alarms over all looks are those stated, two-sided, and differences are found."""

import numpy as np
import pytest
from scipy import stats

from capsmodel import ParameterError
from capsmodel.experiments.statistics.intervals import skewness
from capsmodel.experiments.statistics.sequential import (
    expected_false,
    level_at,
    look_number,
    looks,
    repeated_interval,
    repeated_median,
)

ALPHA = 0.05
MOST_SEEDS = 64
STUDIES = 20_000


def studies(draw, *, seed):
    """Return a sample of each study, seeds in columns."""
    return draw(np.random.default_rng(seed), (STUDIES, MOST_SEEDS))


def intervals(samples, *, false_alarm=ALPHA):
    """Return low and high ends of each study, looks in columns.

    The function of the package says how many standard errors each look allows; the rest is done for all at once.
    """
    ends = []
    for seeds in looks(MOST_SEEDS):
        one = repeated_interval(samples[0, :seeds], false_alarm=false_alarm)
        mean, error = samples[:, :seeds].mean(axis=1), samples[:, :seeds].std(axis=1, ddof=1) / seeds**0.5
        half = error * one.half_width / one.standard_error
        assert (mean[0] - half[0], mean[0] + half[0]) == pytest.approx((one.low, one.high), rel=1e-9)
        ends.append((mean - half, mean + half))
    return (np.array([look[side] for look in ends]).T for side in (0, 1))


def normal(mean, *, spread=1.0):
    return lambda rng, shape: rng.normal(mean, spread, shape)


def test_looks_and_their_levels():
    assert looks(4) == looks(7) == (4,)
    assert looks(64) == (4, 8, 16, 32, 64)
    assert [look_number(seeds) for seeds in looks(512)] == list(range(1, 9))
    assert sum(level_at(look, false_alarm=ALPHA) for look in range(1, 60)) == pytest.approx(ALPHA, rel=1e-15)


def test_each_interval_is_students_at_the_level_of_its_look():
    """Second look: a quarter of the level, half of that on each side."""
    sample = np.array([1.0, 2.0, 4.0, 8.0, 3.0, 5.0, 7.0, 6.0])
    found = repeated_interval(sample, false_alarm=0.04)
    low, high = stats.t.interval(0.99, 7, loc=sample.mean(), scale=sample.std(ddof=1) / 8**0.5)
    assert (found.low, found.high) == pytest.approx((low, high), rel=1e-9)


@pytest.mark.parametrize("seed", [1, 2])
def test_false_alarms_of_normal_studies_are_those_stated(seed):
    """Over five looks 0.0422 are expected (4e5 studies of another program); here the standard error is 0.0014."""
    low, high = intervals(studies(normal(0), seed=seed))
    below, above = (high < 0).any(axis=1).mean(), (low > 0).any(axis=1).mean()
    assert below + above <= ALPHA
    assert below + above == pytest.approx(0.0422, abs=4 * 0.0014)
    assert below == pytest.approx(above, abs=4 * 0.0014)


def test_false_alarms_of_ratios_of_skewed_quantities():
    """Logarithms of ratios of gamma variates, whose means are known, at both levels that are documented."""

    def logs(rng, shape):
        return np.log(rng.gamma(4, size=shape) / rng.gamma(8, size=shape))

    samples = studies(logs, seed=3) - (1.2561176684318 - 2.0156414779556)  # digamma of 4 and of 8
    for alpha, stated in ((ALPHA, 0.041), (0.005, 0.005)):
        low, high = intervals(samples, false_alarm=alpha)
        rate = ((high < 0) | (low > 0)).any(axis=1).mean()
        assert rate == pytest.approx(stated, abs=4 * (stated / STUDIES) ** 0.5)


LAWS = {
    "normal": (lambda rng, shape: rng.normal(size=shape), 0.0, 0.0),
    "gamma": (lambda rng, shape: rng.gamma(4, size=shape), 4.0, stats.gamma(4).median()),
    "exponential": (lambda rng, shape: rng.exponential(size=shape), 1.0, np.log(2)),
    "lognormal": (lambda rng, shape: rng.lognormal(size=shape), np.exp(0.5), 1.0),
    "coin": (lambda rng, shape: rng.integers(0, 2, shape) + 0.0, 0.5, 0.5),
    "rare event": (lambda rng, shape: (rng.random(shape) < 0.05) + 0.0, 0.05, 0.0),
}


@pytest.mark.parametrize("law", LAWS)
@pytest.mark.parametrize("alpha", [ALPHA, 0.005])
def test_the_median_is_covered_for_every_law(law, alpha):
    """Also where Student's interval errs in a quarter of all studies; ends are those that the package gives for ranks.

    The largest observation and the least were an interval of n of them with probability 2^(1-n) only.
    """
    draw, _, median = LAWS[law]
    samples = studies(draw, seed=8)
    missed = np.zeros(STUDIES, bool)
    for seeds in looks(MOST_SEEDS):
        of_ranks = repeated_median(np.arange(1.0, seeds + 1), false_alarm=alpha)
        ordered = np.sort(samples[:, :seeds], axis=1)
        if np.isfinite(of_ranks.low):
            low, high = ordered[:, int(of_ranks.low) - 1], ordered[:, int(of_ranks.high) - 1]
            missed |= (low > median) | (high < median)
            one = repeated_median(samples[0, :seeds], false_alarm=alpha)
            assert (one.low, one.high) == (low[0], high[0])
    assert missed.mean() <= alpha / 3


@pytest.mark.parametrize(
    ("law", "stated"), [("normal", 0.044), ("gamma", 0.064), ("exponential", 0.134), ("lognormal", 0.24)]
)
def test_false_alarms_of_the_mean_are_those_of_the_table(law, stated):
    draw, mean, _ = LAWS[law]
    low, high = intervals(studies(draw, seed=9))
    rate = ((high < mean) | (low > mean)).any(axis=1).mean()
    assert rate == pytest.approx(stated, abs=4 * (stated / STUDIES) ** 0.5)


def test_the_median_finds_a_difference_that_most_runs_have():
    """A factor whose logarithm is 1 in lognormal noise: nearly all studies of 64 seeds say that it is above 0."""
    samples = 1.5 + studies(lambda rng, shape: rng.lognormal(size=shape), seed=10)[:500] - 1.0
    found = [repeated_median(row, false_alarm=0.005).low > 0 for row in samples]
    assert np.mean(found) > 0.95


def test_skewness_is_that_of_scipy():
    for seed, draw in enumerate(law[0] for law in LAWS.values()):
        found = draw(np.random.default_rng(seed), (40,))
        assert skewness(found) == pytest.approx(float(stats.skew(found, bias=False)), rel=1e-12)
    assert skewness([3.0] * 8) == 0.0
    assert skewness([0.0] * 15 + [1.0]) == pytest.approx(4.0)  # the most that 16 observations can have


def test_looking_after_each_look_at_full_level_would_find_what_is_not_there():
    """The reason for spending: 95% at each of five looks errs in more than one study of seven."""
    samples = studies(normal(0), seed=4)
    wrong = np.zeros(STUDIES, bool)
    for seeds in looks(MOST_SEEDS):
        wrong |= stats.ttest_1samp(samples[:, :seeds], 0, axis=1).pvalue < ALPHA
    assert wrong.mean() > 0.14


@pytest.mark.parametrize(
    ("effect", "seeds", "found"),
    [(8.0, 4, 0.90), (2.0, 8, 0.90), (1.0, 32, 0.90), (0.6, 64, 0.75)],
    ids=["8 spreads", "2 spreads", "1 spread", "0.6 spreads"],
)
def test_a_difference_is_found_in_time(effect, seeds, found):
    """Power: share of studies whose interval lies above 0 at one of the looks so far."""
    low, _ = intervals(studies(normal(effect), seed=5))
    looked = looks(seeds)
    assert (low[:, : len(looked)] > 0).any(axis=1).mean() >= found


def test_most_studies_of_a_large_difference_end_at_the_first_looks():
    """Half of the studies with a difference of two spreads need 8 seeds at most; the limit is 64."""
    low, _ = intervals(studies(normal(2.0), seed=6))
    first = np.argmax(low > 0, axis=1)
    assert np.median(np.array(looks(MOST_SEEDS))[first]) <= 8


def test_equal_observations_decide_by_chance_no_more_often_than_others():
    """A coin: what all observations of a look have is taken for what most runs have, and is not.

    Student's interval has no width there: four runs without an event would show with certainty that there is none.
    """
    samples = studies(lambda rng, shape: rng.integers(0, 2, shape), seed=6)
    bounded = [
        (samples[:, :seeds] == samples[:, :1]).all(axis=1)
        for seeds in looks(MOST_SEEDS)
        if np.isfinite(repeated_interval([0.0] * seeds, false_alarm=ALPHA).high)
    ]
    assert 0 < np.any(bounded, axis=0).mean() <= ALPHA
    assert repeated_interval([2.0] * 8, false_alarm=ALPHA).low == 2.0


@pytest.mark.parametrize(("false_alarm", "seeds", "bounded"), [(0.005, 8, False), (0.005, 16, True), (0.02, 8, False)])
def test_equal_observations_are_bounded_at_the_level_of_both_sides(false_alarm, seeds, bounded):
    """A coin shows one side n times with probability 2^(1-n), half of that for a given side, as at 0.02 would do."""
    assert (2.0 ** (1 - seeds) <= level_at(look_number(seeds), false_alarm=false_alarm)) == bounded
    assert np.isfinite(repeated_interval([1.0] * seeds, false_alarm=false_alarm).high) == bounded


def test_expected_false_decisions_add_up():
    assert expected_false(744, false_alarm=0.005) == pytest.approx(3.72)


@pytest.mark.parametrize(
    ("call", "text"),
    [
        (lambda: look_number(12), "seeds = 12"),
        (lambda: look_number(3), "seeds"),
        (lambda: looks(3), "most_seeds"),
        (lambda: level_at(1, false_alarm=0), "false_alarm = 0"),
        (lambda: level_at(0, false_alarm=0.1), "look"),
        (lambda: repeated_interval([1.0, 2.0, 3.0, 4.0, 5.0], false_alarm=0.1), "seeds = 5"),
        (lambda: repeated_interval([1.0, 2.0, 3.0], false_alarm=0.1), "at least 4"),
        (lambda: repeated_median([1.0, 2.0, 3.0, 4.0, 5.0, 6.0], false_alarm=0.1), "seeds = 6"),
        (lambda: skewness([1.0, 2.0]), "at least 3"),
    ],
)
def test_what_breaks_the_level_is_refused(call, text):
    with pytest.raises(ParameterError, match=text):
        call()
