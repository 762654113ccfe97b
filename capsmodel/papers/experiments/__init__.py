"""The papers' experiments, one file each: what is run at each point of the sweep, and the claims that it decides.

A module of this folder whose name has no leading underscore is an experiment, ``repflow_ns3_ws.py`` is
``capsmodel reproduce repflow-ns3-ws``. Its docstring is the experiment in one line, then what was *Chosen* where the
paper leaves something out that is no setting; its ``EXPERIMENT`` is the :class:`PublishedExperiment`. Settings that are
varied are in ``data/papers/settings.toml`` (:mod:`capsmodel.papers.settings`), how claims are decided is in
:mod:`capsim.study.decide`, and :mod:`capsmodel.papers.campaign` runs an experiment until they are.

An experiment has up to three *scales*: that of the paper, where its verdicts are decided; a reduced one, where settings
are compared with each other if the paper's costs too much for all of them; and a quick one, which shows that it runs.
"""

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from functools import cache, cached_property
from importlib import import_module
from pkgutil import iter_modules
from types import MappingProxyType
from typing import Any, Literal

from capsim import Scenario
from capsim import scheme as find
from capsim.roles.catalogue import parameters
from capsim.roles.hooks import ROLES
from capsim.scenario.settings import with_settings
from capsim.study.measures import TaskList, experiment_run
from capsmodel.checks import ParameterError
from capsmodel.experiments.statistics.designs import Combination
from capsmodel.experiments.statistics.robustness import TEXT
from capsmodel.experiments.sweep import Task
from capsmodel.papers._docstrings import title_and_choices
from capsmodel.papers.index import experiment_kinds, experiment_name, name_of
from capsmodel.papers.settings import sampled_combinations, settings_of
from capsmodel.papers.statements import Statement, Term

__all__ = ["PublishedExperiment", "Scale", "published_experiment", "published_experiments"]

Values = Mapping[str, Any]
Scale = Literal["paper", "reduced", "quick"]
QUICK_SEEDS = 2
MEASURED = ("recovery", "replica_delay_s", "completion_time")
"""Settings that are arguments of the measurement, not of the scenario; None stands for its own value."""


