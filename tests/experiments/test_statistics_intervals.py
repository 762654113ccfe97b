"""Identity tests: intervals against scipy.stats, and their coverage summed exactly over all outcomes."""

from fractions import Fraction
from math import comb, inf, isnan

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st_of
from scipy import stats

from capsmodel import ParameterError
from capsmodel.experiments.agreement import agreement
from capsmodel.experiments.statistics import intervals as st
from capsmodel.experiments.statistics.argmin import argmin_interval
from capsmodel.experiments.statistics.sequential import repeated_median

RNG_SEED = 20261101
COUNTS = [(0, 1), (1, 1), (0, 7), (3, 7), (7, 7), (1, 100), (50, 100), (99_990, 100_000)]
CONFIDENCES = [0.5, 0.95, 0.999]


def ends(interval):
    return pytest.approx([interval.low, interval.high], rel=1e-12, abs=1e-15)


def test_mean_is_the_t_interval_of_scipy(subtests):
    for confidence in CONFIDENCES:
        with subtests.test(confidence=confidence):
            values = np.random.default_rng(RNG_SEED).exponential(3.0, 17)
            found = st.mean_interval(values, confidence=confidence)
            theirs = stats.ttest_1samp(values, 0).confidence_interval(confidence)
            assert list(theirs) == ends(found)
            assert (found.value, found.samples, found.degrees_of_freedom) == (pytest.approx(values.mean()), 17, 16)
            assert found.standard_error == pytest.approx(stats.sem(values), rel=1e-12)


def test_proportions_are_those_of_scipy(subtests):
    for successes, trials in COUNTS:
        for confidence in CONFIDENCES:
            with subtests.test(successes=successes, trials=trials, confidence=confidence):
                theirs = stats.binomtest(successes, trials)
                wilson = st.wilson_interval(successes, trials=trials, confidence=confidence)
                exact = st.clopper_pearson_interval(successes, trials=trials, confidence=confidence)
                assert list(theirs.proportion_ci(confidence, method="wilson")) == ends(wilson)
                # Theirs is a root found to 2e-12; ours has the probability it is defined by.
                assert list(theirs.proportion_ci(confidence, method="exact")) == pytest.approx(
                    [exact.low, exact.high], abs=2e-12
                )
                tail = pytest.approx((1 - confidence) / 2, rel=1e-10)
                assert successes == 0 or stats.binom.sf(successes - 1, trials, exact.low) == tail
                assert successes == trials or stats.binom.cdf(successes, trials, exact.high) == tail
                assert wilson.value == exact.value == successes / trials


def coverage(rule, prob, trials):
    """Sum the probability of every count whose interval covers `prob`."""
    intervals = [rule(hits, trials=trials) for hits in range(trials + 1)]
    covers = [interval.low <= prob <= interval.high for interval in intervals]
    return stats.binom.pmf(np.arange(trials + 1), trials, prob) @ covers


@pytest.mark.agreement
@pytest.mark.parametrize(("p", "q"), [(0.5, 0.5), (0.9, 0.6), (0.1, 0.02), (0.8, 0.75)])
def test_difference_of_proportions_covers_the_true_one_as_often_as_stated(p, q):
    """By enumeration of all pairs of counts. With both near 0 or 1 it covers more, as Wilson's intervals do there."""
    m, n = 30, 40
    covered = 0.0
    for i, a in enumerate(stats.binom.pmf(np.arange(m + 1), m, p)):
        for j, b in enumerate(stats.binom.pmf(np.arange(n + 1), n, q)):
            found = st.proportion_difference(st.wilson_interval(i, trials=m), st.wilson_interval(j, trials=n))
            covered += a * b * (found.low <= p - q <= found.high)
    assert covered == pytest.approx(0.955, abs=0.03)


