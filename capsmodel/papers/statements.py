"""Statements of claims: schemes at places of a sweep, and how samples of it are read.

A *term* is a scheme at a place. A comparison adds and subtracts terms of one seed, whose schemes all have the same
flows: logarithms of metrics above 0, so that their mean is a ratio, and counts and shares as they are. The relation of
the claim (``data/papers/README.md``) says what the sum must be.
"""

from collections.abc import Container, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import Any

import numpy as np
from pandas import DataFrame

from capsim import schemes
from capsim.study.decide import Sample
from capsim.study.relations import Relation
from capsmodel.checks import FloatArray, ParameterError
from capsmodel.experiments.words import above, below, kendall
from capsmodel.papers.index import Claim, Quantity
from capsmodel.papers.metric_columns import COLUMNS, COUNTED, ORDERS_OF_MAGNITUDE, SHARES, UNITS
from capsmodel.papers.verdicts import printed_of

__all__ = ["Comparison", "Runs", "Statement", "Term", "compared", "levels", "relation_of", "same_scheme"]

Term = tuple[str, str]
TAU: Quantity = "Kendall's tau"


class Runs:
    """Rows of runs, by scheme, place and seed.

    Parameters
    ----------
    frame : DataFrame
        Columns `scheme`, `place`, `seed` (1, 2, ...), and one for each metric.
    """

    def __init__(self, frame: DataFrame) -> None:
        self._rows: dict[Term, DataFrame] = {}
        self._columns: dict[tuple[Term, str], FloatArray] = {}
        if not frame.empty:
            for (scheme, place), rows in frame.set_index("seed").sort_index().groupby(["scheme", "place"]):
                self._rows[str(scheme), str(place)] = rows[rows.index == np.arange(1, len(rows) + 1)]

    def has(self, terms: Iterable[Term], seeds: int) -> bool:
        """Return whether the first `seeds` seeds of all terms are there."""
        return all(term in self._rows and len(self._rows[term]) >= seeds for term in terms)

    def values(self, term: Term, column: str, seeds: int) -> FloatArray:
        """Return a column of the first `seeds` seeds, which have to be there."""
        if (term, column) not in self._columns:
            found = self._rows[term][SHARES.get(column, column)].to_numpy(np.float64)
            self._columns[term, column] = found / (1 + found) if column in SHARES else found
        return self._columns[term, column][:seeds]


@dataclass(frozen=True)
class Comparison:
    """Terms that are added (+1) and subtracted (-1), and their name for people.

    `added` is a number that is added to the sum: the logarithm of what a model says, where a measured ratio is compared
    with it. `series` tells apart the comparisons of one trend from those of another with the same schemes.
    """

    name: str
    terms: tuple[tuple[int, Term], ...]
    added: float = 0.0
    series: str = ""

    @property
    def schemes(self) -> set[str]:
        """Return the schemes in it."""
        return {scheme for _, (scheme, _) in self.terms}

    @property
    def places(self) -> set[str]:
        """Return the places in it."""
        return {place for _, (_, place) in self.terms}


