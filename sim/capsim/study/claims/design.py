"""What the claims of a study compare: runs at points of its axes.

A claim replaces, at each point that it selects, some values by those of its *subject* and by those of its *baseline*,
and compares the two: one scheme with another, eight subflows with one, with long flows and without. What it compares is
a sum of logarithms (of values, where a metric can be 0, a size is printed in a unit, or there is no baseline) with the
weights of its terms.
"""

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from itertools import combinations, product
from math import isnan, nan
from typing import Any

import msgspec

from capsim.base.bounds import shortened
from capsim.fabric.traffic import Poisson
from capsim.results.load_record import SETTLED, settled_before
from capsim.run.needs import expected_cpu_s
from capsim.study.claims.relations import TRENDS
from capsim.study.file import Claim, PrintedTable, Term, claims_of
from capsim.study.metrics import METRICS
from capsim.study.points import Label, Point, Runs, Scale, point_name
from capsim.study.template import filled
from capsim.study.texts import check_percentile
from capsmodel.checks import ParameterError, check_known, require
from capsmodel.experiments.manifest import canonical_json
from capsmodel.experiments.statistics.robustness import TEXT

__all__ = ["FROM_EMPTY", "UNKNOWN_COST_S", "ComparedRuns", "Design"]

FROM_EMPTY = "from empty"
"""Mark of a claim whose runs begin with an empty network, and end before it is at its load."""
UNKNOWN_COST_S = 10.0
"""What a run that simulates no scenario is taken to cost before one is made, in seconds of processor time."""


@dataclass(frozen=True)
class ComparedRuns:
    """Runs of one seed that a claim compares.

    Attributes
    ----------
    name : str
        For people.
    terms : tuple
        Weight and point of each; logarithms, or values, are added with their weights.
    series : tuple
        The same for all comparisons of one trend.
    place : int
        Where in its trend it stands.
    added : float
        What a model says, added to the sum.
    """

    name: str
    terms: tuple[tuple[float, Point], ...]
    series: tuple[Any, ...] = ()
    place: int = 0
    added: float = 0.0

    @property
    def points(self) -> list[Point]:
        """Return the points that it needs."""
        return [point for _, point in self.terms]


_Values = dict[str, Any]


@dataclass(frozen=True)
class _Side:
    """Values of axes that replace those of a point, and the point by which the side is divided."""

    values: _Values
    over: _Values | None

    def name(self) -> str:
        """Return it in words."""
        return point_name(self.values.items())


