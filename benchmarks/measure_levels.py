"""How often is a verdict on a claim false? By what of its runs the claim is taken to be about, and when it is analysed.

``PYTHONPATH=tests python benchmarks/measure_levels.py`` writes the tables of ``docs/verdict_rules.md`` in two minutes.
The second has the share of cases in which the interval that is printed behind the mean of some seeds contains the mean
of all.

A *sample* is what a point of a claim compares, in the setting of the text, of which at least 32 seeds are kept: pairs
of values, one for each seed. Studies draw seeds from it with replacement, 64 each. The true value is that of the sample
itself, and it is where the bound of the claim lies, so that every verdict that says on which side it is would be false.
A rule is false in a study if its interval is on one side of the true value at some interim analysis up to 64 seeds.

Which rule is used
------------------
Rules are compared by the mean share of false studies over samples, for metrics that are means, shares or counts, and
for tails. Those qualify whose share is at most 1% for the former and 2% for the latter, over all points and over the
noisiest point of each claim, on which a verdict that speaks of all points depends. Of these the simplest is taken,
which is one that needs no resampling and no quantity estimated from other points; of equally simple ones the one that
decides the most claims by the runs that are kept.
"""

from collections.abc import Callable, Collection, Iterator
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt
from page_tables import Table, write_table
from scipy import special

from capsim.study.campaign import Campaign
from capsim.study.claims.looks import OfRuns, numbers_of, seeds_there
from capsim.study.kept_runs import Group
from capsim.study.metrics import known_metric
from capsmodel.checks import FloatArray
from capsmodel.datafiles import data_path
from capsmodel.experiments.statistics.intervals import quantile_ranks
from capsmodel.experiments.statistics.robustness import TEXT
from capsmodel.experiments.statistics.sequential import FALSE_ALARM, FIRST_LOOK_SEEDS, level_at
from capsmodel.papers.studies import published_studies

FEWEST_SEEDS, MOST_SEEDS, MOST_KEPT = 32, 64, 1024
STUDIES = 2000
RESAMPLED = (20, 200, 2000)
"""Every so many samples, with so many studies and resamples each, of rules that resample."""

KINDS = {False: "means", True: "tails"}
SHOWN_SEEDS = (3, 5, 8, 16, 32, 64)

Missed = npt.NDArray[np.bool_]
Look = Callable[[FloatArray, float], Missed]
"""Whether an interval misses 0, for samples in rows, at the level of an interim analysis."""


@dataclass(frozen=True)
class Kept:
    """What a point of a claim compares: values of the subject and of the baseline (1 of none) by seed.

    Attributes
    ----------
    claim : str
        Its id.
    subject, baseline : ndarray
        By seed.
    is_ratio, is_tail : bool
        Whether they are compared by their ratio, and whether the metric is an extreme value.
    """

    claim: str
    subject: FloatArray
    baseline: FloatArray
    is_ratio: bool
    is_tail: bool

    @property
    def compared(self) -> FloatArray:
        """Return what a claim looks at: the logarithm of the ratio, or the difference."""
        return np.log(self.subject / self.baseline) if self.is_ratio else self.subject - self.baseline


@dataclass(frozen=True)
class Rule:
    """What of the runs a claim is about, and when it is analysed at which levels.

    Attributes
    ----------
    about, first : str, int
        As the table names it, and the seeds of the first interim analysis.
    level : float
        Of all interim analyses together.
    look : callable
        Whether an interval misses 0.
    centred : callable
        The values of which that is asked: what is compared less its true value.
    resamples : bool
        Whether it draws resamples of each sample.
    """

    about: str
    first: int
    level: float
    look: Look
    centred: Callable[[Kept], FloatArray]
    resamples: bool = False

    def spent(self, number: int) -> float:
        """Return the level of an interim analysis: that of claims where it begins as these do, or half of the last."""
        if self.first == FIRST_LOOK_SEEDS and self.level == FALSE_ALARM:
            return level_at(number, false_alarm=self.level)
        return self.level / 2.0**number

    def false_share(self, kept: Kept, seeds: npt.NDArray[np.int64]) -> float:
        """Return the share of studies, each with a row of drawn seeds, that are false at some interim analysis."""
        drawn = self.centred(kept)[seeds]
        looks = [self.first << one for one in range(MOST_SEEDS.bit_length()) if self.first << one <= MOST_SEEDS]
        missed = [self.look(drawn[:, :one], self.spent(number)) for number, one in enumerate(looks, 1)]
        return float(np.any(missed, axis=0).mean())