@dataclass(frozen=True, kw_only=True)
class Statement:
    """What a claim compares.

    Attributes
    ----------
    comparisons : tuple of Comparison
        One for each point; in the order of the sweep for a trend.
    column : str
        Column of a run; that of the claim's metric when left out.
    size : float
        Ratio that a claim with a word of size, such as "much", has to pass.
    gap : bool
        Whether the claim prints the size of the sum itself, a difference in its unit, and no ratio.
    average : bool
        Whether the claim is about the mean over the comparisons, of ratios the geometric one.
    times : float
        What a level is multiplied by: the runs that a printed count is the sum of, or the share of all traffic that is
        looked at.
    direction : str
        ``"lower"`` or ``"higher"``: what a claim about the place of an optimum says against all other places.
    note : str
        Reading that was chosen, for the reason of the verdict.
    """

    comparisons: tuple[Comparison, ...]
    column: str = ""
    size: float | None = None
    gap: bool = False
    average: bool = False
    times: float = 1.0
    direction: str = ""
    note: str = ""

    def at(self, places: Iterable[str]) -> "Statement":
        """Return the statement at some places only."""
        chosen = set(places)
        return replace(self, comparisons=tuple(one for one in self.comparisons if one.places <= chosen))

    @property
    def simulated(self) -> "Statement":
        """Return the statement about those schemes that the simulator has."""
        known = schemes().keys()
        return replace(self, comparisons=tuple(one for one in self.comparisons if one.schemes <= known))

    @property
    def terms(self) -> set[Term]:
        """Return everything that has to be run."""
        return {term for one in self.comparisons for _, term in one.terms}

    def points(self, claim: Claim, runs: Runs, seeds: int) -> list[Sample]:
        """Return the points that the first `seeds` seeds give; without those where a difference is 0 throughout."""
        found = self._points(claim, runs, seeds)
        if not (self.average and found):
            return found
        unknown = [one for one in found if one.is_silent]
        mean = np.mean([one.samples for one in found], axis=0)
        return unknown[:1] or [replace(found[0], name=f"mean of {len(found)}", samples=mean)]

    def _points(self, claim: Claim, runs: Runs, seeds: int) -> list[Sample]:
        column = self.column_of(claim)
        if self.direction:
            claim = replace(claim, relation="ordering", unit=self.direction)
        if _is_trend(claim):
            return self._trends(claim, column, runs, seeds)
        if self._is_level or self.gap:
            return [self._of_size(claim, one, column, runs, seeds) for one in self.comparisons]
        if self._is_order_of_counts(claim):
            sides, sums = (
                relation_of(claim).of_order(0.0),
                [(one.name, _sum(one, column, runs, seeds)) for one in self.comparisons],
            )
            return [
                Sample(name=name, samples=found, met=sides[0], holds=sides[1]) for name, found in sums if found.any()
            ]
        return [self._of_logarithms(claim, one, column, runs, seeds) for one in self.comparisons]

    def without_events(self, claim: Claim, points: Container[str]) -> list[str]:
        """Return the names of the comparisons of counts that are no points, since they are 0 in all runs."""
        names = [one.name for one in self.comparisons] if self._is_order_of_counts(claim) else []
        return [name for name in names if name not in points]

    def has_signs_only(self, claim: Claim) -> bool:
        """Return whether the points are differences that have to be above or below 0, and neither sizes nor ratios."""
        return _is_trend(claim) or self._is_order_of_counts(claim)

    def quantity(self, claim: Claim) -> Quantity:
        """Return what the value for a claim is: of a trend, Kendall's tau alone, as last minus first has a unit."""
        if _is_trend(claim):
            return TAU
        if self._is_order_of_counts(claim):
            return "difference"
        in_unit = claim.relation in ("reduction_pct", "increase_pct") or claim.unit == ORDERS_OF_MAGNITUDE
        return "" if in_unit or self._is_level or self.gap else "ratio"

    def _is_order_of_counts(self, claim: Claim) -> bool:
        is_order = claim.relation == "ordering" or bool(self.direction)
        return is_order and self.column_of(claim) in COUNTED and not (self._is_level or self.gap)

    def column_of(self, claim: Claim) -> str:
        """Return the column of a run that is compared."""
        return self.column or COLUMNS[claim.metric]

    def _trends(self, claim: Claim, column: str, runs: Runs, seeds: int) -> list[Sample]:
        """Return the points of each series: the comparisons that are about the same schemes, unless they name one."""
        series: dict[str, list[FloatArray]] = {}
        ratios = not (self._is_level or self.gap or column in COUNTED)
        for one in self.comparisons:
            name = one.series or ", ".join(sorted(one.schemes))
            series.setdefault(name, []).append(_sum(one, column, runs, seeds, logarithms=ratios))
        names = [f"{name}: " if len(series) > 1 else "" for name in series]
        return [
            point
            for name, values in zip(names, series.values(), strict=True)
            for point in _trend(claim, np.array(values), name, logarithmic=ratios)
        ]

    def _of_size(self, claim: Claim, one: Comparison, column: str, runs: Runs, seeds: int) -> Sample:
        """Return the point of a value that is printed, in the unit of the claim."""
        relation = relation_of(claim)
        met, holds = relation.of_gap() if self.gap else relation.of_value()
        samples = _sum(one, column, runs, seeds) * UNITS.get(claim.unit, 1.0) * self.times
        if not np.isfinite(samples).all():
            return Sample.silent(f"{one.name} (no value in some runs)", seeds)
        if claim.relation == "greater_than" and float(claim.low) == 0 and not samples.any():
            return Sample.silent(f"{one.name} (0 in all runs)", seeds)  # what is rare may not have happened
        return Sample(name=one.name, samples=samples, met=met, holds=holds)

    def _of_logarithms(self, claim: Claim, one: Comparison, column: str, runs: Runs, seeds: int) -> Sample:
        """Return the point of a ratio; one that says nothing if a value is 0 in some run."""
        if not all((runs.values(term, column, seeds) > 0).all() for _, term in one.terms):
            return Sample.silent(f"{one.name} (0 in some runs)", seeds)
        relation = relation_of(claim, self.size)
        met, holds = relation.of_ratio()
        samples = _sum(one, column, runs, seeds, logarithms=True)
        return Sample(
            name=one.name, samples=samples, met=met, holds=holds, reached=relation.reached(), logarithmic=True
        )

    @property
    def _is_level(self) -> bool:
        return all(len(one.terms) == 1 for one in self.comparisons)


