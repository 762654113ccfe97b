"""Sequential decisions: intervals of all looks miss the median no more often than stated, and differences are found."""

import numpy as np
import pytest
from scipy import stats

from capsmodel import ParameterError
from capsmodel.experiments.statistics.intervals import skewness
from capsmodel.experiments.statistics.sequential import (
    FALSE_ALARM,
    FIRST_LOOK_SEEDS,
    expected_false,
    level_at,
    look_number,
    looks,
    repeated_median,
)

MOST_SEEDS = 64
STUDIES = 20_000


def studies(draw, *, seed):
    """Return a sample of each study, seeds in columns."""
    return draw(np.random.default_rng(seed), (STUDIES, MOST_SEEDS))


def intervals(samples, *, false_alarm=FALSE_ALARM):
    """Return low and high ends of each study, looks in columns.

    The function of the package says which ranks each look takes; the rest is done for all at once.
    """
    ends = []
    for seeds in looks(MOST_SEEDS):
        of_ranks = repeated_median(np.arange(1.0, seeds + 1), false_alarm=false_alarm)
        one = repeated_median(samples[0, :seeds], false_alarm=false_alarm)
        if np.isfinite(of_ranks.low):
            ordered = np.sort(samples[:, :seeds], axis=1)
            ends.append((ordered[:, int(of_ranks.low) - 1], ordered[:, int(of_ranks.high) - 1]))
            assert (one.low, one.high) == (ends[-1][0][0], ends[-1][1][0])
    return (np.array([look[side] for look in ends]).T for side in (0, 1))


def normal(mean, *, spread=1.0):
    return lambda rng, shape: rng.normal(mean, spread, shape)


def test_looks_and_their_levels():
    assert looks(8) == looks(15) == (8,)
    assert looks(64) == (8, 16, 32, 64)
    assert [look_number(seeds) for seeds in looks(1024)] == list(range(1, 9))
    assert sum(level_at(look, false_alarm=0.05) for look in range(1, 60)) == pytest.approx(0.05, rel=1e-15)


def test_the_first_look_decides_where_all_its_runs_agree_and_none_before_could():
    """A coin shows one side n times with probability 2^(1-n): 8 are the fewest that the level of a claim allows."""
    assert 2.0 ** (1 - FIRST_LOOK_SEEDS) <= level_at(1, false_alarm=FALSE_ALARM) < 2.0 ** (2 - FIRST_LOOK_SEEDS)
    found = repeated_median(np.arange(1.0, 9.0), false_alarm=FALSE_ALARM)
    assert (found.value, found.low, found.high) == (4.5, 1.0, 8.0)
    assert np.isinf(repeated_median(np.arange(1.0, 9.0), false_alarm=FALSE_ALARM / 2).high)


def test_observations_that_are_left_out_do_not_make_a_look_earlier():
    """Eleven of sixteen seeds have one: at the level of the second look."""
    found = repeated_median(np.arange(11.0), false_alarm=0.04, seeds=16)
    low = stats.binom.ppf(level_at(2, false_alarm=0.04) / 2, 11, 0.5)
    assert (found.low, found.high) == (low - 1, 11 - low)
    with pytest.raises(ParameterError, match="seeds = 11"):
        repeated_median(np.arange(11.0), false_alarm=0.04)


LAWS = {
    "normal": (normal(0.0), 0.0),
    "gamma": (lambda rng, shape: rng.gamma(4, size=shape), stats.gamma(4).median()),
    "exponential": (lambda rng, shape: rng.exponential(size=shape), np.log(2)),
    "lognormal": (lambda rng, shape: rng.lognormal(size=shape), 1.0),
    "coin": (lambda rng, shape: rng.integers(0, 2, shape) + 0.0, 0.5),
    "rare event": (lambda rng, shape: (rng.random(shape) < 0.05) + 0.0, 0.0),
}


CONTINUOUS = {"normal", "gamma", "exponential", "lognormal"}


