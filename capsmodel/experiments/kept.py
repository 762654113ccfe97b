"""Rows of runs as they are kept beside the papers: point, what claims compare, and a digest of all that was measured.

The arguments of a run are not kept. They follow from the study, and the id of the run says whether they are the same.

A run measures some hundred numbers and claims compare a few of them. The rest is kept as a digest: it says whether two
runs measured the same, and whether the run that is made again is the run that was kept.
"""

import hashlib
import json
from collections.abc import Collection, Hashable, Iterable, Iterator, Mapping, Sequence, Set
from itertools import count
from pathlib import Path
from typing import Any

import pyarrow as pa
from pandas import DataFrame

from capsmodel.checks import require
from capsmodel.experiments.results import TASK_COLUMN, columns_by_task, keep_rows

__all__ = ["DIGEST", "check_columns", "free_file", "keep", "with_digests"]

DIGEST = "measured_sha256"
"""Column of the digest: the first 16 hexadecimal digits of a SHA-256."""


def with_digests(rows: DataFrame) -> DataFrame:
    """Return rows of runs with their digests, those that have one with their own.

    Parameters
    ----------
    rows : DataFrame
        As they were measured, or as they were kept.
    """
    known = rows[DIGEST] if DIGEST in rows else rows[TASK_COLUMN].map(lambda _: None)
    digests, new = known.astype(object), known.isna()
    numbers = rows[new].select_dtypes("number").drop(columns="cpu_s", errors="ignore")
    digests[new] = [_digest(row) for row in numbers.to_dict("records")]
    return rows.assign(**{DIGEST: digests})


def _digest(row: Mapping[Hashable, float]) -> str:
    """Return the digest of a row; columns that other runs have, and their types in a file, make no difference."""
    numbers = {str(name): float(value) for name, value in row.items() if value == value}  # NaN where there is none
    return hashlib.sha256(json.dumps(numbers, sort_keys=True).encode()).hexdigest()[:16]


def check_columns(folder: Path, task_ids: Iterable[str], columns: Collection[str]) -> None:
    """Check that kept rows of some runs in a folder have all columns that are compared; a column may be empty.

    Raises
    ------
    ParameterError
        If they lack a column: they were kept for other claims.
    """
    columns_of_tasks = columns_by_task(folder, task_ids).values()
    lacking = sorted({name for names in columns_of_tasks for name in _lacking(names, columns)})
    remedy = "move the file with these rows elsewhere, and the runs are made again"
    require(not lacking, f"rows kept in {folder} have no {', '.join(lacking)}, which claims compare: {remedy}")


def keep(
    rows: DataFrame, records: Mapping[str, Mapping[str, Any]], folder: Path, *, name: str, columns: Sequence[str]
) -> None:
    """Write the rows of runs that no file of a folder has with all columns to a new one.

    It is the first free of ``NAME.parquet``, ``NAME.2.parquet``, ...: no file is ever changed.

    Parameters
    ----------
    rows : DataFrame
        Points with their digests (`KeptRuns.frame`); of a run at several points the first is kept.
    records : mapping
        Of each task, by its id.
    folder : pathlib.Path
        Where files are kept.
    name : str
        Of the study.
    columns : sequence of str
        What claims compare.
    """
    there = columns_by_task(folder, rows[TASK_COLUMN].unique())
    new = [task for task, names in there.items() if not names or _lacking(names, columns)]
    if not new:
        return
    kept = rows[rows[TASK_COLUMN].isin(new)].drop_duplicates(TASK_COLUMN)
    recorded = {key: [records[task][key] for task in kept[TASK_COLUMN]] for key in ("measurement", "revision", "cpu_s")}
    keep_rows(pa.Table.from_pandas(kept.assign(**recorded), preserve_index=False), free_file(folder, name))


def free_file(folder: Path, name: str) -> Path:
    """Return the first of ``NAME.parquet``, ``NAME.2.parquet``, ... that is not there."""
    return next(file for file in _files(folder, name) if not file.exists())


def _files(folder: Path, name: str) -> Iterator[Path]:
    return (folder / (f"{name}.parquet" if number == 1 else f"{name}.{number}.parquet") for number in count(1))


def _lacking(names: Set[str], compared: Collection[str]) -> Set[str]:
    """Return what kept rows with columns of these names lack; rows that were kept whole lack nothing."""
    return set(compared) - names if DIGEST in names else set()