def relation_of(claim: Claim, size: float | None = None) -> Relation:
    """Return what a claim says, in the words of studies."""
    names = {
        "reduction_pct": "lower",
        "increase_pct": "higher",
        "ratio": "higher",
        "ordering": claim.unit,
        "less_than": "below",
        "greater_than": "above",
        "absolute": "equal",
        "approx": "equal",
        "trend": {"increasing": "rising", "decreasing": "falling", "flat": "close"}.get(claim.unit, ""),
    }
    units = {"reduction_pct": "%", "increase_pct": "%", "ratio": "x"}
    if claim.relation not in names:
        raise ParameterError(f"{claim.id}: {claim.relation!r} says nothing about a ratio")
    name = "close" if claim.unit in ("close", "flat") else names[claim.relation]
    printed = replace(printed_of(claim), unit=units.get(claim.relation, claim.unit))
    has_size = bool(claim.low or claim.high) and name != "close" and claim.relation not in ("ordering", "trend")
    return Relation(name, printed if has_size else None, 1.0 if size is None else size)


def _is_trend(claim: Claim) -> bool:
    return claim.relation == "trend" and claim.unit != "flat"


def _sum(one: Comparison, column: str, runs: Runs, seeds: int, *, logarithms: bool = False) -> FloatArray:
    """Return the sum for each seed, of values or of their logarithms."""
    total = np.full(seeds, one.added)
    for sign, term in one.terms:
        values = runs.values(term, column, seeds)
        total += sign * (np.log(values) if logarithms else values)
    return total


def _trend(claim: Claim, series: FloatArray, name: str, *, logarithmic: bool) -> list[Sample]:
    """Return two points of each seed: last against first, and Kendall's tau over the sweep; of one place, nothing."""
    if len(series) == 1:
        return [Sample.silent(f"{name}one place", series.size)]
    side = above if claim.unit == "increasing" else below
    tau = np.array([kendall(one) for one in series.T])
    ends, equal = ("last over first", 1.0) if logarithmic else ("last minus first", 0.0)
    changes, rises = (partial(side, bound=bound) for bound in (equal, 0.0))
    return [
        Sample(
            name=f"{name}{ends}", samples=series[-1] - series[0], met=changes, holds=changes, logarithmic=logarithmic
        ),
        Sample(name=f"{name}{TAU}", samples=tau, met=rises, holds=rises),
    ]


def compared(
    claim: Claim, places: Sequence[str], *, names: Mapping[str, str], baselines: Sequence[str] = (), **more: Any
) -> Statement:
    """Return the statement that the subject of a claim is compared with each baseline at each place.

    Parameters
    ----------
    claim : Claim
        Its schemes are those of the statement.
    places : sequence of str
        Where.
    names : mapping
        Name in the simulator of each scheme that the paper names.
    baselines : sequence of str
        In place of those of the claim, as the paper names them.
    **more
        Other attributes of :class:`Statement`.
    """
    others = list(baselines) or claim.baseline_scheme.split(";")
    subject = names[claim.subject_scheme]
    return Statement(
        comparisons=tuple(
            Comparison(f"{other}, {place}", ((1, (subject, place)), (-1, (names[other], place))))
            for other in others
            for place in places
        ),
        **more,
    )


def levels(schemes: Iterable[str], places: Sequence[str], **more: Any) -> Statement:
    """Return the statement about the value of each scheme, as the simulator calls it, at each place."""
    return Statement(
        comparisons=tuple(
            Comparison(f"{scheme}, {place}", ((1, (scheme, place)),)) for scheme in schemes for place in places
        ),
        **more,
    )


def same_scheme(schemes: Iterable[str], pairs: Iterable[tuple[str, str]], **more: Any) -> Statement:
    """Return the statement that each scheme at the first place of each pair is compared with itself at the second."""
    listed = list(pairs)
    return Statement(
        comparisons=tuple(
            Comparison(f"{scheme}, {one} and {other}", ((1, (scheme, one)), (-1, (scheme, other))))
            for scheme in schemes
            for one, other in listed
        ),
        **more,
    )