@pytest.mark.agreement
@pytest.mark.parametrize("law", LAWS)
@pytest.mark.parametrize("alpha", [0.05, FALSE_ALARM])
def test_the_median_is_covered_for_every_law(law, alpha):
    """At the stated level for every law, and for those without atoms as often as for a normal one.

    Ends are observations, so that less than the level is spent: at 0.01 the first look spends 2^-7.
    """
    draw, median = LAWS[law]
    low, high = intervals(studies(draw, seed=8), false_alarm=alpha)
    missed = ((low > median) | (high < median)).any(axis=1).mean()
    error = (alpha / STUDIES) ** 0.5
    assert missed <= alpha + 3 * error
    if law in CONTINUOUS:
        normal_low, normal_high = intervals(studies(normal(0.0), seed=9), false_alarm=alpha)
        assert missed == pytest.approx(((normal_low > 0) | (normal_high < 0)).any(axis=1).mean(), abs=6 * error)
        assert missed >= 2.0**-7 - 4 * error


def test_the_mean_of_skewed_observations_is_not_covered_by_students_interval():
    """Why the median is taken: at the same looks and levels, lognormal means are missed 5 times as often as stated."""
    samples = studies(LAWS["lognormal"][0], seed=9) - np.exp(0.5)
    missed = np.zeros(STUDIES, bool)
    for number, seeds in enumerate(looks(MOST_SEEDS), 1):
        missed |= stats.ttest_1samp(samples[:, :seeds], 0, axis=1).pvalue < level_at(number, false_alarm=FALSE_ALARM)
    assert missed.mean() > 5 * FALSE_ALARM


def test_the_median_finds_a_difference_that_most_runs_have():
    """A factor whose logarithm is 1 in lognormal noise: nearly all studies of 64 seeds say that it is above 0."""
    low, _ = intervals(1.5 + studies(LAWS["lognormal"][0], seed=10) - 1.0)
    assert (low > 0).any(axis=1).mean() > 0.95


def test_skewness_is_that_of_scipy():
    for seed, (draw, _) in enumerate(LAWS.values()):
        found = draw(np.random.default_rng(seed), (40,))
        assert skewness(found) == pytest.approx(float(stats.skew(found, bias=False)), rel=1e-12)
    assert skewness([3.0] * 8) == 0.0
    assert skewness([0.0] * 15 + [1.0]) == pytest.approx(4.0)  # the most that 16 observations can have


def test_looking_after_each_look_at_full_level_would_find_what_is_not_there():
    """The reason for spending: 95% at each of four looks errs in more than one study of nine."""
    samples = studies(normal(0), seed=4)
    wrong = np.zeros(STUDIES, bool)
    for seeds in looks(MOST_SEEDS):
        wrong |= stats.ttest_1samp(samples[:, :seeds], 0, axis=1).pvalue < 0.05
    assert wrong.mean() > 0.11


@pytest.mark.parametrize(
    ("effect", "seeds", "found"),
    [(3.0, 8, 0.95), (2.0, 16, 0.95), (1.5, 32, 0.95), (1.0, 64, 0.95)],
    ids=["3 spreads", "2 spreads", "1.5 spreads", "1 spread"],
)
def test_a_difference_is_found_in_time(effect, seeds, found):
    """Power: share of studies whose interval lies above 0 at one of the looks so far."""
    low, _ = intervals(studies(normal(effect), seed=5))
    assert (low[:, : len(looks(seeds))] > 0).any(axis=1).mean() >= found


def test_what_8_equal_runs_have_in_common_is_what_most_runs_have():
    """As of events: eight runs without one say so of most runs, four say nothing at all."""
    assert repeated_median([2.0] * 8, false_alarm=FALSE_ALARM).high == 2.0
    with pytest.raises(ParameterError, match="at least 8"):
        repeated_median([2.0] * 4, false_alarm=FALSE_ALARM)


def test_expected_false_decisions_add_up():
    assert expected_false(744, false_alarm=0.005) == pytest.approx(3.72)


def test_what_breaks_the_level_is_refused(subtests):
    cases = [
        (lambda: look_number(12), "seeds = 12"),
        (lambda: look_number(4), "seeds"),
        (lambda: looks(7), "most_seeds"),
        (lambda: level_at(1, false_alarm=0), "false_alarm = 0"),
        (lambda: level_at(0, false_alarm=0.1), "look"),
        (lambda: repeated_median(np.arange(9.0), false_alarm=0.1), "seeds = 9"),
        (lambda: repeated_median([1.0, np.inf] * 4, false_alarm=0.1), "infinite"),
        (lambda: skewness([1.0, 2.0]), "at least 3"),
    ]
    for call, text in cases:
        with subtests.test(call=call, text=text), pytest.raises(ParameterError, match=text):
            call()