@dataclass(frozen=True)
class Design(Runs):
    """A study: what it may run, and what its claims compare."""

    @cached_property
    def claims(self) -> Mapping[str, Claim]:
        """Return the claims by id: of panels, of tables, and those in neither."""
        claims: dict[str, Claim] = {}
        for claim in claims_of(self.source, self._row_label):
            require(claim.id not in claims, f"{self.name}.toml: two claims have the id {claim.id}: rename one")
            claims[claim.id] = claim
        return claims

    def _row_label(self, table: PrintedTable, row: str, where: str) -> Label:
        """Return the value of its axis that a row of a printed table stands for."""
        self._check_axes([table.axis], where)
        axis = self.axes[table.axis]
        return axis.value({str(value): value for value in axis.values}.get(row, row), f"{where}.rows")

    def about(self, claim_id: str) -> "Design":
        """Return the study of one of its claims alone."""
        file = msgspec.structs.replace(self.source.file, panel=(), table=(), claim=(self.claims[claim_id],))
        return replace(self, source=replace(self.source, file=file))

    def with_seeds(self, seeds: int) -> "Design":
        """Return the study with other seeds: at most so many, where claims are analysed.

        Raises
        ------
        ParameterError
            If a study with claims cannot be analysed with so many.
        """
        return replace(self, source=self.source.with_seeds(seeds))

    def check_values(self, points: Sequence[Point]) -> None:
        """Refuse two values of an axis that give the same run at every point: the points would be one under two names.

        A parameter that only some schemes have makes no difference to the others, so the schemes are tried in turn.
        """
        there = set(points)
        for name, axis in self.axes.items():
            alike = list(combinations(axis.values, 2))
            compared: set[tuple[Any, Any]] = set()
            for rest in _schemes_in_turn(points, name) if alike else ():
                at = {
                    value: tuple((key, value if key == name else one) for key, one in rest)
                    for pair in alike
                    for value in pair
                }
                runs = {value: self.arguments(point) for value, point in at.items() if point in there}
                both = [pair for pair in alike if pair[0] in runs and pair[1] in runs]
                compared.update(both)
                alike = [pair for pair in alike if pair not in both or runs[pair[0]] == runs[pair[1]]]
                if not alike:
                    break
            for one, other in (pair for pair in alike if pair in compared):
                message = f"{self.name}.toml: axes.{name}: {shortened(one)} and {shortened(other)} give the same runs"
                raise ParameterError(f"{message}: leave one out")

    def metric(self, claim_id: str, setting: str = TEXT) -> str:
        """Return the metric that a claim compares in a setting."""
        metric, where = self.claims[claim_id].metric, f"{self.name}.toml: {claim_id}"
        require(bool(metric), f"{where}: metric is missing: name what is compared, as in mean_fct_short_s")
        first = tuple((name, axis.first) for name, axis in self.axes.items())
        name = str(filled(metric, self._known(first, setting, "paper"), where=f"{where}.metric"))
        if self.source.file.scenario:
            check_percentile(name, f"{where}.metric")
            check_known(name, METRICS, f"{where}: there is no metric {name}")
        return name

    def reconstructed(self, claim_id: str) -> str:
        """Return the schemes of a claim that are reconstructions of a few sentences, with commas between."""
        if not self.source.file.scenario:
            return ""
        points = {point for one in self.comparisons(claim_id) for point in one.points}
        names = {self.scheme(point) for point in points}
        return ", ".join(sorted(name for name in names if self._find(name).reconstructed))

    def settled(self, claim_id: str) -> float:
        """Return the least settled share expected at the points of a claim; NaN where no traffic has a rate."""
        if not self.source.file.scenario:
            return nan
        shares = (self._settled(point) for one in self.comparisons(claim_id) for point in one.points)
        return min((share for share in shares if not isnan(share)), default=nan)

    def _settled(self, point: Point) -> float:
        scenario = self.described(point).scenario
        rated = tuple(entry for entry in scenario.traffic if isinstance(entry, Poisson))
        key = canonical_json([rated, scenario.fabric, scenario.warm_up_s])
        if rated and key not in self._shares:
            fabric = scenario.fabric.build()
            self._shares[key] = settled_before(rated, fabric, warm_up_s=scenario.warm_up_s)
        return self._shares[key] if rated else nan

    @cached_property
    def _shares(self) -> dict[str, float]:
        return {}

    def begins(self, claim_id: str) -> str:
        """Return ``from empty`` where runs of a claim are not at their load, and the paper does not print their length.

        The criterion is `SETTLED`; empty otherwise.
        """
        return FROM_EMPTY if not self.source.file.length and self.settled(claim_id) < SETTLED else ""

    def times(self, claim_id: str, setting: str = TEXT) -> float:
        """Return what the value of a claim is multiplied by in a setting."""
        times, where = self.claims[claim_id].times, f"{self.name}.toml: {claim_id}: times"
        if not isinstance(times, str):
            return times
        first = tuple((name, axis.first) for name, axis in self.axes.items())
        value = filled(times, self._known(first, setting, "paper"), where=where)
        require(isinstance(value, int | float), f"{where} = {times!r} gives {value!r}, but it must be a number")
        return float(value)

    def expected_cpu_s(self, point: Point, setting: str = TEXT, scale: Scale = "paper") -> float:
        """Return about how much processor time a run takes before one is made, in seconds."""
        if not self.source.file.scenario:
            return UNKNOWN_COST_S
        key = (point, setting, scale)
        if key not in self._expected_s:
            runs = int(self.arguments(*key).get("runs", 1))
            self._expected_s[key] = runs * expected_cpu_s(self.described(*key).scenario)
        return self._expected_s[key]

    @cached_property
    def _expected_s(self) -> dict[tuple[Point, str, Scale], float]:
        """Return what was expected so far: to draw the flows of a run takes hundredths of a second, for each seed."""
        return {}

    def points(self, setting: str = TEXT, *, sampled: bool = False, claims: Iterable[str] | None = None) -> list[Point]:
        """Return the points that claims need, and those of panels without a claim; of a study with neither, all.

        Parameters
        ----------
        setting : str
            Name of one of `settings`.
        sampled : bool
            Only where settings are compared.
        claims : iterable of str, optional
            Those of some claims alone.
        """
        file = self.source.file
        listed = [one for one in self.claims if self.claims[one].is_simulated] if claims is None else list(claims)
        points = {
            point: None for one in listed for each in self.comparisons(one, sampled=sampled) for point in each.points
        }
        if claims is None:
            alone = [panel for panel in file.panel if not panel.claims]
            points |= {point: None for panel in alone for point in self.selected(panel.at, where="panel.at")}
            points |= {} if file.panel or listed else dict.fromkeys(self.selected({}))
        return list(points)

    def comparisons(self, claim_id: str, *, sampled: bool = False) -> tuple[ComparedRuns, ...]:
        """Return what a claim compares, at all points or at those where settings are compared.

        A trend is compared at all points in all settings: that of two places need not be that of the whole series.

        Raises
        ------
        ParameterError
            If an axis or value that it names is not there.
        """
        if claim_id not in self._compared:
            self._compared[claim_id] = self._comparisons(claim_id)
        compared = self._compared[claim_id]
        if not sampled or self._sampled is None or self.claims[claim_id].is_ in TRENDS:
            return compared
        return tuple(one for one in compared if all(_own(point) in self._sampled for point in one.points))

    @cached_property
    def _sampled(self) -> frozenset[Point] | None:
        """Return the points where settings are compared; None of all."""
        at = self.source.file.unstated_at
        return frozenset(self.selected(at, where=self._at("unstated_at"))) if at else None

    @cached_property
    def _compared(self) -> dict[str, tuple[ComparedRuns, ...]]:
        return {}

    def _comparisons(self, claim_id: str) -> tuple[ComparedRuns, ...]:
        claim, where = self.claims[claim_id], f"{self.name}.toml: {claim_id}"
        pairs = list(self._pairs(claim, where))
        listed = [one for subject, baseline in pairs for one in self._of_pair(claim, subject, baseline, where)]
        if claim.average == "baseline":
            listed = _averaged(listed)
        fits = not claim.expected or len(claim.expected) == len(listed)
        require(fits, f"{where}: expected has {len(claim.expected)} numbers, but {len(listed)} points are compared")
        require(bool(listed), f"{where}: no point is compared: its subject is its baseline, or nothing is selected")
        added = claim.expected or (0.0,) * len(listed)
        return tuple(replace(one, added=number) for one, number in zip(listed, added, strict=True))

    def _pairs(self, claim: Claim, where: str) -> Iterator[tuple[_Side, _Side | None]]:
        if claim.pairs:
            for subject, baseline in claim.pairs:
                yield self._side(subject, claim, where), self._side(baseline, claim, where)
            return
        subjects = [self._side(one, claim, where) for one in _several(claim.subject)] or [
            _Side({}, self._over(claim.over))
        ]
        baselines: list[_Side | None] = [self._side(one, claim, where) for one in _several(claim.baseline)]
        yield from product(subjects, baselines or [None])

    def _side(self, term: Term, claim: Claim, where: str) -> _Side:
        values = {"scheme": term} if isinstance(term, str) else dict(term)
        over = self._over(values.pop("over", claim.over))
        return _Side(self._checked(values, where), over)

    def _over(self, term: Term) -> _Values | None:
        return None if term == "" else {"scheme": term} if isinstance(term, str) else dict(term)

    def _checked(self, values: _Values, where: str) -> _Values:
        self._check_axes([name for name in values if name != "study"], where)
        return {name: one if name == "study" else self.axes[name].value(one, where) for name, one in values.items()}

    def _of_pair(self, claim: Claim, subject: _Side, baseline: _Side | None, where: str) -> Iterator[ComparedRuns]:
        """Yield the comparison at each point."""
        replaced = {*subject.values, *(baseline.values if baseline else ())}
        for point in self.selected(claim.at, without=replaced, where=f"{where}.at"):
            terms = [*self._terms(1.0, point, subject, where)]
            terms += self._terms(-1.0, point, baseline, where) if baseline else []
            values = dict(point) | {name: one for name, one in subject.values.items() if name in self.axes}
            x = claim.x or self._first_axis
            series = tuple((name, one) for name, one in values.items() if name != x)
            name = point_name(self._named(subject, baseline, point)) or "the only point"
            place = list(self.axes[x].values).index(values[x]) if x in values else 0
            yield ComparedRuns(name, tuple(terms), (*series, *([baseline.name()] if baseline else [])), place)

    @cached_property
    def _first_axis(self) -> str:
        """Return the axis that a trend is over unless it says another."""
        several = [name for name, axis in self.axes.items() if len(axis.values) > 1]
        return next((name for name in several if name != "scheme"), next(iter(self.axes)))

    def _terms(self, weight: float, point: Point, side: _Side, where: str) -> Iterator[tuple[float, Point]]:
        """Yield the terms of a side of a comparison at a point."""
        yield weight, self._with(point, side.values)
        if side.over is not None:
            yield -weight, self._with(point, side.values | self._checked(side.over, where))

    def _with(self, point: Point, values: _Values) -> Point:
        """Return a point with other values of some axes, in the order of the axes."""
        all_values = dict(point) | values
        missing = [name for name in self.axes if name not in all_values]
        names = [name for name in (*self.axes, "study") if name in all_values]
        require(not missing, f"{self.name}.toml: a side of a comparison says no {', '.join(missing)}: name its value")
        return tuple((name, all_values[name]) for name in names)

    def _named(self, subject: _Side, baseline: _Side | None, point: Point) -> Iterator[tuple[str, Label]]:
        """Yield the values by which a comparison differs from others of its claim."""
        several = {name for name, axis in self.axes.items() if len(axis.values) > 1}
        if subject.values:
            yield "", subject.name() + (f" against {baseline.name()}" if baseline else "")
        yield from ((name, one) for name, one in point if name in several)