def student(drawn: FloatArray, level: float) -> Missed:
    """Return whether Student's interval misses 0; constant samples say nothing."""
    seeds = drawn.shape[1]
    error = drawn.std(axis=1, ddof=1) / seeds**0.5
    return np.asarray((np.abs(drawn.mean(axis=1)) > special.stdtrit(seeds - 1, 1 - level / 2) * error) & (error > 0))


def order_statistics(drawn: FloatArray, level: float) -> Missed:
    """Return whether the interval of the median misses 0."""
    low, high, _ = quantile_ranks(drawn.shape[1], 0.5, 1 - level)
    if not low:
        return np.zeros(len(drawn), bool)
    ordered = np.sort(drawn, axis=1)
    return np.asarray((ordered[:, low - 1] > 0) | (ordered[:, high - 1] < 0))


def bootstrap_t(drawn: FloatArray, level: float) -> Missed:
    """Return whether the interval of the bootstrapped t statistic misses 0."""
    rng, (studies, seeds), found = np.random.default_rng(2), drawn.shape, []
    for row in drawn:
        again = row[rng.integers(0, seeds, (RESAMPLED[2], seeds))]
        error = np.maximum(again.std(axis=1, ddof=1) / seeds**0.5, 1e-300)
        least, most = np.quantile((again.mean(axis=1) - row.mean()) / error, [level / 2, 1 - level / 2])
        own = row.std(ddof=1) / seeds**0.5
        found.append(own > 0 and not row.mean() - most * own <= 0 <= row.mean() - least * own)
    return np.array(found).reshape(studies)


def changed_signs(drawn: FloatArray, level: float) -> Missed:
    """Return whether the mean is larger than with almost all changes of signs: a permutation test of pairs."""
    signs = np.random.default_rng(3).choice([-1.0, 1.0], (drawn.shape[1], RESAMPLED[2]))
    means = np.abs(drawn @ signs) * (1 + 1e-12)
    larger = (means >= np.abs(drawn.sum(axis=1))[:, None]).sum(axis=1)
    return np.asarray((larger + 1) / (RESAMPLED[2] + 1) <= level)


def from_mean(kept: Kept) -> FloatArray:
    """Return what is compared, less its mean: of ratios the geometric one."""
    return kept.compared - kept.compared.mean()


def from_median(kept: Kept) -> FloatArray:
    """Return what is compared, less its median."""
    return kept.compared - np.median(kept.compared)


def from_ratio_of_means(kept: Kept) -> FloatArray:
    """Return the subject less the ratio of means times the baseline, as Fieller compares them."""
    if not kept.is_ratio:
        return from_mean(kept)
    return kept.subject - kept.subject.mean() / kept.baseline.mean() * kept.baseline


GEOMETRIC = "geometric mean of runs"
RULES = (
    Rule(f"{GEOMETRIC}, Student's t", 4, 0.005, student, from_mean),
    Rule(f"{GEOMETRIC}, Student's t", 8, 0.005, student, from_mean),
    Rule(f"{GEOMETRIC}, Student's t", 16, 0.005, student, from_mean),
    Rule(f"{GEOMETRIC}, Student's t", 16, 0.001, student, from_mean),
    Rule(f"{GEOMETRIC}, bootstrapped t", 16, 0.005, bootstrap_t, from_mean, resamples=True),
    Rule(f"{GEOMETRIC}, changed signs", 16, 0.005, changed_signs, from_mean, resamples=True),
    Rule("ratio of means, Student's t", 16, 0.005, student, from_ratio_of_means),
    Rule("median of runs, order statistics", 16, 0.01, order_statistics, from_median),
    Rule("median of runs, order statistics", FIRST_LOOK_SEEDS, FALSE_ALARM, order_statistics, from_median),
)
IN_USE = RULES[-1]


def kept_samples(names: Collection[str] = ()) -> list[Kept]:
    """Return the samples of some studies of the papers, each once; of all when left out."""
    studies = {name: study for name, study in published_studies().items() if not names or name in names}
    found = {}
    for study in studies.values():
        group, points = Group(TEXT, "paper"), study.points(TEXT, sampled=False)
        tasks = study.tasks(points, range(1, MOST_KEPT + 1), setting=group.setting, scale=group.scale)
        campaign = Campaign(study, data_path("results/runs"), {group: tasks})
        for claim in campaign.simulated:
            for one in _of_claim(campaign.of_runs(claim, TEXT, "paper", sampled=False)):
                found.setdefault((one.subject.tobytes(), one.baseline.tobytes()), one)
    return list(found.values())