def test_difference_of_proportions_of_the_published_example():
    """Newcombe 1998, Table II: 56/70 - 48/80 has the interval 0.0524 to 0.3339 by method 10."""
    found = st.proportion_difference(st.wilson_interval(56, trials=70), st.wilson_interval(48, trials=80))
    assert (found.value, found.low, found.high) == pytest.approx((0.2, 0.0524, 0.3339), abs=5e-5)


@pytest.mark.agreement
def test_clopper_pearson_covers_every_proportion_and_wilson_on_average():
    probs = np.linspace(0.005, 0.995, 199)
    exact = np.array([coverage(st.clopper_pearson_interval, p, 30) for p in probs])
    wilson = np.array([coverage(st.wilson_interval, p, 30) for p in probs])
    assert exact.min() >= 0.95
    assert wilson.mean() == pytest.approx(0.95, abs=0.01)
    assert wilson.min() < 0.95  # why the other one exists


def probability_of_ranks(n, q, low, high):
    """Return P(low <= B < high) for B ~ Bin(n, q), in exact arithmetic."""
    return sum(comb(n, j) * q**j * (1 - q) ** (n - j) for j in range(low, high))


def test_quantile_ranks_are_the_tightest_with_half_of_the_error_on_each_side(subtests):
    for q in [Fraction(1, 2), Fraction(9, 10), Fraction(1, 100)]:
        for n in [1, 2, 5, 12, 40]:
            with subtests.test(q=q, n=n):
                found = st.quantile_interval(np.arange(1.0, n + 1), q=float(q), confidence=0.9)
                low, high = found.low_rank, found.high_rank
                half = Fraction(1, 20)
                assert probability_of_ranks(n, q, 0, low) < half <= probability_of_ranks(n, q, 0, low + 1)
                assert probability_of_ranks(n, q, high, n + 1) <= half < probability_of_ranks(n, q, high - 1, n + 1)
                assert found.coverage == pytest.approx(float(probability_of_ranks(n, q, low, high)), rel=1e-12)
                assert found.low == (low if low > 0 else -inf)
                assert found.high == (high if high <= n else inf)


def test_the_99th_percentile_gets_an_upper_end_at_368_observations():
    assert st.quantile_interval(np.arange(367.0), q=0.99).high == inf
    assert st.quantile_interval(np.arange(368.0), q=0.99).high == 367


def test_differences_are_those_of_scipy(subtests):
    for confidence in CONFIDENCES:
        with subtests.test(confidence=confidence):
            rng = np.random.default_rng(RNG_SEED)
            a, b = rng.normal(5, 1, 12), rng.normal(3, 4, 30)
            welch = st.welch_difference(a, b, confidence=confidence)
            theirs = stats.ttest_ind(a, b, equal_var=False)
            assert list(theirs.confidence_interval(confidence)) == ends(welch)
            assert (welch.degrees_of_freedom, welch.samples) == (pytest.approx(theirs.df, rel=1e-12), 42)
            paired = st.paired_difference(a, b[:12], confidence=confidence)
            assert list(stats.ttest_rel(a, b[:12]).confidence_interval(confidence)) == ends(paired)
            assert paired.correlation == pytest.approx(np.corrcoef(a, b[:12])[0, 1], rel=1e-12)


def test_an_interval_of_a_mean_is_given_at_any_confidence(subtests):
    for confidence in CONFIDENCES:
        with subtests.test(confidence=confidence):
            rng = np.random.default_rng(RNG_SEED)
            a, b = rng.normal(5, 1, 12), rng.normal(3, 4, 12)
            for rule in (st.welch_difference, st.paired_difference):
                asked = rule(a, b, confidence=confidence)
                found = rule(a, b).at(confidence)
                assert (found.low, found.value, found.high) == pytest.approx(
                    (asked.low, asked.value, asked.high), rel=1e-12
                )
                assert (found.confidence, found.samples) == (confidence, asked.samples)


