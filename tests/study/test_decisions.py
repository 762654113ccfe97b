"""Verdicts from samples: no word is false more often than stated, for claims of many points, and each word is found."""

import numpy as np
import pytest

from capsim.study.decide import FALSE_ALARM, Sample, decide
from capsmodel.checks import ParameterError
from capsmodel.experiments.statistics.sequential import level_at, looks
from capsmodel.experiments.words import above, below, within

ALPHA = 0.05
STUDIES = 400
POINTS = 6
MOST_SEEDS = 16


def lower(samples, *, name="point"):
    """A claim of an order: the subject is lower."""
    is_lower = {"met": lambda one: below(one, 1), "holds": lambda one: below(one, 1)}
    return Sample(name=name, samples=samples, logarithmic=True, **is_lower)


def halved(samples, *, name="point"):
    """A claim of a size: lower by 40 to 60%."""
    return Sample(
        name=name,
        samples=samples,
        logarithmic=True,
        met=lambda one: within(one, 0.4, 0.6),
        holds=lambda one: below(one, 1),
    )


def higher_up_to_45_pct(samples, *, name="point"):
    """A claim of a size that is reached somewhere: higher by up to 45%."""
    return Sample(
        name=name,
        samples=samples,
        logarithmic=True,
        met=lambda one: within(one, 1, 1.47),
        holds=lambda one: above(one, 1),
        reached=lambda one: within(one, 1.43, 1.47),
    )


def last_word(point_of, ratios, rng, *, spread, unknown=0):
    """Return the verdict of a study that adds seeds until a word is found."""
    samples = np.log(ratios)[:, None] + rng.normal(0, spread, (len(ratios), MOST_SEEDS))
    word = "open"
    for seeds in looks(MOST_SEEDS):
        points = [point_of(row[:seeds], name=str(number)) for number, row in enumerate(samples)]
        word = decide(points, unknown=unknown, false_alarm=ALPHA).word
        if word != "open":
            break
    return word


def words(point_of, ratios, *, spread, seed, unknown=0):
    rng = np.random.default_rng(seed)
    return [last_word(point_of, ratios, rng, spread=spread, unknown=unknown) for _ in range(STUDIES)]


def most_false():
    """False words that 400 studies at the level may show: four standard errors above 5%."""
    return STUDIES * ALPHA + 4 * (STUDIES * ALPHA * (1 - ALPHA)) ** 0.5


@pytest.mark.parametrize(
    ("truth", "point_of", "ratios", "spread"),
    [
        ("reproduced", halved, [0.4] * POINTS, 0.1),
        ("reproduced", halved, [0.6] * POINTS, 0.1),
        ("refuted", lower, [1.0] * POINTS, 0.1),
        ("refuted", halved, [1.0] * POINTS, 0.1),
        ("differs in size", lower, [1.0] + [0.5] * (POINTS - 1), 0.1),
        ("differs in size", halved, [0.6] + [0.5] * (POINTS - 1), 0.1),
        ("differs in size", higher_up_to_45_pct, [1.43] * POINTS, 0.003),
    ],
)
def test_false_words_are_as_rare_as_stated(truth, point_of, ratios, spread):
    """At the boundary of each word, where it is hardest: half of what the samples say is on its wrong side."""
    found = words(point_of, np.array(ratios), spread=spread, seed=1)
    false = sum(word not in (truth, "open") for word in found)
    assert false <= most_false()


def test_some_point_is_missed_by_chance_without_the_smaller_level():
    """Why "some" takes a part of the level: at all of it, six points that are met are missed too often."""
    rng = np.random.default_rng(2)
    missed = 0
    for _ in range(STUDIES):
        samples = np.log(0.4) + rng.normal(0, 0.1, (POINTS, 8))
        missed += any(halved(row).met(halved(row).interval(4 * ALPHA)) is False for row in samples)
    assert missed > most_false()


@pytest.mark.parametrize(
    ("truth", "point_of", "ratios"),
    [
        ("reproduced", halved, [0.5] * POINTS),
        ("reproduced", lower, [0.7] * POINTS),
        ("refuted", lower, [1.4] * POINTS),
        ("differs in size", lower, [0.6, 0.6, 0.6, 1.5, 1.5, 1.5]),
        ("differs in size", halved, [0.8] * POINTS),
    ],
)
def test_the_true_word_is_found(truth, point_of, ratios):
    found = words(point_of, np.array(ratios), spread=0.05, seed=3)
    assert found.count(truth) >= 0.95 * STUDIES


def test_what_is_not_simulated_keeps_all_open_but_a_mixture():
    arguments = {"spread": 0.05, "seed": 4, "unknown": 1}
    assert set(words(lower, np.array([0.5, 0.5]), **arguments)) == {"open"}
    assert set(words(lower, np.array([1.5, 1.5]), **arguments)) == {"open"}
    assert set(words(lower, np.array([0.5, 1.6]), **arguments)) == {"differs in size"}


def test_what_cannot_be_looked_at_may_reach_the_size_that_differences_go_up_to():
    noise = 0.001 * np.array([-1, 0, 0, 1])
    below_it, there, beyond = (higher_up_to_45_pct(np.log(r) + noise, name=f"{r}") for r in (1.2, 1.45, 1.6))
    silent = Sample.silent("0 in some runs", 4)
    assert decide([below_it]).word == "differs in size"
    assert decide([below_it], unknown=1).word == "open"
    assert decide([below_it, silent]).word == "open"
    assert decide([there, below_it]).word == "reproduced"
    assert decide([beyond, below_it], unknown=1).word == "differs in size"


def test_no_points_decide_nothing():
    assert decide([]).word == "open"


def test_intervals_are_of_ratios_at_the_level_of_the_claim():
    samples = np.log([0.5, 0.6, 0.4, 0.5])
    (found,) = decide([lower(samples, name="ecmp, 0.5")]).intervals.values()
    assert found.value == pytest.approx(np.exp(samples.mean()))
    assert found.confidence == 1 - FALSE_ALARM / 2
    assert found.low < found.value < found.high


def test_a_decision_about_the_median_holds_where_one_about_the_mean_does_not():
    """Skewed samples with 16 seeds, at the level of their look: the mean is called another one in 8% of all studies."""
    rng = np.random.default_rng(11)
    about = {"mean": 0, "median": 0}
    for row in np.exp(rng.normal(size=(300, 16))):
        for kind, centre in (("mean", np.exp(0.5)), ("median", 1.0)):
            word = decide([lower(row - centre)], false_alarm=ALPHA, about=kind).word
            about[kind] += word != "open"
    stated = 300 * level_at(3, false_alarm=ALPHA)
    assert about["mean"] > 8 * stated
    assert about["median"] <= 2 * stated


def test_a_decision_has_the_skewness_of_its_samples():
    samples = np.array([1.0, 1.0, 1.0, 5.0])
    found = decide([lower(samples, name="a"), Sample.silent("b", 4)])
    assert found.skewness == {"a": pytest.approx(2.0)}
    with pytest.raises(ParameterError, match="about = 'mode'"):
        decide([lower(samples)], about="mode")
