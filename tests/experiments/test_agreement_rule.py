"""Property: the agreement rule has the false-alarm probability and the power it states, by simulation, fixed seeds."""

import numpy as np
import pytest
from scipy import stats

from capsmodel import ParameterError
from capsmodel.experiments import agreement as ag
from capsmodel.experiments.statistics.intervals import batch_means, paired_difference, wilson_interval

pytestmark = pytest.mark.agreement

REPEATS = 4000
# Each simulated probability is held against an interval that misses the truth once in 10^4 cases.
SURE = 0.9999


def share_of(verdicts, word):
    return wilson_interval(sum(v == word for v in verdicts), trials=len(verdicts), confidence=SURE)


@pytest.mark.parametrize("offset", [-0.1, 0.0, 0.1])
def test_a_true_mean_within_the_declared_bias_alarms_less_than_the_level(offset):
    """Each side alarms as the noncentral t says; at the edge of the bias the near one does at half of the level."""
    critical = stats.t.isf(0.025, 11)
    sides = [float(stats.nct.sf(critical, 11, (x - 0.1) * 12**0.5)) for x in (offset, -offset)]
    assert sum(sides) < 0.05
    draws = np.random.default_rng(11).normal(5.0 + offset, 1.0, (REPEATS, 12))
    verdicts = [ag.agreement(5.0, row, bias=0.1, detect=3.0, level=0.05).verdict for row in draws]
    alarms = share_of(verdicts, "disagrees")
    assert alarms.low <= sum(sides) <= alarms.high


@pytest.mark.parametrize(("offset", "edge"), [(-0.3, True), (-0.1, False), (0.0, True)])
def test_one_sided_bias_alarms_as_the_noncentral_t_says(offset, edge):
    """Declared is a truth up to 0.3 below the model and never above: each end of it alarms at half of the level."""
    critical = stats.t.isf(0.025, 11)
    sides = [float(stats.nct.sf(critical, 11, x * 12**0.5)) for x in (offset, -0.3 - offset)]
    assert (sum(sides) > 0.025) == edge
    draws = np.random.default_rng(17).normal(5.0 + offset, 1.0, (REPEATS, 12))
    verdicts = [ag.agreement(5.0, row, bias=(-0.3, 0.0), detect=3.0, level=0.05).verdict for row in draws]
    alarms = share_of(verdicts, "disagrees")
    assert alarms.low <= sum(sides) <= alarms.high


def test_one_sided_bias_of_proportions_keeps_level_and_power():
    """Enumeration over all counts: every truth in [m - 0.1, m] keeps the level, the worse side has the stated power."""
    trials, model, how = 250, 0.4, {"bias": (-0.1, 0.0), "detect": (-0.22, 0.14), "level": 0.02}
    verdicts = [ag.agreement(model, ag.Count(successes=hits, trials=trials), **how) for hits in range(trials + 1)]
    rejected = np.array([one.verdict == "disagrees" for one in verdicts])

    def alarm(truth):
        return stats.binom.pmf(np.arange(trials + 1), trials, truth) @ rejected

    assert all(alarm(truth) <= 0.02 for truth in (0.3, 0.35, 0.4))
    assert alarm(0.4) > 0.002 < alarm(0.3)  # both ends are used up
    assert verdicts[0].power == pytest.approx(min(alarm(0.18), alarm(0.54)), rel=1e-6)


@pytest.mark.parametrize(("truth", "detect"), [(5.0 + 1.0, (-9.0, 1.0)), (5.0 - 1.5, (-1.5, 9.0))])
def test_one_sided_bias_has_the_power_it_states_on_either_side(truth, detect):
    draws = np.random.default_rng(18).normal(truth, 1.0, (REPEATS, 30))
    found = [ag.agreement(5.0, row, bias=(-0.5, 0.0), detect=detect, level=0.001) for row in draws]
    measured = share_of([one.verdict for one in found], "disagrees")
    true_power = stats.nct.sf(stats.t.isf(0.0005, 29), 29, 30**0.5)
    assert measured.low <= true_power <= measured.high
    assert np.mean([one.power for one in found]) == pytest.approx(true_power, abs=0.03)


