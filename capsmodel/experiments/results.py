"""Result files of a sweep: Parquet with the manifest inside (:mod:`capsmodel.experiments.tables`), merged by task.

A part holds the rows of one or several tasks. Its manifest (key ``capsmodel`` of the file's metadata, JSON) lists those
tasks with the measurement's name and revision, payload, digest of the code and processor time, beside schema, software
and environment. Of many runs that are kept, one row each, the rows say all of that but payload and code (`keep_rows`).
"""

import os
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from functools import cache, lru_cache
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.compute as pc

from capsmodel.checks import require
from capsmodel.experiments import tables
from capsmodel.experiments.manifest import SCHEMA, environment, manifest_json, software

TASK_COLUMN = "task_id"
_TAKEN = frozenset({"cpu_s"})
"""Columns of what a run took, which is another time by time."""
_OF_ROWS = "rows"
"""What stands in place of the list of tasks where the rows have what is recorded of them."""
_RECORDED = ("measurement", "revision", "seed", "cpu_s")
_DIFFERS = "its function is not deterministic, or was edited without a new revision"


def write_part(table: Any, path: Path, *, tasks: Sequence[dict[str, Any]]) -> None:
    """Write an Arrow table with its manifest; the file is either whole or absent.

    Parameters
    ----------
    table : pyarrow.Table
        Rows with the column `TASK_COLUMN`.
    path : pathlib.Path
        Target, in an existing folder.
    tasks : sequence of dict
        One record for each task, with its ``id``.
    """
    _write(table, path, list(tasks))


def _write(table: Any, path: Path, tasks: list[dict[str, Any]] | str) -> None:
    manifest = {"schema": SCHEMA, "software": software(), "environment": environment(), "tasks": tasks}
    tables.write_table(table, path, manifest=manifest_json(manifest))


def keep_rows(table: Any, path: Path) -> None:
    """Write rows of runs, one of each, that are meant to be kept while the code goes on.

    A run has its measurement, revision, seed and processor time in columns, and no arguments: its id is their digest,
    so whoever knows what was run knows the id.

    Parameters
    ----------
    table : pyarrow.Table
        Rows with the columns `TASK_COLUMN`, ``measurement``, ``revision``, ``seed`` and ``cpu_s``.
    path : pathlib.Path
        Target, in an existing folder.
    """
    require({TASK_COLUMN, *_RECORDED} <= set(table.column_names), f"rows to be kept have {', '.join(_RECORDED)}")
    _write(table, path, _OF_ROWS)


def keep_part(table: Any, path: Path, *, tasks: Sequence[dict[str, Any]]) -> None:
    """Write a part that is meant to be kept while the code goes on.

    It says measurement and revision of each task, and no longer which code ran. Parameters as in :func:`write_part`.
    """
    kept = [{key: value for key, value in task.items() if key != "code"} for task in tasks]
    write_part(table, path, tasks=kept)


def read_manifest(path: Path) -> dict[str, Any]:
    """Return the manifest inside a part.

    Raises
    ------
    ParameterError
        If the file is no Parquet file, is damaged, or is no part of a sweep.
    """
    rule = "is a table of a simulated run, no part of a sweep: move it elsewhere"
    return tables.read_manifest(path, keys={"tasks"}, rule=rule)


def part_files(folder: Path) -> list[Path]:
    """Return the finished parts in a folder, by name; what a killed run left half-written is not among them."""
    return [folder / name for name in sorted(part_names(folder))]


def part_names(folder: Path) -> set[str]:
    """Return the names of the finished parts in a folder, which may be missing."""
    if not folder.is_dir():
        return set()
    with os.scandir(folder) as entries:
        return {one.name for one in entries if one.name.endswith(".parquet") and not one.name.startswith(".")}


def finished_tasks(folder: Path) -> dict[str, dict[str, Any]]:
    """Return the record of each task that has its rows in a folder, by its id."""
    return {task["id"]: task for path in part_files(folder) for task in tasks_of(path)}


def columns_by_task(folder: Path, task_ids: Iterable[str]) -> dict[str, set[str]]:
    """Return the columns of some tasks by task id: for each, those of all parts in a folder that hold it."""
    columns_of: dict[str, set[str]] = {task: set() for task in task_ids}
    for path in part_files(folder):
        if here := [task["id"] for task in tasks_of(path) if task["id"] in columns_of]:
            names = _rows_of(path).column_names
            for task in here:
                columns_of[task].update(names)
    return columns_of


def tasks_of(path: Path) -> list[dict[str, Any]]:
    """Return the record of each task in a part, with its ``id``; read anew only if the file has changed."""
    status = path.stat()
    return _read_tasks(path, status.st_mtime_ns, status.st_size)


@cache
def _read_tasks(path: Path, mtime_ns: int, size_bytes: int) -> list[dict[str, Any]]:
    tasks: list[dict[str, Any]] | str = read_manifest(path)["tasks"]
    if not isinstance(tasks, str):
        return tasks
    rows = _read_rows(path, mtime_ns, size_bytes).select([TASK_COLUMN, *_RECORDED]).rename_columns(["id", *_RECORDED])
    listed: list[dict[str, Any]] = rows.to_pylist()
    return listed


def _rows_of(path: Path) -> Any:
    """Return the rows of a part as an Arrow table; read anew only if the file has changed: a study looks often."""
    status = path.stat()
    return _read_rows(path, status.st_mtime_ns, status.st_size)


