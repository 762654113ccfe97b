"""The points of a study: what is run at each, in every setting and at every scale, and what claims compare.

A *point* has a value for each axis. A *setting* is a value for each thing that the paper leaves open: that of the text,
each alternative alone, and a two-level fraction of all combinations
(:mod:`capsmodel.experiments.statistics.designs`). A *scale* is that of the paper, the reduced one, or the quick one.

The arguments of a run follow from these three alone, and its id from its arguments
(:mod:`capsmodel.experiments.task`): equal runs of several studies are one run.
"""

from collections.abc import Iterable, Iterator, Mapping, Set
from dataclasses import dataclass, field, replace
from functools import cache, cached_property
from itertools import product
from pathlib import Path
from types import MappingProxyType
from typing import Any, Literal

import msgspec

from capsim.base.bounds import shortened
from capsim.protocols.registry import NICS
from capsim.protocols.registry import scheme as find
from capsim.roles.catalogue import parameters
from capsim.roles.components import Scheme
from capsim.roles.hooks import HOST_ROLES
from capsim.roles.scheme_files import file_of, is_reference
from capsim.scenario.profile import Filled
from capsim.scenario.profile import filled as filled_in
from capsim.scenario.scenario import Scenario, from_dict, load_scenario
from capsim.scenario.settings import Described, is_parameter, with_settings
from capsim.study.file import Label, Selection, Source, read_study
from capsim.study.measures import TaskList, measure
from capsim.study.scheme_runs import RunPoint, described_scheme, run_task
from capsim.study.template import SCHEME_NAME, Axis, Point, axes_of, filled, flat, is_template, names_in, point_name
from capsmodel.checks import ParameterError, check_known, did_you_mean, nearest, require
from capsmodel.experiments.manifest import canonical_json
from capsmodel.experiments.statistics.designs import Combination, fractional_factorial, one_at_a_time
from capsmodel.experiments.statistics.robustness import TEXT, combination_name
from capsmodel.experiments.task import Task
from capsmodel.units import parser_of

__all__ = ["Axis", "Label", "Point", "Runs", "Scale", "flat", "point_name"]

Scale = Literal["paper", "reduced", "quick"]

MOST_RUNS = 100_000
"""Of one study, whatever its seeds."""