@given(samples=st_of.integers(2, 40), width=st_of.floats(1e-3, 20))
def test_samples_for_is_the_least_number_with_the_length_asked_for(samples, width):
    """With the deviation that the first interval shows. Wrong line: the normal quantile of a few observations."""
    deviation = width / stats.t.ppf(0.975, samples - 1) * samples**0.5
    needed = st.samples_for(width, samples=samples, target=0.1)
    at, below = (stats.t.ppf(0.975, max(1, m - 1)) * deviation / m**0.5 for m in (needed, needed - 1))
    assert at <= 0.1 * (1 + 1e-3)
    assert needed == 2 or below > 0.1 * (1 - 1e-3)


def test_common_random_numbers_shorten_the_interval_by_the_correlation():
    rng = np.random.default_rng(RNG_SEED)
    common = rng.exponential(1.0, 200)
    a, b = common + 0.1 * rng.normal(size=200), 2 * common
    paired, welch = st.paired_difference(a, b), st.welch_difference(a, b)
    explained = a.var(ddof=1) + b.var(ddof=1) - 2 * paired.correlation * a.std(ddof=1) * b.std(ddof=1)
    assert paired.standard_error**2 == pytest.approx(explained / 200, rel=1e-12)
    assert paired.standard_error < welch.standard_error


def test_a_ratio_is_the_t_interval_of_the_logarithms_and_symmetric():
    rng = np.random.default_rng(4)
    a, b = np.exp(rng.normal(0, 0.5, (2, 9)))
    found, back = st.paired_ratio(a, b, confidence=0.9), st.paired_ratio(b, a, confidence=0.9)
    logs = stats.ttest_1samp(np.log(a / b), 0).confidence_interval(0.9)
    assert (found.low, found.high) == pytest.approx(np.exp([logs.low, logs.high]), rel=1e-13)
    assert found.value == pytest.approx(stats.gmean(a / b), rel=1e-13)
    ends = [there * here for there, here in ((found.value, back.value), (found.low, back.high), (found.high, back.low))]
    assert ends == pytest.approx([1, 1, 1], rel=1e-13)
    assert found.at(0.95) == st.paired_ratio(a, b)


@pytest.mark.agreement
def test_the_ratio_of_two_systems_of_one_law_is_1_as_often_as_stated():
    """Deviation 0.45 of the logarithm: the arithmetic mean of the ratios would be exp(0.45^2) = 1.22."""
    rng = np.random.default_rng(11)
    draws = [st.paired_ratio(*np.exp(rng.normal(0, 0.45, (2, 5)))) for _ in range(4000)]
    covered = np.mean([found.low <= 1 <= found.high for found in draws])
    assert covered == pytest.approx(0.95, abs=4 * (0.95 * 0.05 / 4000) ** 0.5)
    logs = np.log([found.value for found in draws])
    assert np.mean(logs) == pytest.approx(0, abs=4 * 0.45 * (2 / 5 / 4000) ** 0.5)


def test_a_constant_sample_has_no_correlation():
    assert isnan(st.paired_difference([1.0, 2.0], [3.0, 3.0]).correlation)


def test_batches_of_two_are_the_means_of_pairs():
    values = np.random.default_rng(RNG_SEED).normal(size=65)
    found = st.batch_means(values, batches=32)
    pairs = st.mean_interval(values[1:].reshape(32, 2).mean(axis=1))
    assert [pairs.low, pairs.high] == ends(found)
    assert (found.batch_samples, found.dropped_samples, found.samples) == (2, 1, 64)
    assert found.effective_samples == pytest.approx(values[1:].var(ddof=1) / found.standard_error**2, rel=1e-12)


