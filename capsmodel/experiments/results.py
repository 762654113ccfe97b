"""Result files of a sweep: Parquet with the manifest inside (:mod:`capsmodel.experiments.tables`), merged by task.

A part holds the rows of one or several tasks. Its manifest (key ``capsmodel`` of the file's metadata, JSON) lists those
tasks with the measurement's name and revision, payload, digest of the code and processor time, beside schema, software
and environment. Of many runs that are kept, one row each, the rows say all of that but payload and code (`keep_rows`).
"""

from collections.abc import Iterable, Iterator, Sequence
from functools import cache
from pathlib import Path
from typing import Any

import pandas as pd
import pyarrow as pa
import pyarrow.compute as pc

from capsmodel.checks import require
from capsmodel.experiments import tables
from capsmodel.experiments.manifest import SCHEMA, canonical_json, environment, software

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
    tables.write_table(table, path, manifest=canonical_json(manifest).encode())


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
    manifest = tables.read_manifest(path)
    require("tasks" in manifest, f"{path} is a table of a simulated run, no part of a sweep: move it elsewhere")
    return manifest


def part_files(folder: Path) -> list[Path]:
    """Return the finished parts in a folder, by name; what a killed run left half-written is not among them."""
    return sorted(path for path in folder.glob("*.parquet") if not path.name.startswith("."))


def finished_tasks(folder: Path) -> dict[str, dict[str, Any]]:
    """Return the record of each task that has its rows in a folder, by its id."""
    return {task["id"]: task for path in part_files(folder) for task in tasks_of(path)}


def columns_by_task(folder: Path, task_ids: Iterable[str]) -> dict[str, set[str]]:
    """Return the columns of some tasks by task id: for each, those of all parts in a folder that hold it."""
    found: dict[str, set[str]] = {task: set() for task in task_ids}
    for path in part_files(folder):
        if here := [task["id"] for task in tasks_of(path) if task["id"] in found]:
            names = tables.column_names(path)
            for task in here:
                found[task].update(names)
    return found


def tasks_of(path: Path) -> list[dict[str, Any]]:
    """Return the record of each task in a part, with its ``id``; read anew only if the file has changed."""
    found = path.stat()
    return _read_tasks(path, found.st_mtime_ns, found.st_size)


@cache
def _read_tasks(path: Path, mtime_ns: int, size_bytes: int) -> list[dict[str, Any]]:
    tasks: list[dict[str, Any]] | str = read_manifest(path)["tasks"]
    if not isinstance(tasks, str):
        return tasks
    rows = tables.read_table(path).select([TASK_COLUMN, *_RECORDED]).rename_columns(["id", *_RECORDED])
    listed: list[dict[str, Any]] = rows.to_pylist()
    return listed


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
    found, records = _by_task(sources, None if task_ids is None else set(task_ids))
    order = sorted(found) if task_ids is None else list(task_ids)
    missing = [task for task in order if task not in found]
    require(not missing, f"{len(missing)} of {len(order)} tasks have no result: run the sweep again to add them")
    require(bool(order), "there is nothing to merge: name a folder that a sweep has written to")
    table = pa.concat_tables([found[task] for task in order], promote_options="permissive")
    if out is not None:
        keep_part(table, Path(out), tasks=[records[task] for task in order])
    frame: pd.DataFrame = table.to_pandas(use_threads=False)
    return frame


def _by_task(sources: Iterable[str | Path], wanted: set[str] | None) -> tuple[dict[str, Any], dict[str, Any]]:
    """Return rows and record of each task."""
    found: dict[str, Any] = {}
    records: dict[str, Any] = {}
    for path in _files(sources):
        tasks = [task for task in tasks_of(path) if wanted is None or task["id"] in wanted]
        if not tasks:
            continue
        table = tables.read_table(path).replace_schema_metadata(None)
        for task in tasks:
            rows = table.filter(pc.equal(table[TASK_COLUMN], task["id"]))
            if (other := found.get(task["id"])) is not None:
                require(_agree(rows, other), f"{path} differs from another source on task {task['id']}: {_DIFFERS}")
                rows = _joined(other, rows)
            found[task["id"]], records[task["id"]] = rows, task
    return found, records


def _agree(rows: Any, others: Any) -> bool:
    """Return whether two sources have the same rows of a task, bit for bit, in the columns in which both have values.

    What a run took may differ. A file of several tasks has the columns of all, of a type that holds the values of all.
    """
    there = _with_values(others)
    shared = [name for name in _with_values(rows) if name in there and name not in _TAKEN]
    both = pa.concat_tables([rows.select(shared), others.select(shared)], promote_options="permissive")
    first, second = both.slice(0, rows.num_rows), both.slice(rows.num_rows)
    return rows.num_rows == others.num_rows and tables.rows_sha256(first) == tables.rows_sha256(second)


def _joined(rows: Any, others: Any) -> Any:
    """Return the rows of a task with the columns in which only another source has values."""
    known = _with_values(rows)
    only_there = [name for name in _with_values(others) if name not in known]
    left = [name for name in rows.column_names if name not in only_there]
    columns = {name: rows[name] for name in left} | {name: others[name] for name in only_there}
    return pa.table(columns)


def _with_values(rows: Any) -> list[str]:
    return [name for name in rows.column_names if rows[name].null_count < rows.num_rows]


def _files(sources: Iterable[str | Path]) -> Iterator[Path]:
    for source in map(Path, sources):
        if source.is_dir():
            yield from part_files(source)
        else:
            require(source.is_file(), f"{source} does not exist: name a part or a folder of parts")
            yield source