@pytest.mark.parametrize("bias", [0.0, 0.3, (-0.4, 0.0), (-0.1, 0.2)])
@pytest.mark.parametrize("sign", [-1, 1])
def test_a_wrong_model_is_found_from_the_stated_error_on(bias, sign):
    """With the power stated, at the truth of its bias where it is hardest to find: at the edge nearer to the error."""
    low, high = bias if isinstance(bias, tuple) else (-bias, bias)
    reach = 0.4
    how = {"bias": bias, "detect": (low - reach, high + reach), "level": 0.01, "power": 0.9}
    error = ag.agreement(0.0, [-1.0, 1.0], **how).found_model_error
    assert error == pytest.approx(high - low + reach)
    truth = high if sign > 0 else low
    draws = np.random.default_rng(19).normal(truth, 1.0, (500, 100))
    found = [ag.agreement(sign * error, row, **how) for row in draws]
    assert np.mean([one.verdict == "disagrees" for one in found]) == pytest.approx(found[0].power, abs=0.06)


def test_without_bias_the_false_alarms_are_the_level():
    rng = np.random.default_rng(12)
    draws = rng.normal(5.0, 1.0, (REPEATS, 12))
    alarms = share_of([ag.agreement(5.0, row, detect=3.0, level=0.05).verdict for row in draws], "disagrees")
    assert alarms.low <= 0.05 <= alarms.high


def exact_power(model, trials, truth, level):
    """Sum the binomial probability of every count that the rule rejects."""
    rejected = [
        ag.agreement(model, ag.Count(successes=hits, trials=trials), detect=0.1, level=level).verdict == "disagrees"
        for hits in range(trials + 1)
    ]
    return stats.binom.pmf(np.arange(trials + 1), trials, truth) @ rejected


