"""Rows of runs as a campaign keeps them: what its claims compare, and a digest of all that each run has measured.

A run measures some sixty numbers, of which the claims about an experiment compare a few. The digest tells whether two
runs are the same ones, and whether a run made again is, to the last bit of every number. Arguments that a sweep writes
beside what was measured, such as `seed` and `replica_delay_s`, are numbers of the row and count too.
"""

import hashlib
import json
from collections.abc import Hashable, Iterable, Mapping, Sequence, Set
from pathlib import Path

import numpy as np
from pandas import DataFrame

from capsmodel.checks import require
from capsmodel.experiments.results import TASK_COLUMN, columns_by_task
from capsmodel.papers.experiments import PublishedExperiment
from capsmodel.papers.index import read_claims
from capsmodel.papers.metric_columns import SHARES

__all__ = ["DIGEST", "check_columns", "compared_columns", "kept_rows", "not_kept"]

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
