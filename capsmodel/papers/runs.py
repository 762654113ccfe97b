"""The runs of an experiment: its looks, its settings, the tasks of each, and the rows that are kept."""

import hashlib
import json
from collections.abc import Hashable, Iterable, Mapping, Sequence, Set
from dataclasses import dataclass, replace
from pathlib import Path
from typing import NamedTuple

import numpy as np
from pandas import DataFrame

from capsim.study.measures import TaskList
from capsmodel.checks import require
from capsmodel.experiments.results import TASK_COLUMN, columns_by_task
from capsmodel.experiments.statistics.robustness import TEXT
from capsmodel.experiments.statistics.sequential import FIRST_LOOK_SEEDS
from capsmodel.experiments.sweep import Task
from capsmodel.papers.experiments import PublishedExperiment, Scale
from capsmodel.papers.index import read_claims
from capsmodel.papers.metric_columns import SHARES
from capsmodel.papers.statements import Term

__all__ = [
    "DIGEST",
    "MOST_SEEDS",
    "MOST_SEEDS_OF_OTHERS",
    "SECOND_FAMILY",
    "Group",
    "Look",
    "all_tasks",
    "check_columns",
    "compared_columns",
    "counting_settings",
    "kept_rows",
    "most_seeds_of",
    "not_kept",
]


class Group(NamedTuple):
    """Runs that are looked at together.

    Attributes
    ----------
    setting : str
        Name of a combination.
    scale : str
        That of the paper, or the reduced one.
    offset : int
        What is added to 1, 2, ... to give their seeds: 0, or :data:`capsmodel.papers.runs.SECOND_FAMILY`.
    """

    setting: str
    scale: Scale
    offset: int = 0


@dataclass(frozen=True)
class Look:
    """Runs that open claims wait for.

    Attributes
    ----------
    weight : int
        How many times its seeds count.
    group : Group
        Setting, scale and family of seeds.
    seeds : int
        How many.
    terms : frozenset of Term
        What has to be run with each seed.
    claims : int
        Claims that wait for it.
    """

    weight: int
    group: Group
    seeds: int
    terms: frozenset[Term]
    claims: int

    @property
    def urgency(self) -> int:
        """Return its seeds with their weight: looks with less come first within an experiment."""
        return self.weight * self.seeds


def counting_settings(
    experiment: PublishedExperiment, tasks: Mapping[Group, Mapping[tuple[Term, int], Task]], measured: DataFrame
) -> dict[str, Sequence[str]]:
    """Return the settings that count for each claim: those whose runs, as it compares them, no earlier one has.

    Equal runs agree, which says nothing.

    Parameters
    ----------
    experiment : PublishedExperiment
        Whose claims.
    tasks : mapping
        Its runs, as :func:`capsmodel.papers.runs.all_tasks` gives them.
    measured : DataFrame
        Rows of those that were made. Runs of the first look are the same if they measured the same, by their digests;
        before they are made, if their tasks are equal.

    Returns
    -------
    dict
        Names of combinations, in the order of the experiment, by claim; the text's is the first of each.
    """
    outcomes = _outcomes(measured)
    found: dict[str, Sequence[str]] = {}
    for claim_id in experiment.statements:
        first: dict[Hashable, str] = {}
        for setting in experiment.combinations:
            runs = tasks[Group(setting, experiment.scale(sampled=True))]
            first.setdefault(_compared(experiment, claim_id, setting, runs, outcomes), setting)
        found[claim_id] = tuple(first.values())
    return found


def _compared(
    experiment: PublishedExperiment,
    claim_id: str,
    setting: str,
    tasks: Mapping[tuple[Term, int], Task],
    outcomes: Mapping[str, str],
) -> Hashable:
    """Return the statement of a claim in a setting, with the runs of the first look in place of terms."""
    statement = experiment.statement(claim_id, setting, sampled=True).simulated
    seeds = range(1, FIRST_LOOK_SEEDS + 1)

    def run(term: Term, seed: int) -> str:
        name = tasks[term, seed].id
        return outcomes.get(name, name)

    runs = tuple(
        (replace(one, name="", terms=()), sign, *(run(term, seed) for seed in seeds))
        for one in statement.comparisons
        for sign, term in one.terms
    )
    return replace(statement, comparisons=()), runs


def _outcomes(measured: DataFrame) -> Mapping[str, str]:
    """Return the digest of all that each run has measured, by the id of its task."""
    return {} if measured.empty else dict(zip(measured[TASK_COLUMN], measured[DIGEST], strict=True))


