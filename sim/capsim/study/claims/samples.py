"""From rows of runs to the samples of a claim: one value a seed for each point.

Within a seed all schemes have the same flows, so values are compared seed by seed: logarithms of metrics above 0, so
that their mean is a ratio, and counts and shares that can be 0, sizes printed in a unit, and what has no baseline, as
they are. A difference that is 0 in all runs is left out: it says nothing of an order.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Literal

import numpy as np
from pandas import DataFrame

from capsim.study.claims.decide import Decision, Sample
from capsim.study.claims.design import ComparedRuns, Design
from capsim.study.claims.relations import Relation
from capsim.study.file import Claim
from capsim.study.metrics import DERIVED, known_metric, values_of
from capsim.study.points import Point
from capsmodel.checks import FloatArray
from capsmodel.experiments.printed import UNITS
from capsmodel.experiments.statistics.intervals import Interval
from capsmodel.experiments.statistics.robustness import TEXT
from capsmodel.experiments.words import kendall

__all__ = ["TAU", "Quantity", "RunRows", "Statement", "Value", "compared_columns"]

Quantity = Literal["", "ratio", "difference", "Kendall's tau"]
"""What a value is: what the claim prints, in its unit, if empty."""
TAU: Quantity = "Kendall's tau"


class RunRows:
    """Rows of runs, by point and seed.

    Parameters
    ----------
    points : sequence of Point
        That of each row.
    frame : DataFrame
        A column ``seed`` (1, 2, ...) and one for each metric.
    """

    def __init__(self, points: Sequence[Point] = (), frame: DataFrame | None = None) -> None:
        self._rows: dict[Point, DataFrame] = {}
        self._values: dict[tuple[Point, str], FloatArray] = {}
        if frame is None or frame.empty:
            return
        numbers = {point: number for number, point in enumerate(dict.fromkeys(points))}
        which = np.array([numbers[point] for point in points])
        order = np.lexsort((frame["seed"].to_numpy(), which))
        ends = np.searchsorted(which[order], np.arange(len(numbers) + 1))
        for point, begin, end in zip(numbers, ends, ends[1:], strict=False):
            rows = frame.iloc[order[begin:end]]
            self._rows[point] = rows[rows["seed"].to_numpy() == np.arange(1, len(rows) + 1)]

    def has(self, points: Iterable[Point], seeds: int) -> bool:
        """Return whether the first `seeds` seeds of all points are there."""
        return all(point in self._rows and len(self._rows[point]) >= seeds for point in points)

    def values(self, point: Point, metric: str, seeds: int) -> FloatArray:
        """Return a metric of the first `seeds` seeds, which have to be there."""
        if (point, metric) not in self._values:
            self._values[point, metric] = values_of(self._rows[point], metric)
        return self._values[point, metric][:seeds]


@dataclass(frozen=True)
class Value:
    """What our runs say about a claim, in its unit.

    Attributes
    ----------
    quantity : str
        What the value is.
    values : tuple of float
        That of the only point, or the least and the largest of several.
    interval : tuple of float
        Both ends of the interval of the only point; empty of several, and where it is infinite.
    """

    quantity: Quantity
    values: tuple[float, ...]
    interval: tuple[float, ...]


@dataclass(frozen=True)
class Statement:
    """What a claim of a study says in a setting.

    Attributes
    ----------
    design : Design
        The study.
    claim_id : str
        The claim.
    setting : str
        Name of a setting, which may change the metric.
    sampled : bool
        Whether it is about those points only where settings are compared.
    """

    design: Design
    claim_id: str
    setting: str = TEXT
    sampled: bool = False

    @property
    def claim(self) -> Claim:
        """Return what the file says."""
        return self.design.claims[self.claim_id]

    @cached_property
    def comparisons(self) -> tuple[ComparedRuns, ...]:
        """Return what is compared."""
        return self.design.comparisons(self.claim_id, sampled=self.sampled)

    @cached_property
    def points(self) -> list[Point]:
        """Return the points that have to be run, each once."""
        return list(dict.fromkeys(point for one in self.comparisons for point in one.points))

    @cached_property
    def metric(self) -> str:
        """Return the metric that is compared."""
        return self.design.metric(self.claim_id, self.setting)

    @property
    def columns(self) -> tuple[str, ...]:
        """Return the columns of a row that it is taken from."""
        return DERIVED[self.metric][0] if self.metric in DERIVED else (self.metric,)

    @cached_property
    def relation(self) -> Relation:
        """Return what is claimed."""
        has_baseline = any(len(one.terms) > 1 for one in self.design.comparisons(self.claim_id))
        return Relation.of(self.claim, has_baseline=has_baseline, where=f"{self.design.name}.toml: {self.claim_id}")

    @property
    def is_level(self) -> bool:
        """Whether it is about values, and not about values over others; orders of magnitude are of a ratio."""
        return all(len(one.terms) == 1 for one in self.comparisons) and not self.relation.is_in_orders

    @property
    def is_gap(self) -> bool:
        """Whether it is about a difference in a unit."""
        return not self.is_level and (self.claim.gap or (self.relation.is_gap and not self.relation.is_trend))

    @property
    def is_difference(self) -> bool:
        """Whether it is about which of two is larger of what can be 0."""
        comparable = not (self.is_level or self.is_gap)
        return comparable and self.relation.is_order and known_metric(self.metric).zero

    @property
    def has_signs_only(self) -> bool:
        """Return whether its samples have to be above or below 0, and are neither sizes nor ratios."""
        return self.relation.is_trend or self.is_difference

    @property
    def quantity(self) -> Quantity:
        """Return what the value is; of a trend, Kendall's tau alone, as last minus first has a unit."""
        if self.relation.is_trend:
            return TAU
        if self.is_difference:
            return "difference"
        one = self.relation
        in_unit = one.is_percentage or one.is_in_orders or one.is_times_lower
        return "" if in_unit or self.is_level or self.is_gap else "ratio"

    def samples(self, rows: RunRows, seeds: int) -> list[Sample]:
        """Return what the first `seeds` seeds say; without comparisons in which a difference is 0 throughout."""
        samples = self._samples(rows, seeds)
        if not (self.claim.average is True and samples):
            return samples
        unknown = [one for one in samples if one.is_silent]
        mean = np.mean([one.samples for one in samples], axis=0)
        of_means = float(np.mean([one.of_means for one in samples]))
        return unknown[:1] or [replace(samples[0], name=f"mean of {len(samples)}", samples=mean, of_means=of_means)]

    def _samples(self, rows: RunRows, seeds: int) -> list[Sample]:
        if self.relation.is_trend:
            return self._trends(rows, seeds)
        if self.is_level or self.is_gap:
            return [self._of_size(one, rows, seeds) for one in self.comparisons]
        if self.is_difference:
            says = self.relation.of_order(0.0)
            sums = [(one.name, self._sum(one, rows, seeds)) for one in self.comparisons]
            return [
                Sample(name=name, samples=values, says=says, only_signs=True) for name, values in sums if values.any()
            ]
        return [self._of_logarithms(one, rows, seeds) for one in self.comparisons]

    def without_events(self, rows: RunRows, seeds: int) -> list[str]:
        """Return the names of the differences of counts that are 0 in all runs, and so no samples."""
        listed = self.comparisons if self.is_difference else ()
        return [one.name for one in listed if not self._sum(one, rows, seeds).any()]

    def _sum(self, one: ComparedRuns, rows: RunRows, seeds: int, *, logarithms: bool = False) -> FloatArray:
        """Return the sum for each seed, of values or of their logarithms."""
        total = np.full(seeds, one.added)
        for weight, point in one.terms:
            values = rows.values(point, self.metric, seeds)
            total += weight * (np.log(values) if logarithms else values)
        return total

    def _of_size(self, one: ComparedRuns, rows: RunRows, seeds: int) -> Sample:
        """Return the sample of a value that is printed, in the unit of the claim."""
        says = self.relation.of_gap() if self.is_gap else self.relation.of_value()
        printed = self.relation.printed
        factor = UNITS.get(printed.unit, 1.0) if printed else 1.0
        samples = self._sum(one, rows, seeds) * factor * self.design.times(self.claim_id, self.setting)
        if not np.isfinite(samples).all():
            return Sample.silent(f"{one.name} (no value in some runs)", seeds)
        is_some = self.relation.is_ == "above" and printed is not None and float(printed.low) == 0
        if is_some and np.median(samples) == 0:
            return Sample.silent(f"{one.name} (0 in most runs)", seeds)  # what is rare happens in some run
        return Sample(name=one.name, samples=samples, says=says)

    def _of_logarithms(self, one: ComparedRuns, rows: RunRows, seeds: int) -> Sample:
        """Return the sample of a ratio; one that says nothing if a value is 0, or is not there, in some run."""
        if not all((rows.values(point, self.metric, seeds) > 0).all() for point in one.points):
            return Sample.silent(f"{one.name} (0 in some runs)", seeds)
        samples = self._sum(one, rows, seeds, logarithms=True)
        means = [weight * np.log(rows.values(point, self.metric, seeds).mean()) for weight, point in one.terms]
        says, of_means = self.relation.of_ratio(), one.added + float(np.sum(means))
        return Sample(name=one.name, samples=samples, says=says, logarithmic=True, of_means=of_means)

    def _trends(self, rows: RunRows, seeds: int) -> list[Sample]:
        """Return the samples of each series, in the order of its axis."""
        ratios = not (self.is_level or self.is_gap or known_metric(self.metric).zero)
        series: dict[tuple[object, ...], list[tuple[int, FloatArray]]] = {}
        for one in self.comparisons:
            sums_of = self._sum(one, rows, seeds, logarithms=ratios)
            series.setdefault(one.series, []).append((one.place, sums_of))
        names = [f"{_series_name(key)}: " if len(series) > 1 else "" for key in series]
        return [
            sample
            for name, values in zip(names, series.values(), strict=True)
            for sample in self._trend(_in_order(values), name, ratios)
        ]

    def _trend(self, series: FloatArray, name: str, logarithmic: bool) -> list[Sample]:
        """Return two samples: last against first, and Kendall's tau over the series; of one place, nothing."""
        if len(series) == 1:
            return [Sample.silent(f"{name}one place", series.size)]
        ends, equal = ("last over first", 1.0) if logarithmic else ("last minus first", 0.0)
        changed, rises = self.relation.of_order(equal), self.relation.of_order(0.0)
        tau = np.array([kendall(one) for one in series.T])
        difference = series[-1] - series[0]
        return [
            Sample(name=f"{name}{ends}", samples=difference, says=changed, logarithmic=logarithmic),
            Sample(name=f"{name}{TAU}", samples=tau, says=rises),
        ]

    def value(self, decision: Decision) -> Value:
        """Return what a decision rests on, in the unit of the claim."""
        quantity = self.quantity
        intervals = decision.intervals.items()
        shown = [one for name, one in intervals if quantity != TAU or name.endswith(TAU)]
        return Value(quantity, *self._in_one_range(shown))

    @property
    def is_printed_level(self) -> bool:
        """Whether it prints the value of one point."""
        return self.relation.is_ == "equal" and self.is_level and len(self.comparisons) == 1

    def is_off(self, rows: RunRows, seeds: int, relative: float) -> bool:
        """Return whether the median over the seeds that are there is off what is printed by more than a part of it."""
        printed = self.relation.printed
        if printed is None or printed.is_range or not rows.has(self.points, seeds):
            return False
        (sample,) = self.samples(rows, seeds)
        distance = abs(float(np.median(sample.samples)) - float(printed.low))
        return not sample.is_silent and distance > relative * abs(float(printed.low))

    def times_printed(self, values: Iterable[float]) -> float:
        """Return the factor by which the worst value of all points is off print; 0 if what is printed has no factor."""
        if self.is_gap or self.relation.is_trend:
            return 0.0
        return self.relation.times_printed(values, of_ratio=not self.is_level)

    def _in_one_range(self, intervals: Sequence[Interval]) -> tuple[tuple[float, ...], tuple[float, ...]]:
        in_unit = self.relation.in_unit
        values = sorted(in_unit(one.value) for one in intervals)
        if len(values) != 1:
            return tuple(values[:1] + values[1:][-1:]), ()
        low, high = sorted(in_unit(end) for end in (intervals[0].low, intervals[0].high))
        return tuple(values), (low, high) if np.isfinite(high - low) else ()


def compared_columns(design: Design) -> list[str]:
    """Return the columns of a run that claims of a study compare, in some setting, by name."""
    claims = [name for name, claim in design.claims.items() if claim.is_simulated]
    statements = [Statement(design, claim, setting) for claim in claims for setting in design.settings]
    return sorted({column for one in statements for column in one.columns})


def _in_order(values: list[tuple[int, FloatArray]]) -> FloatArray:
    """Return the values of a series in the order of their places."""
    return np.array([value for _, value in sorted(values, key=lambda one: one[0])])


def _series_name(key: tuple[object, ...]) -> str:
    return ", ".join(str(one[1]) if isinstance(one, tuple) else str(one) for one in key)