@lru_cache(maxsize=1024)
def _read_rows(path: Path, mtime_ns: int, size_bytes: int) -> Any:
    return tables.read_table(path)


def merge(
    sources: Iterable[str | Path], *, task_ids: Iterable[str] | None = None, out: str | Path | None = None
) -> pd.DataFrame:
    """Return the rows of all tasks in some parts as one table, each task once.

    Parameters
    ----------
    sources : iterable of path
        Parts and folders of parts, such as the shards of one sweep; they may overlap.
    task_ids : iterable of str, optional
        Only these tasks, and all of them; every task found by default.
    out : path, optional
        Write the table there too, as :func:`keep_part` does.

    Returns
    -------
    pandas.DataFrame
        In the order of `task_ids`, by default sorted by task id; rows of a task keep their order.

    Raises
    ------
    ParameterError
        If there is nothing to merge, a task is missing, a file is damaged, or two sources differ on a task in a column
        that both have, other than ``cpu_s``. Columns that only one has are joined.
    """
    wanted = None if task_ids is None else list(task_ids)
    pieces, records = _pieces(sources, None if wanted is None else set(wanted))
    order = sorted(records) if wanted is None else wanted
    missing = [task for task in order if task not in records]
    require(not missing, f"{len(missing)} of {len(order)} tasks have no result: run the sweep again to add them")
    require(bool(order), "there is nothing to merge: name a folder that a sweep has written to")
    table = _in_order(pa.concat_tables(pieces, promote_options="permissive"), order)
    if out is not None:
        keep_part(table, Path(out), tasks=[records[task] for task in order])
    frame: pd.DataFrame = table.to_pandas(use_threads=False)
    return frame


def _pieces(sources: Iterable[str | Path], wanted: set[str] | None) -> tuple[list[Any], dict[str, Any]]:
    """Return tables that hold the rows of each task in one of them, and the record of each task."""
    pieces: list[Any] = []
    piece_of: dict[str, int] = {}
    records: dict[str, Any] = {}
    for path in _files(sources):
        tasks = {task["id"]: task for task in tasks_of(path) if wanted is None or task["id"] in wanted}
        if not tasks:
            continue
        rows = _of_tasks(_rows_of(path).replace_schema_metadata(None), tasks)
        if again := [task for task in tasks if task in records]:
            places = sorted({piece_of[task] for task in again})
            others = pa.concat_tables([_of_tasks(pieces[i], again) for i in places], promote_options="permissive")
            for i in places:
                pieces[i] = _of_tasks(pieces[i], again, without=True)
            joined = _joined(_in_order(_of_tasks(rows, again), again), _in_order(others, again), path)
            rows = pa.concat_tables([joined, _of_tasks(rows, again, without=True)], promote_options="permissive")
        pieces.append(rows)
        piece_of |= dict.fromkeys(tasks, len(pieces) - 1)
        records |= tasks
    return pieces, records


def _of_tasks(table: Any, tasks: Iterable[str], *, without: bool = False) -> Any:
    """Return the rows of some tasks, or those of all others."""
    ids = table[TASK_COLUMN]
    there = pc.is_in(ids, pa.array(list(tasks), type=ids.type))
    return table.filter(pc.invert(there) if without else there)


def _in_order(table: Any, tasks: Sequence[str]) -> Any:
    """Return the rows of some tasks, task after task; rows of a task keep their order."""
    rows_of: dict[str, list[int]] = {}
    for row, task in enumerate(table[TASK_COLUMN].to_pylist()):
        rows_of.setdefault(task, []).append(row)
    return table.take([row for task in tasks for row in rows_of.get(task, ())])


def _joined(rows: Any, others: Any, path: Path) -> Any:
    """Return the rows of some tasks that two sources have, with the columns of both.

    In the columns in which both have values of a task, they have the same rows of it, bit for bit; what a run took may
    differ. A file of several tasks has the columns of all, of a type that holds the values of all.
    """
    before = others[TASK_COLUMN].to_pylist()
    tasks = rows[TASK_COLUMN].to_pylist()
    uneven = Counter(tasks)
    uneven.subtract(before)
    _refuse([task for task, more in uneven.items() if more], path)
    both = pa.concat_tables([rows, others], promote_options="permissive")
    first, second = both.slice(0, len(tasks)), both.slice(len(tasks))
    columns = {}
    for name in both.column_names:
        here, there = _with_values(first[name], tasks), _with_values(second[name], tasks)
        if name not in _TAKEN:
            differ = tables.differ(first[name], second[name]) & here & there
            _refuse([task for task, differs in zip(tasks, differ, strict=True) if differs], path)
        columns[name] = pc.if_else(pa.array(here | ~there), first[name], second[name])
    return pa.table(columns)


def _refuse(differing: Sequence[str], path: Path) -> None:
    require(not differing, f"{path} differs from another source on task {''.join(differing[:1])}: {_DIFFERS}")


def _with_values(column: Any, tasks: Sequence[str]) -> Any:
    """Return for each row whether its task has a value in a column."""
    having = {task for task, there in zip(tasks, column.is_valid().to_pylist(), strict=True) if there}
    return np.array([task in having for task in tasks], bool)


def _files(sources: Iterable[str | Path]) -> Iterator[Path]:
    for source in map(Path, sources):
        if source.is_dir():
            yield from part_files(source)
        else:
            require(source.is_file(), f"{source} does not exist: name a part or a folder of parts")
            yield source
