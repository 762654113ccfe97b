"""The papers' studies by the names that people use: of the file, of a figure, of an experiment, of a claim."""

import csv
import re
from collections.abc import Mapping
from functools import cache
from pathlib import Path
from types import MappingProxyType
from typing import TYPE_CHECKING

from capsim.study.measures import register
from capsmodel.checks import ParameterError, did_you_mean
from capsmodel.datafiles import data_path
from capsmodel.papers.claim_list import FORMULAS, read_claims, studies
from capsmodel.papers.figures import figure_names
from capsmodel.papers.measurements.behind_long_flow import behind_long_flow
from capsmodel.papers.measurements.blocking_estimators import rtt_of_paths
from capsmodel.papers.measurements.burst_rtts import burst_distances
from capsmodel.papers.measurements.decoding_work import work_left
from capsmodel.papers.measurements.head_of_line import short_flows
from capsmodel.papers.measurements.received_sets import packets_that_survive
from capsmodel.papers.measurements.unit_sweeps import decoded_share, fastest_unit, unit_quantity

if TYPE_CHECKING:
    from capsim.study.claims.design import Design

__all__ = [
    "experiment_name",
    "is_testbed",
    "own_studies",
    "published_studies",
    "simulated_studies",
    "study_file",
    "study_named",
]

# The measurements of single mechanisms that studies name in their table [measure].
register(behind_long_flow, burst_distances, decoded_share, fastest_unit, packets_that_survive)
register(rtt_of_paths, short_flows, unit_quantity, work_left)


def experiment_name(experiment_id: str) -> str:
    """Return the name of the study of an experiment: its id without the number.

    Examples
    --------
    >>> experiment_name("repflow-e07-ns3-ws")
    'repflow-ns3-ws'
    """
    return re.sub(r"-e\d+-", "-", experiment_id)


@cache
def _experiments() -> Mapping[str, Mapping[str, str]]:
    """Return the rows of ``experiments.csv`` by id."""
    with data_path("papers/experiments.csv").open(encoding="utf-8", newline="") as file:
        return MappingProxyType({row["id"]: MappingProxyType(row) for row in csv.DictReader(file)})


@cache
def simulated_studies() -> tuple[str, ...]:
    """Return the names of all studies that are simulated, paper after paper, in the order of ``experiments.csv``.

    Examples
    --------
    >>> simulated_studies()[:2]
    ('caps-hol', 'caps-ooo')
    """
    return tuple(name for name in map(experiment_name, _experiments()) if name in studies())


def is_testbed(study: str) -> bool:
    """Return whether the paper has a study on a testbed: here its packets are simulated."""
    return any(row["kind"] == "testbed" for name, row in _experiments().items() if experiment_name(name) == study)


_KINDS = {"Fig.": "fig", "Table": "table"}


@cache
def _by_figure() -> Mapping[str, str]:
    """Return the study of each figure and table: ``caps-fig17``, ``mmptcp-table3``."""
    study_of: dict[str, str] = {}
    for name, row in _experiments().items():
        for kind, numbers in re.findall(r"(Fig\.|Table)s? ([\d, -]+)", row["where"]):
            for number in _numbers(numbers):
                study_of.setdefault(f"{row['paper']}-{_KINDS[kind]}{number}", experiment_name(name))
    return MappingProxyType({figure: study for figure, study in study_of.items() if study in studies()})


def _numbers(text: str) -> list[int]:
    """Return the numbers of a list such as ``8, 10-12``."""
    parts = (part.partition("-") for part in re.findall(r"\d+(?:-\d+)?", text))
    return [number for first, _, last in parts for number in range(int(first), int(last or first) + 1)]


def study_named(name: str) -> str:
    """Return the study of a name: its own, that of an experiment, of a figure or table of a paper, or of a claim.

    Raises
    ------
    ParameterError
        If there is none.

    Examples
    --------
    >>> [study_named(name) for name in ("caps-leafspine", "caps-e19-leafspine", "caps-fig17", "caps-f17a-rps")]
    ['caps-leafspine', 'caps-leafspine', 'caps-leafspine', 'caps-leafspine']
    """
    study = experiment_name(name) if name in _experiments() else _by_figure().get(name, name)
    if name in read_claims():
        study = read_claims()[name].study
    if study in studies() and not study.endswith(FORMULAS):
        return study
    raise ParameterError(_not_run(name))


def _not_run(name: str) -> str:
    """Return why no study runs what has this name: it is of formulas, is not simulated, or there is no such name."""
    if name in figure_names():
        return f"{name} is a figure of formulas, which no run decides: capsmodel gallery {name} draws it"
    if name in read_claims():
        return f"no run decides {name}: capsmodel claims {name} says what does"
    if name in {*_experiments(), *map(experiment_name, _experiments())}:
        where = f"capsmodel claims --paper {name.partition('-')[0]} says what decides its claims"
        return f"{name} is not simulated: {where}"
    names = (*simulated_studies(), *own_studies(), *_by_figure(), *read_claims(), *figure_names())
    remedy = did_you_mean(name, names, otherwise="capsmodel study --list shows all")
    return f"no study, figure or claim {name!r} is simulated: {remedy}"


@cache
def own_studies() -> Mapping[str, Path]:
    """Return the file of each study that comes with the package and is of no paper, by its name.

    Examples
    --------
    >>> {"spray", "entropies"} <= {*own_studies()}
    True
    """
    return MappingProxyType({file.stem: file for file in sorted(data_path("studies").glob("*.toml"))})


def study_file(name: str) -> Path:
    """Return the file of the study that :func:`study_named` finds."""
    return studies()[study_named(name)]


@cache
def published_studies() -> Mapping[str, "Design"]:
    """Return every simulated study of the papers by its name.

    Examples
    --------
    >>> published_studies()["repflow-ns3-ws"].source.file.paper
    'repflow'
    """
    from capsim.study.claims.design import Design
    from capsim.study.file import read_study

    return MappingProxyType({name: Design(read_study(studies()[name])) for name in simulated_studies()})