@dataclass(frozen=True, kw_only=True)
class PublishedExperiment:
    """An experiment of a paper, ready to be run.

    Attributes
    ----------
    module, about : str
        Name and docstring of the experiment's module.
    id : str
        Its row in ``experiments.csv``.
    places : mapping
        Points of the sweep: values of each by its name, such as ``{"load 0.4": {"load": 0.4}}``.
    sampled : tuple of str
        Names of the places where settings other than the text's are tried.
    scenario : callable
        ``scenario(place, settings)`` returns what is run, but for scheme, seed and those settings whose names the
        simulator knows; ``settings`` has a value for each declared one.
    small : callable
        ``small(scenario)`` returns a version that takes at most a second, for ``--quick``.
    statements : mapping
        What each claim compares, by its id.
    reduced : callable, optional
        ``reduced(scenario)`` returns a version with the same ratios (load, oversubscription, shares of hosts) that
        costs a tenth or less. Settings other than the text's are run at this scale, and the text's again, so that what
        a setting changes is known; left out, all are run at the paper's scale.
    measure : callable
        The measurement that each run is; it takes `scenario`, `seed`, and those of `MEASURED` that are declared.
    adapted : callable, optional
        ``adapted(statement, settings)`` returns the statement for settings that change what is measured, or by which
        scheme.
    parameters : callable, optional
        ``parameters(place, settings, scheme)`` returns further values by names of the simulator, such as parameters of
        a scheme at a place; those that the scheme does not have are left out.
    """

    module: str
    about: str | None
    id: str
    places: Mapping[str, Values]
    sampled: tuple[str, ...]
    scenario: Callable[[Values, Values], Scenario]
    small: Callable[[Scenario], Scenario]
    statements: Mapping[str, Statement]
    reduced: Callable[[Scenario], Scenario] | None = None
    measure: Callable[..., Any] = field(default_factory=lambda: experiment_run)
    adapted: Callable[[Statement, Values], Statement] = lambda statement, _: statement
    parameters: Callable[[Values, Values, str], Values] = lambda place, settings, scheme: {}

    @property
    def name(self) -> str:
        """Return its name in the command: the id without the number, ``"repflow-ns3-ws"``."""
        return experiment_name(self.id)

    @property
    def title(self) -> str:
        """Return what it shows, one line."""
        return title_and_choices(self.about)[0]

    @property
    def choices(self) -> str:
        """Return what was chosen where the paper says nothing."""
        return title_and_choices(self.about)[1]

    @property
    def is_testbed(self) -> bool:
        """Whether the paper has it on a testbed: here its packets are simulated."""
        return experiment_kinds()[self.id] == "testbed"

    @cached_property
    def combinations(self) -> Mapping[str, Combination]:
        """Return the declared sample of settings, the text's first, by name."""
        return MappingProxyType(sampled_combinations(self.id))

    def values(self, setting: str) -> dict[str, Any]:
        """Return the value of each declared setting in one of `combinations`."""
        text = {name: one.values[0] for name, one in settings_of(self.id).items()}
        return text | self.combinations[setting]

    def scale(self, *, sampled: bool) -> Scale:
        """Return the scale of the runs at all places, or of those at the sampled ones, where settings are compared."""
        return "reduced" if sampled and self.reduced else "paper"

    def statement(self, claim: str, setting: str, *, sampled: bool) -> Statement:
        """Return what a claim compares in a setting, at all places or at the sampled ones."""
        adapted = self.adapted(self.statements[claim], self.values(setting))
        return adapted.at(self.sampled) if sampled else adapted

    def run(self, term: Term, *, setting: str = TEXT, scale: Scale = "paper") -> dict[str, Any]:
        """Return the arguments of a run but for its seed: the scenario as plain tables, and those of `MEASURED`.

        Parameters
        ----------
        term : tuple
            Scheme and name of a place.
        setting : str
            Name of one of `combinations`.
        scale : str
            ``"paper"``, ``"reduced"`` or ``"quick"``.
        """
        scheme, place = term
        values, at = self.values(setting), self.places[place]
        built = self.scenario(at, values).replace(scheme=scheme, compare=None)
        values = values | dict(self.parameters(at, values, scheme))
        changed = with_settings(built, _of_simulator(values, scheme))
        smaller = {"reduced": self.reduced, "quick": self.small}.get(scale)
        tables = (smaller(changed) if smaller else changed).to_dict()
        passed = {name: values[name] for name in MEASURED if values.get(name) is not None}
        return {"scenario": {key: value for key, value in tables.items() if key not in ("name", "notes")}} | passed

    def tasks(
        self, terms: Iterable[Term], seeds: Iterable[int], *, setting: str = TEXT, scale: Scale = "paper"
    ) -> TaskList[Term]:
        """Return a task for each term and seed; equal runs of several settings or experiments are equal tasks."""

        def first(term: Term, seed: int) -> Task:
            return Task(self.measure, **self.run(term, setting=setting, scale=scale), seed=seed)

        return TaskList(sorted(terms), seeds, first)

    def quick_tasks(self) -> TaskList[Term]:
        """Return the small runs of two seeds, at the sampled places, that show that all of it works."""
        terms = {term for one in self.statements.values() for term in one.at(self.sampled).simulated.terms}
        return self.tasks(terms, range(1, QUICK_SEEDS + 1), scale="quick")


def _of_simulator(values: Values, scheme: str) -> dict[str, Any]:
    """Return the settings whose names the simulator knows; of a role, those that the scheme has."""
    own = _parameters_of(scheme)
    fields = set(Scenario.__struct_fields__) - {"seed"}

    def is_known(name: str) -> bool:
        role, _, key = name.partition(".")
        return name in own if role in ROLES else bool(key) or name in fields

    return {name: value for name, value in values.items() if is_known(name)}


@cache
def _parameters_of(scheme: str) -> frozenset[str]:
    return frozenset(one.setting for one in parameters(find(scheme)))


@cache
def published_experiments() -> Mapping[str, PublishedExperiment]:
    """Return every experiment by its name, found by walking this folder.

    Examples
    --------
    >>> published_experiments()["repflow-ns3-ws"].id
    'repflow-e07-ns3-ws'
    """
    names = (found.name for found in iter_modules(__path__) if not found.name.startswith("_"))
    found = [import_module(f"{__name__}.{name}").EXPERIMENT for name in names]
    return MappingProxyType({one.name: one for one in sorted(found, key=lambda one: one.id)})


def published_experiment(name: str) -> PublishedExperiment:
    """Return one experiment by its name or by its id in ``experiments.csv``.

    Raises
    ------
    ParameterError
        If there is none.
    """
    known = published_experiments()
    if found := known.get(name_of(name)):
        return found
    raise ParameterError(f"no experiment {name!r}: choose from {', '.join(known)}")