@dataclass(frozen=True)
class Runs:
    """Everything that a study may run.

    Attributes
    ----------
    source : Source
        The file.
    changed : mapping
        Values of names and settings in place of those of the file, by name.
    text_only : bool
        Whether nothing but the setting of the text is tried.
    at_scale : str
        The scale of what is otherwise run at that of the paper.
    loads_files : bool
        Whether Python files that schemes are named after are run, to know their parameters; nothing can be run
        without.
    has_templates : bool
        Whether texts of the scenario are templates.
    schemes : mapping
        Schemes that are given as objects, by the name that stands for each.
    first_seed : int
        The runs of a point have this seed and the following ones; 1 where there are claims.
    """

    source: Source
    changed: Mapping[str, Any] = field(default_factory=dict)
    text_only: bool = False
    at_scale: Scale = "paper"
    loads_files: bool = True
    has_templates: bool = True
    schemes: Mapping[str, Scheme] = field(default_factory=dict)
    first_seed: int = 1

    @property
    def name(self) -> str:
        """Return that of the file."""
        return self.source.name

    def seeds(self, count: int) -> range:
        """Return the seeds of so many runs of a point."""
        return range(self.first_seed, self.first_seed + count)

    @cached_property
    def axes(self) -> Mapping[str, Axis]:
        """Return the axes by name."""
        axes = axes_of(self.source.file.axes, self.source.folder, self._at("axes"))
        for name, axis in axes.items():
            at = self._at("axes.seed" if name == "seed" else f"axes.{name}: seed")
            require("seed" not in axis.names, f"{at}: say how many seeds, as in seeds = 5")
        return MappingProxyType(axes)

    @cached_property
    def _pool(self) -> Mapping[str, Axis]:
        """Return all that is left open, whether this study tries it or not."""
        return axes_of(self.source.file.unstated, self.source.folder, self._at("unstated"))

    @cached_property
    def unstated(self) -> Mapping[str, Axis]:
        """Return what is left open and tried, in order."""
        vary = self.source.file.vary
        for name in vary or ():
            require(
                name in self._pool, f"{self._at('vary')}: {name} is not in [unstated]: {did_you_mean(name, self._pool)}"
            )
        return {name: self._pool[name] for name in (self._pool if vary is None else vary)}

    @cached_property
    def settings(self) -> Mapping[str, Combination]:
        """Return what differs from the text in each setting, by name: the text's, one at a time, then several."""
        if self.text_only:
            return MappingProxyType({TEXT: {}})
        tried = {name: tuple(axis.values) for name, axis in self.unstated.items() if len(axis.values) > 1}
        together = {name: values for name, values in tried.items() if not self.unstated[name].alone}
        combinations = [{}, *one_at_a_time(tried), *(fractional_factorial(together) if together else ())]
        return MappingProxyType({combination_name(one): one for one in combinations})

    @property
    def has_reduced(self) -> bool:
        """Whether settings are compared at a smaller scale."""
        return bool(self.source.file.reduced)

    def scale(self, *, sampled: bool) -> Scale:
        """Return the scale of the runs at all points, or of those where settings are compared."""
        return "reduced" if sampled and self.has_reduced else "paper"

    def _at(self, key: str) -> str:
        return f"{self.source.name}.toml: {key}"

    # What is run.

    def arguments(self, point: Point, setting: str = TEXT, scale: Scale = "paper") -> dict[str, Any]:
        """Return the arguments of the measurement of a run, but for its seed.

        Parameters
        ----------
        point : tuple
            A value for each axis.
        setting : str
            Name of one of `settings`.
        scale : str
            ``paper``, ``reduced`` or ``quick``.

        Raises
        ------
        ParameterError
            If something in the file does not fit; the text names the key.
        """
        other, own = self._of_study(point)
        if other is not self:
            return other.arguments(own)
        known = self._known(point, setting, scale)
        passed = filled(
            {k: v for k, v in self.source.file.measure.items() if k != "name"}, known, where=self._at("measure")
        )
        given = {key: value for key, value in passed.items() if value != ""}
        if not self.source.file.scenario:
            return given
        tables = self._scenario(known).tables
        return {"scenario": {k: v for k, v in tables.items() if k not in ("name", "notes")}} | given

    def described(self, point: Point, setting: str = TEXT, scale: Scale = "paper") -> Described:
        """Return what is simulated at a point, with its tables; errors as :meth:`arguments`."""
        other, own = self._of_study(point)
        return other.described(own) if other is not self else self._scenario(self._known(point, setting, scale))

    def scheme(self, point: Point, setting: str = TEXT) -> str:
        """Return what the scheme of a point is in the simulator."""
        other, own = self._of_study(point)
        if other is not self:
            return other.scheme(own)
        return self._known(point, setting, "paper").scheme or self.described(point, setting).scenario.scheme

    def _of_study(self, point: Point) -> tuple["Runs", Point]:
        if not point or point[-1][0] != "study":
            return self, point
        return self._other(str(point[-1][1])), point[:-1]

    def _other(self, name: str) -> "Runs":
        return _study(self.source.folder / f"{name}.toml")

    def _known(self, point: Point, setting: str, scale: Scale) -> "_Known":
        """Return what every name is at a point."""
        chosen = {name: axis.first for name, axis in self.unstated.items()} | dict(self.settings[setting])
        raw = dict(self._fixed)
        for name, value in chosen.items():
            raw |= self.unstated[name].values[value]
        for name, value in point:
            raw |= self.axes[name].values[value]
        raw |= self._set
        scale = self.at_scale if scale == "paper" else scale
        smaller = {} if scale == "paper" else flat(getattr(self.source.file, scale) or {})
        # A key of the scenario is a setting as one with a dot is, unless it is an axis or a name that templates use.
        fields = {name for name in raw if name in Scenario.__struct_fields__} - self._names_in_use
        return _Known(raw, self.source.file.let, smaller, self._at(""), fields - {"scheme"})

    @cached_property
    def _fixed(self) -> dict[str, Any]:
        """Return the first values of names that are left open and not tried here."""
        return {
            name: value
            for key, axis in self._pool.items()
            if key not in self.unstated and "." not in key and key not in self.source.file.let
            for name, value in axis.values[axis.first].items()
            if "." not in name
        }

    @cached_property
    def _set(self) -> dict[str, Any]:
        """Return what the values in `changed` set."""
        values: dict[str, Any] = {}
        for name, value in self.changed.items():
            message = f"{name} = {shortened(value)}"
            rule = f"it is an axis of {self.name}: change a setting that is not varied"
            require(name not in self.axes, f"{message}: {rule}")
            axis = self._pool.get(name)
            if axis is not None and axis.is_labelled:
                values |= axis.values[axis.value(value, message)]
                continue
            require(name != "seed", f"{message}: the seeds of a study are 1, 2, ...: say how many, as in seeds = 5")
            known = name in self._names or name in Scenario.__struct_fields__ or "." in name
            listed = sorted(self._names)
            require(
                known, f"{message}: {name} is neither a name of {self.name} nor a setting: {did_you_mean(name, listed)}"
            )
            parse = parser_of(name) if isinstance(value, str) and name in self._names and "." not in name else None
            values[name] = value if parse is None or is_template(value) else parse(value)  # as [let] has it: a number
        return values

    @cached_property
    def _names(self) -> frozenset[str]:
        """Return the names of the study."""
        axes = (*self.axes.values(), *self._pool.values())
        own = {name for axis in axes for patch in axis.values.values() for name in patch}
        return frozenset(own | {*self._pool, *self.source.file.let})

    def _scenario(self, known: "_Known") -> Described:
        """Return what is simulated, with what its profile fills in."""
        template = self._described_at(known)
        if not template.scenario.profile or self._is_unloaded(template.scenario.scheme):
            return template
        return Described.of(filled_in(template.scenario, self._find(template.scenario.scheme)).scenario)

    def _find(self, scheme: str) -> Scheme:
        return self.schemes[scheme] if scheme in self.schemes else find(scheme)

    def _parameters_of(self, scheme: str) -> frozenset[str]:
        return _all_of(self.schemes[scheme]) if scheme in self.schemes else _parameters_of(scheme)

    def _described_at(self, known: "_Known") -> Described:
        try:
            built, inherited = self._built(known)
            scheme = known.scheme or built.scenario.scheme
            first = {**inherited, **self._params(known), **known.settings}
            names = {name: one for name, one in first.items() if name not in known.last} | known.last
            fits_all = self._is_unloaded(scheme)
            known_to_it = frozenset() if fits_all else self._parameters_of(scheme)
            fitting = [name for name in names if fits_all or name in known_to_it or not is_parameter(name)]
            settings = {name: names[name] for name in fitting if names[name] is not None}
            return built.changed({"scheme": scheme, "compare": None, **settings})
        except ParameterError as error:
            raise ParameterError(f"{self._at('scenario')}: {str(error).removeprefix('scenario: ')}") from None

    def check_parameters(self, points: Iterable[Point]) -> None:
        """Refuse parameters of components that no scheme has, in any setting: nothing would use them.

        Those of the file are compared with the schemes of all points, of which a single claim has some, in whatever is
        left open, of which a study may try a part; those that were changed, with the schemes of these points.

        Parameters
        ----------
        points : iterable of Point
            What is run.

        Raises
        ------
        ParameterError
            If there is one; the text names the nearest parameter.
        """
        if not self.source.file.scenario:
            return
        axes = (*self.axes.values(), *self.unstated.values())
        changed = {name for axis in axes for patch in axis.values.values() for name in patch}
        changed |= {*flat(self._template.get("params", {}))}
        file = msgspec.structs.replace(self.source.file, vary=None)
        whole = replace(self, source=replace(self.source, file=file), text_only=False)
        for names, known in (
            (changed - {*self.changed}, whole._parameters_at(self.selected({}))),
            ({*self.changed}, whole._parameters_at(points)),
        ):
            if known is None:
                continue
            for name in filter(is_parameter, sorted(names)):
                check_known(name, known, f"{self.name}.toml: {name}: no scheme of the study has this parameter")

    def check_names(self) -> None:
        """Refuse a name that an axis, or what is left open, sets and no run depends on.

        A name with a dot is a setting, which is applied; another one must stand in braces in the scenario or in the
        arguments of the measurement, or in what follows from names there.

        Raises
        ------
        ParameterError
            If there is one; the text names it.
        """
        for axis in self.axes.values():
            for name in self._unused(axis):
                raise self._changes_no_run("axes", axis, name)
        file = self.source.file
        is_claim_alone = len(file.claim) == 1 and not (file.panel or file.table)  # others use what it does not
        for axis in () if is_claim_alone else self.unstated.values():
            unused = self._unused(axis)
            if unused and not axis.names - {axis.name, *unused}:  # a parent may set more than this study compares
                raise self._changes_no_run("unstated", axis, unused[0])

    def _unused(self, axis: Axis) -> list[str]:
        """Return the names that the values of an axis set and no run depends on; what its values are called is one."""
        is_label = axis.is_labelled and all(patch[axis.name] == label for label, patch in axis.values.items())
        names = sorted(axis.names - ({axis.name} if is_label else set()))
        return [name for name in names if not (name in self._names_of_runs or self._is_setting(name))]

    def _changes_no_run(self, table: str, axis: Axis, name: str) -> ParameterError:
        message = f"{self._at(table)}.{axis.name}{'' if name == axis.name else f': {name}'} changes no run"
        near = nearest(name, ["scheme", *sorted(self._names_of_runs)])
        meant = f"did you mean {near[0]}? Else " if near else ""
        remedy = f"write {{{name}}} where the scenario has it, or name what it sets, as in transport.min_rto_s"
        return ParameterError(f"{message}: {meant}{remedy}")

    def _is_setting(self, name: str) -> bool:
        """Return whether a name is applied to the scenario as it is."""
        if not self.source.file.scenario:
            return False
        is_field = name in Scenario.__struct_fields__ and name not in self._names_in_use
        return name == "scheme" or "." in name or is_field

    @cached_property
    def _names_of_runs(self) -> frozenset[str]:
        """Return the names on which runs, or what claims take of them, depend through templates."""
        file = self.source.file
        set_to: dict[str, list[Any]] = {name: [one] for name, one in file.let.items()}
        axes = (*self.axes.values(), *self._pool.values())
        for name, value in (pair for axis in axes for patch in axis.values.values() for pair in patch.items()):
            set_to.setdefault(name, []).append(value)
        claims = (*file.claim, *(claim for panel in file.panel for claim in (panel, *panel.claims)))
        of_claims = [(one.metric, one.times) for one in claims] + [one.columns for one in file.table]
        settings = [values for name, values in set_to.items() if self._is_setting(name)]
        names: set[str] = set()
        roots = [self._template if self.has_templates else {}, file.measure, of_claims, settings]
        left = {name for text in _texts(roots) for name in names_in(text)}
        while left:
            names |= left
            left = {name for one in left for text in _texts(set_to.get(one)) for name in names_in(text)} - names
        return frozenset(names)

    def filled(self, points: Iterable[Point]) -> dict[str, Filled]:
        """Return what each scheme of some points runs at the first of them, with the first seed, by scheme.

        Nothing of studies that simulate no scenario, or of other studies.
        """
        if not self.source.file.scenario:
            return {}
        first: dict[str, Point] = {}
        for point in points:
            if point[-1:][0][0] != "study":
                first.setdefault(str(dict(point).get("scheme", "")), point)
        runs = {name: self._described_at(self._known(point, TEXT, "paper")).scenario for name, point in first.items()}
        return {
            name: filled_in(one.replace(seed=self.first_seed), self._find(one.scheme)) for name, one in runs.items()
        }

    def _is_unloaded(self, scheme: str) -> bool:
        """Return whether a scheme is in a file that is not run."""
        return not self.loads_files and is_reference(scheme)

    def _parameters_at(self, points: Iterable[Point]) -> list[str] | None:
        """Return the parameters that some scheme of these points has, in some setting; None if one is not loaded."""
        by_label = {dict(point).get("scheme"): point for point in points}
        schemes = {self.scheme(point, setting) for point in by_label.values() for setting in self.settings}
        if any(map(self._is_unloaded, schemes)):
            return None
        return sorted({name for scheme in schemes for name in self._parameters_of(scheme)})

    @cached_property
    def _template(self) -> Mapping[str, Any]:
        scenario = self.source.file.scenario
        return {"base": scenario} if isinstance(scenario, str) else scenario

    def _params(self, known: "_Known") -> dict[str, Any]:
        return flat(filled(self._template.get("params", {}), known, where=self._at("scenario.params")))

    def _built(self, known: "_Known") -> tuple[Described, dict[str, Any]]:
        """Return what is simulated before scheme, parameters and settings, and the parameters of its base.

        Points with equal names share it. Parameters of the base are for those schemes that have them, as all others.
        """
        try:
            key = canonical_json({name: known(name) for name in self._names_of_tables if known.has(name)})
        except ParameterError:  # a name without a value here, which stands in an entry that is left out here
            key = ""
        if not key or key not in self._made:
            scenario = self._read(known)
            self._made[key] = Described.of(scenario.replace(params={})), flat(scenario.params)
        return self._made[key]

    @cached_property
    def _made(self) -> dict[str, tuple[Described, dict[str, Any]]]:
        return {}

    @cached_property
    def _tables(self) -> Mapping[str, Any]:
        return {name: one for name, one in self._template.items() if name != "params"}

    @cached_property
    def _names_in_use(self) -> frozenset[str]:
        axes = (*self.axes.values(), *self._pool.values())
        filled_in = (self.source.file.let, self.source.file.measure, *(axis.values for axis in axes))
        used = {name for text in _texts(filled_in) for name in names_in(text)}
        return frozenset(used | {*self.axes, *self._pool}) | self._names_of_tables

    @cached_property
    def _names_of_tables(self) -> frozenset[str]:
        texts = _texts(self._tables) if self.has_templates else ()
        return frozenset(name for text in texts for name in names_in(text))

    def _read(self, known: "_Known") -> Scenario:
        folder, where = self.source.folder, self._at("scenario")
        base = filled(self._tables.get("base"), known, where=f"{where}.base")
        made = {name: one for name, one in self._tables.items() if name != "base"}
        made = filled(made, known, where=where) if self.has_templates else made
        if base is None:
            return from_dict(made, folder=folder)
        built = _loaded(beside(str(base), folder))
        if isinstance(made.get("traffic"), list):
            built = from_dict(built.to_dict() | {"traffic": made.pop("traffic")})
        return with_settings(built, flat(made)) if made else built

    def tasks(
        self,
        points: Iterable[Point],
        seeds: Iterable[int],
        *,
        setting: str = TEXT,
        scale: Scale = "paper",
        results: Path | None = None,
    ) -> TaskList[Point]:
        """Return a task for each point and seed, made when it is asked for; equal runs are equal tasks.

        With `results`, each run saves its result there (:func:`capsim.study.scheme_runs.run_task`).
        """
        named = str(self.source.file.measure.get("name", ""))
        schemes: dict[str, dict[str, Any]] = {}  # a scheme is described once for all points of this list

        def made(point: Point, seed: int) -> Task:
            if named:
                arguments = {"seed": seed, **self.arguments(point, setting, scale)}
                return Task(measure(named), **arguments)
            described = self.described(point, setting, scale)
            scenario = described.scenario
            file = "" if scenario.scheme in self.schemes else file_of(scenario.scheme)
            run_point = RunPoint(dict(point), scenario, self._find(scenario.scheme), file)
            stacks = [entry.stack for entry in scenario.traffic if entry.stack is not None]
            key = canonical_json([scenario.scheme, scenario.nic, scenario.params, stacks])
            if stacks or key not in schemes:
                schemes[key] = described_scheme(run_point)
            known = {"scheme": schemes[key], "tables": described.tables}
            return run_task(run_point, engine=self.source.file.engine, results=results, **known).with_seed(seed)

        return TaskList(points, seeds, made)

    # Which points there are.

    def selected(self, at: Selection, *, without: Iterable[str] = (), where: str = "at") -> list[Point]:
        """Return the points that values of axes select, in the order of the axes; of all axes but some.

        Raises
        ------
        ParameterError
            If there is no such axis or value.
        """
        left_out = set(without)
        tables = [at] if isinstance(at, dict) else list(at) or [{}]
        points: dict[Point, None] = {}
        for table in tables:
            self._check_axes(table, where)
            values = {name: self._chosen(name, table, where) for name in self.axes if name not in left_out}
            points |= dict.fromkeys(tuple(zip(values, point, strict=True)) for point in product(*values.values()))
        return list(points)

    def _check_axes(self, names: Iterable[str], where: str) -> None:
        for name in names:
            check_known(name, self.axes, f"{where}: there is no axis {name}")

    def _chosen(self, name: str, table: Mapping[str, Any], where: str) -> list[Label]:
        """Return the values of an axis that a table selects, in the order of the axis."""
        axis = self.axes[name]
        if name not in table:
            return list(axis.values)
        values = table[name] if isinstance(table[name], list | tuple) else [table[name]]
        chosen = [axis.value(one, f"{where}.{name}") for one in values]
        require(bool(chosen), f"{where}.{name} is empty, so that nothing is selected: name a value, or leave it out")
        return [value for value in axis.values if value in chosen]