MOST_SEEDS, MOST_SEEDS_OF_OTHERS = 64, 16
"""Limits of the seeds in the setting of the text, and in each other."""
SECOND_FAMILY = 1000
"""What is added to 1, 2, ... to give the seeds by which a refutation is checked; more than any of the first family."""


def all_tasks(experiment: PublishedExperiment) -> dict[Group, TaskList[Term]]:
    """Return all runs of an experiment with the schemes that are simulated, up to the limits, by group.

    The text's runs at all places include those at the sampled ones, unless these have a scale of their own.
    """
    text = Group(TEXT, experiment.scale(sampled=False))
    others = {Group(setting, experiment.scale(sampled=True)): True for setting in experiment.combinations}
    found = {}
    for group, sampled in (others | {text: False, text._replace(offset=SECOND_FAMILY): False}).items():
        terms: set[Term] = set()
        for claim in experiment.statements:
            terms |= experiment.statement(claim, group.setting, sampled=sampled).simulated.terms
        seeds = range(group.offset + 1, group.offset + most_seeds_of(group.setting) + 1)
        found[group] = experiment.tasks(terms, seeds, setting=group.setting, scale=group.scale)
    return found


def most_seeds_of(setting: str) -> int:
    """Return the limit of the seeds in a setting."""
    return MOST_SEEDS if setting == TEXT else MOST_SEEDS_OF_OTHERS


DIGEST = "measured_sha256"
"""Column of the digest: the first 16 hexadecimal digits of a SHA-256."""
_KEYS = (TASK_COLUMN, DIGEST, "scheme", "seed")


def compared_columns(experiment: PublishedExperiment) -> list[str]:
    """Return the columns of a run that claims about an experiment compare, in some setting, by name."""
    claims = read_claims()
    compared = {
        experiment.statement(claim, setting, sampled=False).column_of(claims[claim])
        for claim in experiment.statements
        for setting in experiment.combinations
    }
    return sorted({SHARES.get(column, column) for column in compared})


def kept_rows(rows: DataFrame, columns: Sequence[str]) -> DataFrame:
    """Return rows of runs with some columns and their digests; a column that no run has is empty.

    Parameters
    ----------
    rows : DataFrame
        Rows as they were measured, or as they were kept: these have their digest.
    columns : sequence of str
        Names of columns.
    """
    known = rows[DIGEST] if DIGEST in rows else rows[TASK_COLUMN].map(lambda _: None)
    new = rows[known.isna()].select_dtypes("number").drop(columns="cpu_s", errors="ignore")
    digests = known.astype(object)
    digests[known.isna()] = [_digest(row) for row in new.to_dict("records")]
    not_measured = dict.fromkeys((name for name in columns if name not in rows), np.nan)
    found = rows.assign(**{DIGEST: digests}, **not_measured)
    return found[[name for name in (*_KEYS, *columns) if name in found]]


def check_columns(folder: Path, task_ids: Iterable[str], columns: Iterable[str]) -> None:
    """Check that kept rows of some runs in a folder have all columns that are compared; a column may be empty.

    Raises
    ------
    ParameterError
        If they lack a column: they were kept for other claims.
    """
    compared, found = set(columns), columns_by_task(folder, task_ids)
    missing = sorted({name for names in found.values() for name in _missing(names, compared)})
    remedy = "move the file with these rows elsewhere, and the runs are made again"
    require(not missing, f"rows kept in {folder} have no {', '.join(missing)}, which claims compare: {remedy}")


def not_kept(folder: Path, task_ids: Iterable[str], columns: Iterable[str]) -> list[str]:
    """Return those of some runs that a folder does not have with all columns that are compared."""
    compared, found = set(columns), columns_by_task(folder, task_ids)
    return [task for task, names in found.items() if not names or _missing(names, compared)]


def _missing(names: Set[str], compared: Set[str]) -> Set[str]:
    """Return what kept rows with columns of these names lack; rows that were kept whole lack nothing."""
    return compared - names if DIGEST in names else set()


def _digest(row: Mapping[Hashable, float]) -> str:
    """Return the digest of a row; columns that other runs have, and their types in a file, make no difference."""
    numbers = {str(name): float(value) for name, value in row.items() if value == value}  # NaN where there is none
    return hashlib.sha256(json.dumps(numbers, sort_keys=True).encode()).hexdigest()[:16]
