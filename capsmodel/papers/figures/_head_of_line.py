"""Shared by CAPS Fig. 1 and 2: their simulations, means over runs with intervals, and how a reduction is judged."""

from collections.abc import Sequence
from typing import TYPE_CHECKING

from pandas import DataFrame, Series

from capsim.study.decide import FALSE_ALARM
from capsim.study.relations import Predicate, reduction_pct
from capsmodel.experiments.statistics.intervals import (
    PairedDifference,
    RatioInterval,
    mean_interval,
    paired_difference,
    paired_ratio,
)
from capsmodel.experiments.sweep import Task
from capsmodel.experiments.words import SIZE, WORD_OF_SIZE, Answers, below, verdict_word
from capsmodel.papers.claim_list import PublishedClaim
from capsmodel.papers.figures import _drawing as drawing
from capsmodel.papers.figures._points import CONFIDENCE
from capsmodel.papers.measurements.head_of_line import short_flows
from capsmodel.papers.verdicts import Verdict, of_sample

if TYPE_CHECKING:
    from matplotlib.axes import Axes

FORMS = {4: "with 4 long flows", 0: "without long flows"}
PRESET_SPREAD_S = 1e-4
SPREADS_S = (PRESET_SPREAD_S, 1e-3, 1e-2, 1e-1)


def tasks(spreads_s: Sequence[float], *, runs: int) -> list[Task]:
    """Return a run with and one without long flows for each spread of start times and each of `runs` seeds."""
    return [
        Task(short_flows, long_flows=long_flows, spread_s=spread_s, seed=seed)
        for spread_s in spreads_s
        for seed in range(1, runs + 1)
        for long_flows in FORMS
    ]


def with_form(rows: DataFrame) -> DataFrame:
    """Return the rows with the number of long flows as text."""
    return rows.assign(form=rows["long_flows"].map(FORMS))


def difference(runs: "Series[float]") -> PairedDifference:
    """Return with minus without long flows, from a value for each form and seed; both ran on the same short flows."""
    wide = runs.unstack("form")
    return paired_difference(wide[FORMS[4]], wide[FORMS[0]])


def change(frame: DataFrame, column: str, *, subject: int, spread_s: float = PRESET_SPREAD_S) -> RatioInterval:
    """Return a column with `subject` long flows over the same without or with the others, on the same short flows."""
    runs = frame[frame["spread_s"] == spread_s].set_index(["form", "seed"])[column]
    wide = runs.unstack("form")
    other = next(count for count in FORMS if count != subject)
    return paired_ratio(wide[FORMS[subject]], wide[FORMS[other]])


def judge_reduction(
    claim: PublishedClaim, frame: DataFrame, column: str, *, subject: int, met: Predicate, reason: str
) -> Verdict:
    """Judge by how many percent a column is lower: at the preset, and the direction at every spread of start times."""
    changes = [change(frame, column, subject=subject, spread_s=spread_s) for spread_s in SPREADS_S]

    def answers(confidence: float) -> list[Answers]:
        preset, *others = (one.at(confidence) for one in changes)
        return [Answers.of(met(reduction_pct(preset)), below(preset, 1))] + [
            Answers.of(True, below(one, 1)) for one in others
        ]

    kind = SIZE if claim.printed else WORD_OF_SIZE
    word = verdict_word(kind, answers(CONFIDENCE), answers(1 - FALSE_ALARM / len(changes)))
    preset, *others = (reduction_pct(one.at(CONFIDENCE)) for one in changes)
    lower = zip(SPREADS_S[1:], others, strict=True)
    reason += "".join(f"; {one.value:.1f}% where they start within {1e3 * spread:g} ms" for spread, one in lower)
    verdict = Verdict(claim.id, (preset.value,), word, reason, (preset.low, preset.high), "reduction, %")
    return of_sample(verdict, f"{preset.samples} runs")


def error_bars(axes: "Axes", runs: "Series[float]", x: str, scale: float) -> None:
    """Draw the mean over seeds with its 95% interval over `x`, a line for each form."""
    for colour, (form, values) in zip(drawing.COLOURS, runs.groupby(level="form", sort=False), strict=False):
        found = drawing.bars((mean_interval(of_place) for _, of_place in values.groupby(level=x)), scale)
        places = values.index.unique(x).to_numpy()
        axes.errorbar(places, *found, fmt="o-", capsize=3, color=colour, label=str(form))