@pytest.mark.parametrize("model", [0.5, 0.12, 0.02, 0.95, 1.0])
def test_counts_have_exactly_the_stated_level_and_power(model):
    """Enumeration over all counts, no simulation: level and power of the binomial rule."""
    trials, level = 250, 0.02
    assert exact_power(model, trials, model, level) <= level
    directions = [truth for truth in (model - 0.1, model + 0.1) if 0 <= truth <= 1]
    powers = [exact_power(model, trials, truth, level) for truth in directions]
    stated = ag.agreement(model, ag.Count(successes=trials // 2, trials=trials), detect=0.1, level=level)
    assert stated.power == pytest.approx(min(powers), rel=1e-6)  # the far tail is left out


def test_an_error_of_the_size_to_be_detected_is_found_as_often_as_stated():
    """The measured error stands in for the true one, so the stated power is right on average over samples."""
    rng = np.random.default_rng(13)
    draws = rng.normal(5.0 + 1.5, 1.0, (REPEATS, 30))
    found = [ag.agreement(5.0, row, bias=0.5, detect=1.5, level=0.001) for row in draws]
    measured = share_of([one.verdict for one in found], "disagrees")
    true_power = stats.nct.sf(stats.t.isf(0.0005, 29), 29, 30**0.5)
    assert measured.low <= true_power <= measured.high
    assert np.mean([one.power for one in found]) == pytest.approx(true_power, abs=0.03)


def test_never_agrees_when_the_power_is_missing():
    rng = np.random.default_rng(14)
    few = [ag.agreement(0.0, row, detect=0.5).verdict for row in rng.normal(0.0, 1.0, (500, 20))]
    many = [ag.agreement(0.0, row, detect=0.5).verdict for row in rng.normal(0.0, 1.0, (500, 400))]
    assert set(few) <= {"too few samples", "disagrees"}
    assert set(many) == {"agrees"}


def test_a_bias_beyond_the_declared_one_disagrees_and_one_inside_agrees():
    rng = np.random.default_rng(15)
    inside, beyond = rng.normal(0.08, 1.0, 100_000), rng.normal(0.2, 1.0, 100_000)
    assert ag.agreement(0.0, inside, bias=0.1, detect=0.15).verdict == "agrees"
    assert ag.agreement(0.0, beyond, bias=0.1, detect=0.15).verdict == "disagrees"
    assert ag.agreement(0.0, -beyond, bias=0.1, detect=0.15).verdict == "disagrees"


def test_array_mean_with_error_and_interval_give_the_same_verdict():
    values = np.random.default_rng(16).normal(1.0, 0.1, 200)
    error = values.std(ddof=1) / 200**0.5
    moments = ag.MeanAndError(mean=values.mean(), standard_error=error, degrees_of_freedom=199)
    from_array, from_moments = (ag.agreement(1.0, given, detect=0.1) for given in (values, moments))
    assert from_array.power == pytest.approx(from_moments.power, rel=1e-12)
    assert from_array.p_value == pytest.approx(from_moments.p_value, rel=1e-12)
    assert ag.agreement(1.0, batch_means(values, batches=20), detect=0.2).verdict == "agrees"
    assert ag.agreement(0.0, paired_difference(values, values[::-1]), detect=0.2).verdict == "agrees"


def test_a_known_error_uses_the_normal_law():
    given = ag.MeanAndError(mean=3.0, standard_error=1.0)
    assert ag.agreement(0.0, given, detect=10.0).p_value == pytest.approx(2 * stats.norm.sf(3.0), rel=1e-12)


@pytest.mark.parametrize("distance", [30.0, 40.0, 45.0, 60.0, 1e4])
def test_power_is_one_however_large_the_error(distance):
    """At 45 errors and 39 degrees of freedom SciPy's noncentral t underflows to nan."""
    given = ag.MeanAndError(mean=0.0, standard_error=1.0, degrees_of_freedom=39)
    assert ag.agreement(0.0, given, detect=distance).power == 1.0


@pytest.mark.parametrize("degrees_of_freedom", [3, 31, 1e6])
def test_a_sufficient_error_has_just_the_power(degrees_of_freedom):
    error = ag.sufficient_standard_error(0.5, degrees_of_freedom=degrees_of_freedom, bias=0.2)
    for factor, word in ((0.99, "agrees"), (1.01, "too few samples")):
        given = ag.MeanAndError(mean=1.0, standard_error=factor * error, degrees_of_freedom=degrees_of_freedom)
        assert ag.agreement(1.0, given, detect=0.5, bias=0.2).verdict == word
    with pytest.raises(ParameterError, match=r"detect = 0\.2"):
        ag.sufficient_standard_error(0.2, degrees_of_freedom=degrees_of_freedom, bias=0.2)


def test_verdict_is_one_line_and_truth_value():
    found = ag.agreement(0.5, ag.Count(successes=50_300, trials=100_000), detect=0.02)
    assert found
    text = str(found)
    assert "\n" not in text
    assert text.startswith("agrees: model 0.5, measured 0.503")
    assert "declared bias 0" in text
    assert "0.02" in text


def test_one_level_serves_the_family():
    assert ag.LEVEL * ag.FAMILY_TESTS == ag.FAMILY_FALSE_ALARM_PROB
    assert ag.agreement(0.0, [-1.0, 0.0, 1.0], detect=1.0).level == ag.LEVEL


@pytest.mark.parametrize(
    ("call", "told"),
    [
        (lambda: ag.agreement(0.0, [1.0, 2.0], detect=0.1, bias=0.1), "declared bias"),
        (lambda: ag.agreement(0.0, [1.0, 2.0], detect=0.0), "detect = 0"),
        (lambda: ag.agreement(0.0, [1.0, 2.0], detect=0.1, bias=(-0.1, 0.0)), "declared bias, -0.1 to 0"),
        (lambda: ag.agreement(0.0, [1.0, 2.0], detect=0.3, bias=(0.1, 0.2)), "must hold 0"),
        (lambda: ag.agreement(0.0, [1.0, 2.0], detect=0.3, bias=-0.1), "bias"),
        (lambda: ag.agreement(0.0, [1.0], detect=0.1), "holds 1 values"),
        (lambda: ag.agreement(0.0, [1.0, 1.0], detect=0.1), "standard error is unknown"),
        (lambda: ag.agreement(float("inf"), [1.0, 2.0], detect=0.1), "finite"),
        (lambda: ag.agreement(1.5, ag.Count(successes=1, trials=2), detect=0.1), "model = 1.5"),
        (lambda: ag.agreement(0.5, ag.Count(successes=3, trials=2), detect=0.1), "only 2 trials"),
        (lambda: ag.agreement(0.5, ag.Count(successes=1, trials=2), detect=0.9), "no proportion"),
        (lambda: ag.agreement(0.0, ag.MeanAndError(mean=0.0, standard_error=0.0), detect=0.1), "standard_error = 0"),
        (lambda: ag.agreement(0.0, [1.0, 2.0], detect=0.1, level=0.0), "level and power"),
        (lambda: ag.sufficient_standard_error(0.1, degrees_of_freedom=0), "degrees_of_freedom = 0, but it must be"),
    ],
)
def test_bad_comparisons_are_told(call, told):
    with pytest.raises(ParameterError, match=told):
        call()


@pytest.mark.parametrize("dof", [1, 2, 5, 23, 1000, np.inf])
def test_the_power_grows_with_the_error_to_be_detected_however_large(dof):
    """Also where SciPy's noncentral t is not a number, far beyond 37 standard errors, and continuously at 37."""

    def power(detect):
        found = ag.MeanAndError(mean=0.0, standard_error=1.0, degrees_of_freedom=dof)
        return ag.agreement(0.0, found, detect=detect).power

    powers = np.array([power(detect) for detect in (*np.arange(5, 100, 0.5), 1e3, 1e6, 1e9)])
    assert (np.diff(powers) >= -1e-9).all()
    assert powers[-1] == pytest.approx(1.0)
    assert power(37.0) == pytest.approx(power(37.0 + 1e-9), abs=2e-4)


@pytest.mark.parametrize(("model", "trials", "detect"), [(0.98, 100, 0.01), (0.5, 50, 0.1), (0.9999, 10, 0.001)])
def test_too_few_trials_say_how_many_would_do(model, trials, detect):
    found = ag.agreement(model, ag.Count(successes=round(model * trials), trials=trials), detect=detect)
    assert found.verdict == "too few samples"
    enough = int(found.sufficient_samples)
    again = ag.agreement(model, ag.Count(successes=round(model * enough), trials=enough), detect=detect)
    assert again.verdict == "agrees"
    assert again.power >= 0.99
    fewer = int(enough / 1.2)  # the grid has steps of a tenth
    assert ag.agreement(model, ag.Count(successes=round(model * fewer), trials=fewer), detect=detect).power < 0.99
    assert f"with about {enough} samples 0.99" in str(found)
    assert repr(found) == str(found)


def test_too_few_replicates_say_how_many_would_do():
    """Samples of deviation 1 exactly: the number follows from the noncentral t, near 46 / detect^2."""
    few = np.array([-1.0, 1.0] * 10) * np.sqrt(19 / 20)
    found = ag.agreement(0.0, few, detect=0.5)
    enough = int(found.sufficient_samples)
    many = np.array([-1.0, 1.0] * (enough // 2)) * np.sqrt((enough // 2 * 2 - 1) / (enough // 2 * 2))
    assert ag.agreement(0.0, many, detect=0.5).power == pytest.approx(0.99, abs=0.003)
    measured = ag.agreement(0.0, ag.MeanAndError(mean=0.0, standard_error=1.0, degrees_of_freedom=9), detect=0.5)
    assert measured.verdict == "too few samples"
    assert np.isnan(measured.sufficient_samples)
    assert "with more samples 0.99" in str(measured)