def test_batch_means_find_the_standard_error_of_an_autoregressive_run():
    """AR(1) with coefficient phi: var(mean) of n values is known exactly; 300 runs give it to 1.5%."""
    phi, n, runs = 0.8, 4096, 300
    rng = np.random.default_rng(RNG_SEED)
    noise = rng.normal(size=(runs, n))
    series = np.empty_like(noise)
    series[:, 0] = noise[:, 0] / (1 - phi**2) ** 0.5  # stationary from the start
    for i in range(1, n):
        series[:, i] = phi * series[:, i - 1] + noise[:, i]
    lags = np.arange(1, n)
    exact = (1 + 2 * np.sum((1 - lags / n) * phi**lags)) / (1 - phi**2) / n
    found = [st.batch_means(run) for run in series]
    measured = np.array([one.standard_error**2 for one in found])
    tolerance = 4 * measured.std(ddof=1) / runs**0.5
    assert tolerance < 0.1 * exact
    assert measured.mean() == pytest.approx(exact, abs=tolerance + 0.07 * exact)  # 128-long batches, memory of 9
    assert np.mean([one.effective_samples for one in found]) == pytest.approx(n * (1 - phi) / (1 + phi), rel=0.15)
    assert abs(np.mean([one.batch_correlation for one in found])) < 0.1


def test_bad_samples_are_told(subtests):
    cases = [
        (lambda: st.mean_interval([1.0]), "samples holds 1 values"),
        (lambda: st.mean_interval([1.0, inf]), "infinite"),
        (lambda: st.mean_interval([[1.0, 2.0]]), "2 dimensions"),
        (lambda: st.mean_interval([1.0, 2.0], confidence=1.0), "confidence = 1"),
        (lambda: st.mean_interval([1.0, 2.0], confidence=0.0), "confidence = 0"),
        (lambda: st.wilson_interval(3, trials=2), "only 2 trials"),
        (
            lambda: st.proportion_difference(
                st.wilson_interval(1, trials=2), st.wilson_interval(1, trials=2, confidence=0.9)
            ),
            "both the same",
        ),
        (lambda: st.clopper_pearson_interval(0, trials=0), "trials = 0"),
        (lambda: st.quantile_interval([1.0], q=0.0), "q = 0"),
        (lambda: st.batch_means(np.arange(63.0)), "samples holds 63 values"),
        (lambda: st.batch_means(np.ones(64)), "does not vary"),
        (lambda: st.welch_difference([1.0, 1.0], [2.0, 2.0]), "constant"),
        (lambda: st.paired_difference([1.0, 2.0], [1.0, 2.0, 3.0]), "pairs"),
        (lambda: st.paired_ratio([1.0, 2.0], [1.0, 2.0, 3.0]), "and b 3, but pairs need as many"),
        (lambda: st.paired_ratio([1.0, 2.0], [0.0, 3.0]), "b holds 0, but a ratio needs values above 0"),
        (lambda: st.paired_ratio([1.0, -2.0], [1.0, 3.0]), "a holds -2, but a ratio needs values above 0"),
    ]
    for call, told in cases:
        with subtests.test(call=call, told=told), pytest.raises(ParameterError, match=told):
            call()


HUGE = [1e308, 1.1e308, 1.2e308, 0.9e308] * 16


@pytest.mark.filterwarnings("error")
@pytest.mark.parametrize(
    "of_sample",
    [
        st.mean_interval,
        lambda huge: st.welch_difference(huge, huge[::-1]),
        lambda huge: st.paired_difference(huge, huge[::-1]),
        lambda huge: st.paired_difference(huge, [-one for one in huge]),
        st.skewness,
        st.batch_means,
        lambda huge: argmin_interval([1, 2], [huge, huge]),
        lambda huge: repeated_median(huge[:2] * 4, false_alarm=0.05),
        lambda huge: agreement(1e308, huge, detect=1e307),
    ],
    ids=["mean", "Welch", "paired", "opposite", "skewness", "batches", "argmin", "repeated", "agreement"],
)
def test_what_overflows_is_refused_in_one_line(of_sample):
    """Catches a mean of infinity with an interval from NaN to infinity, and warnings of NumPy."""
    with pytest.raises(ParameterError, match=r"leaves the range of float64 on the way: give less extreme numbers$"):
        of_sample(HUGE)


@pytest.mark.filterwarnings("error")
def test_quantiles_of_huge_numbers_are_theirs():
    assert st.quantile_interval(HUGE, q=0.5).low in HUGE