def _schemes_in_turn(points: Iterable[Point], axis: str) -> list[Point]:
    """Return a point for each choice of all values but those of an axis; one of each scheme first, then another."""
    rests = {tuple(pair for pair in point if pair[0] != axis): point for point in points}
    seen: Counter[Any] = Counter()
    turns = []
    for point in rests.values():
        scheme = "" if axis == "scheme" else dict(point).get("scheme")
        turns.append(seen[scheme])
        seen[scheme] += 1
    return [point for _, point in sorted(zip(turns, rests.values(), strict=True), key=lambda one: one[0])]


def _several(terms: Term | tuple[Term, ...]) -> list[Term]:
    """Return one term or several, each with one value of an axis: a list of values is a term for each."""
    listed = list(terms) if isinstance(terms, tuple | list) else [terms]
    every: list[Term] = []
    for term in listed:
        if isinstance(term, str):
            every.append(term)
            continue
        lists = {name: one if isinstance(one, list) else [one] for name, one in term.items()}
        every += [dict(zip(lists, values, strict=True)) for values in product(*lists.values())]
    return every


def _own(point: Point) -> Point:
    return tuple(pair for pair in point if pair[0] != "study")


def _averaged(listed: list[ComparedRuns]) -> list[ComparedRuns]:
    """Return the mean over those comparisons that have the same baseline."""
    groups: dict[Point, list[ComparedRuns]] = {}
    for one in listed:
        groups.setdefault(one.terms[1][1], []).append(one)
    return [
        replace(group[0], name=group[0].name, terms=tuple((w / len(group), p) for one in group for w, p in one.terms))
        for group in groups.values()
    ]