def _texts(value: Any) -> Iterator[str]:
    """Yield the texts in tables and lists."""
    if isinstance(value, str):
        yield value
    for one in value.values() if isinstance(value, Mapping) else value if isinstance(value, list | tuple) else ():
        yield from _texts(one)


@cache
def _parameters_of(scheme: str) -> frozenset[str]:
    return _all_of(find(scheme))


def _all_of(scheme: Scheme) -> frozenset[str]:
    """Return the parameters of a scheme by the names that set them, with those of any NIC and those it leaves unread.

    What is left unread has no effect; it goes to the run, so that a remark names it.
    """
    read = {one.setting for nic in NICS.values() for one in parameters(scheme.with_nic(nic))}
    parts = ((role, getattr(stack, role).params) for stack in scheme.stacks for role in HOST_ROLES)
    return frozenset(read | {f"{role}.{name}" for role, params in parts for name in getattr(params, "unread", ())})


@cache
def _loaded(base: str) -> Scenario:
    return load_scenario(base)


def beside(name: str, folder: Path) -> str:
    """Return the file `name` in `folder` if there is one, else the name as it is."""
    file = folder / name
    return str(file) if file.is_file() else name


@cache
def _study(path: Path) -> Runs:
    return Runs(read_study(path))


class _Known:
    """The value of every name at a point, as far as it is asked for.

    Parameters
    ----------
    raw : mapping
        What values of axes and settings set: names, and settings of the simulator with a dot.
    let : mapping
        What follows from them.
    smaller : mapping
        New values at a smaller scale; names that are not among them keep that of the paper's.
    where : str
        Begins the text of an error.
    fields : set of str
        Names without a dot that are settings all the same: fields of a scenario.
    """

    def __init__(
        self,
        raw: Mapping[str, Any],
        let: Mapping[str, Any],
        smaller: Mapping[str, Any],
        where: str,
        fields: Set[str],
    ) -> None:
        self._raw, self._let, self._where = raw, {name: one for name, one in let.items() if name not in raw}, where
        self._filled: dict[str, Any] = {}
        self._pending: set[str] = set()
        self.settings = {name: self(name) for name in raw if name in fields or ("." in name and name != SCHEME_NAME)}
        for name in (*raw, *self._let) if smaller else ():
            self(name)
        new = {name: filled(one, self, where=f"{where}{name}") for name, one in smaller.items() if one is not False}
        self._filled |= new
        self.last = {name: one for name, one in new.items() if "." in name}

    @property
    def scheme(self) -> str:
        """Return what the scheme is in the simulator; empty if the study has no such axis."""
        name = SCHEME_NAME if self.has(SCHEME_NAME) else "scheme"
        return str(self(name)) if self.has(name) else ""

    def has(self, name: str) -> bool:
        """Return whether there is such a name."""
        return name in self._raw or name in self._let

    def __call__(self, name: str) -> Any:
        """Return the value of a name."""
        if name not in self._filled:
            known = self._raw if name in self._raw else self._let
            check_known(name, known if name in known else {**self._let, **self._raw}, f"unknown name {name}")
            if name in self._pending:
                raise ParameterError(f"{name} depends on itself: write [let] without a circle")
            self._pending.add(name)
            try:
                self._filled[name] = filled(known[name], self, where=f"{self._where}{name}")
            finally:
                self._pending.remove(name)
        return self._filled[name]
