"""Rows of runs as a campaign keeps them: what its claims compare, and a digest of all that each run has measured.

A run measures some sixty numbers, of which the claims about an experiment compare a few. The digest tells whether two
runs are the same ones, and whether a run made again is, to the last bit of every number. Arguments that a sweep writes
beside what was measured, such as `seed` and `replica_delay_s`, are numbers of the row and count too.
"""

import hashlib
import json
from collections.abc import Hashable, Mapping, Sequence

from pandas import DataFrame

from capsmodel.experiments.results import TASK_COLUMN
from capsmodel.papers.experiments import PublishedExperiment
from capsmodel.papers.index import read_claims
from capsmodel.papers.metric_columns import SHARES

__all__ = ["DIGEST", "compared_columns", "kept_rows"]

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
    """Return rows of runs with some columns and their digests; columns that no run has are left out.

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
    found = rows.assign(**{DIGEST: digests})
    return found[[name for name in (*_KEYS, *columns) if name in found]]


def _digest(row: Mapping[Hashable, float]) -> str:
    """Return the digest of a row; columns that other runs have, and their types in a file, make no difference."""
    numbers = {str(name): float(value) for name, value in row.items() if value == value}  # NaN where there is none
    return hashlib.sha256(json.dumps(numbers, sort_keys=True).encode()).hexdigest()[:16]