def _of_claim(runs: OfRuns) -> Iterator[Kept]:
    """Yield the samples of a claim, of all seeds that all its points have; a trend has none."""
    statement, rows = runs.statement, runs.rows
    seeds = seeds_there(runs, numbers_of((FIRST_LOOK_SEEDS, MOST_KEPT)))
    if seeds < FEWEST_SEEDS or statement.relation.is_trend:
        return
    of_ratio = not (statement.is_level or statement.is_gap or statement.is_difference)
    for one in statement.comparisons:
        values = [(weight, rows.values(point, statement.metric, seeds)) for weight, point in one.terms]
        if len(values) > 2 or one.added or not all(np.isfinite(each).all() for _, each in values):
            continue
        subject, baseline = values[0][1], values[-1][1] if len(values) == 2 else np.full(seeds, float(of_ratio))
        if not of_ratio or (min(subject.min(), baseline.min()) > 0):
            yield Kept(statement.claim_id, subject, baseline, of_ratio, known_metric(statement.metric).tail)


def shares(rule: Rule, samples: list[Kept], *, studies: int = STUDIES) -> FloatArray:
    """Return the share of false studies of each sample; of a rule that resamples, of some of them."""
    every, fewer, _ = RESAMPLED if rule.resamples else (1, studies, 0)
    rng = np.random.default_rng(1)
    return np.array([
        rule.false_share(one, rng.integers(0, one.subject.size, (fewer, MOST_SEEDS))) for one in samples[::every]
    ])  # fmt: skip


def noisiest(samples: list[Kept]) -> list[Kept]:
    """Return the point of each claim of several ratios that scatters most."""
    by_claim: dict[str, list[Kept]] = {}
    for one in samples:
        if one.is_ratio:
            by_claim.setdefault(one.claim, []).append(one)
    return [max(listed, key=lambda one: one.compared.std()) for listed in by_claim.values() if len(listed) > 1]


def values_of(samples: list[Kept]) -> dict[bool, list[FloatArray]]:
    """Return what runs have at each point, without those that are constant; by whether it is a tail."""
    found: dict[bool, dict[bytes, FloatArray]] = {False: {}, True: {}}
    for one in samples:
        for values in (one.subject, one.baseline):
            if np.ptp(values) > 0:
                found[one.is_tail][values.tobytes()] = values
    return {is_tail: list(each.values()) for is_tail, each in found.items()}


def coverage(samples: list[FloatArray], seeds: int, *, studies: int = STUDIES) -> FloatArray:
    """Return in which share of studies of so many seeds Student's interval of 95% contains the mean, by sample."""
    rng = np.random.default_rng(4)
    drawn = (values[rng.integers(0, values.size, (studies, seeds))] - values.mean() for values in samples)
    return np.array([1 - (student(one, 0.05) | (np.ptp(one, axis=1) == 0)).mean() for one in drawn])


def coverage_table(values: dict[bool, list[FloatArray]]) -> Table:
    """Return how often an interval contains the mean: in the median of all samples and in the worst twentieth."""
    heads = [f"{name} ({len(values[tail])}): {of}" for tail, name in KINDS.items() for of in ("median", "worst 5%")]
    rows = [["seeds", *heads]]
    for seeds in SHOWN_SEEDS:
        found = [coverage(values[tail], seeds) for tail in KINDS]
        rows.append([str(seeds), *(f"{100 * np.quantile(one, at):.1f}%" for one in found for at in (0.5, 0.05))])
    return rows


def levels_table(samples: list[Kept]) -> Table:
    """Return how often verdicts are false by rule."""
    sets = {
        "means": [one for one in samples if not one.is_tail],
        "tails": [one for one in samples if one.is_tail],
        "noisiest points": noisiest(samples),
    }
    heads = [f"{name} ({len(listed)})" for name, listed in sets.items()]
    rows = [["a claim is about", "first interim analysis, seeds", "level", *heads, "means: 95% of samples below"]]
    for rule in RULES:
        found = [shares(rule, listed) for listed in sets.values()]
        cells = [f"{100 * one.mean():.2f}%" for one in found] + [f"{100 * np.quantile(found[0], 0.95):.1f}%"]
        rows.append([rule.about, str(rule.first), f"{100 * rule.level:g}%", *cells])
    return rows


def main() -> None:
    """Write the tables."""
    samples = kept_samples()
    write_table("levels", levels_table(samples))
    write_table("coverage", coverage_table(values_of(samples)))


if __name__ == "__main__":
    main()
