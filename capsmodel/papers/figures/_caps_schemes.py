"""Shared by the figures of CAPS with several schemes: paired comparisons on the same flows, and how they are judged.

A table has a row for each place (of a sweep), scheme and seed.
"""

from collections.abc import Iterable, Mapping, Sequence
from typing import TYPE_CHECKING

import numpy as np
from pandas import DataFrame

from capsim.study.relations import on_side
from capsmodel.experiments.statistics.intervals import (
    Interval,
    MeanInterval,
    RatioInterval,
    mean_interval,
    paired_difference,
    paired_ratio,
)
from capsmodel.experiments.words import STATEMENT, Holds, VerdictWord, above, all_of, kendall
from capsmodel.papers.claim_list import PublishedClaim
from capsmodel.papers.figures import _drawing as drawing
from capsmodel.papers.figures._points import CONFIDENCE, word_on_points
from capsmodel.papers.index import Quantity
from capsmodel.papers.measurements.caps_comparison import WITHOUT_REPAIR
from capsmodel.papers.verdicts import Verdict, of_sample

if TYPE_CHECKING:
    from matplotlib.axes import Axes

READINGS = ("caps_dark", "caps_decode", "caps_ns2", WITHOUT_REPAIR)
"""Other readings of CAPS, and CAPS without a repair packet: in the figures and in the reasons, not in the verdicts."""
Runs = Mapping[str, DataFrame]
"""One quantity: for each place of a sweep a table with a row for each seed and a column for each scheme."""
Compared = Mapping[tuple[str, str], RatioInterval | MeanInterval]
"""A ratio, or a difference, to each baseline at each place, by baseline and place."""
Shown = Mapping[tuple[str, str], Interval]
"""The same as it goes into a verdict."""


def runs_by_place(frame: DataFrame, column: str, *, sweep: str) -> Runs:
    """Return the runs of a column by the values of the column `sweep`, as text."""
    return {
        f"{place:g}": rows.pivot(index="seed", columns="scheme", values=column)
        for place, rows in frame.groupby(sweep, sort=True)
    }


def ratios(runs: Runs, subject: str, baselines: Iterable[str]) -> dict[tuple[str, str], RatioInterval]:
    """Return the ratio of `subject` over each baseline that is simulated, at each place."""
    return {
        (name, place): paired_ratio(wide[subject], wide[name])
        for name in baselines
        for place, wide in runs.items()
        if name in wide
    }


def values_text(found: Shown, *, brief: bool = False) -> str:
    """Return the values as text, by baseline, in the order of places; only the least and the largest if `brief`."""
    values: dict[str, list[float]] = {}
    for (name, _), one in found.items():
        values.setdefault(name, []).append(one.value)
    return "; ".join(
        f"{name} {min(numbers):.3g} to {max(numbers):.3g}"
        if brief and len(numbers) > 1
        else f"{name} {', '.join(f'{one:.3g}' for one in numbers)}"
        for name, numbers in values.items()
    )


def of_points(
    claim: PublishedClaim, found: Shown, word: VerdictWord, reason: str, *, quantity: Quantity = ""
) -> Verdict:
    """Return a verdict on points of a sweep; the value is their range, or the only one with its interval."""
    values = [one.value for one in found.values()]
    (first, *others) = found.values()
    shown, interval = ((first.value,), (first.low, first.high)) if not others else ((min(values), max(values)), ())
    sample = f"{min(one.samples for one in found.values())} runs"
    return of_sample(Verdict(claim.id, shown, word, reason, interval, quantity), sample)


def judge_differences(claim: PublishedClaim, found: Compared, reason: str) -> Verdict:
    """Judge whether differences are all on the side of 0 that the claim names, at all places."""
    side = on_side(claim.relation in ("higher", "rising"), 0)
    return of_points(claim, found, word_on_points(STATEMENT, found.values(), side), reason, quantity="difference")


def rises(runs: Runs, scheme: str) -> tuple[Holds, Interval]:
    """Return whether a quantity rises over the sweep, by Kendall's tau and last minus first, and last minus first."""
    values = [wide[scheme] for wide in runs.values()]
    last = paired_difference(values[-1], values[0], confidence=CONFIDENCE)
    return all_of(kendall(np.array([one.mean() for one in values])) > 0, above(last, 0)), last


def over_sweep(
    axes: "Axes", frame: DataFrame, column: str, scale: float, *, sweep: str, schemes: Sequence[str], style: str = "o-"
) -> None:
    """Draw the mean over seeds with its 95% interval over a column, a line for each scheme; "" leaves out a colour."""
    drawn = [(colour, name) for colour, name in zip(drawing.COLOURS, schemes, strict=False) if name]
    for colour, name in drawn:
        rows = frame[frame["scheme"] == name].groupby(sweep)[column]
        found = drawing.bars((mean_interval(values) for _, values in rows), scale)
        places = np.array(list(rows.groups), dtype=float)
        axes.errorbar(places, *found, fmt=style, markersize=3, capsize=3, color=colour, label=name)
