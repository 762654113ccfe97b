"""A sweep: independent tasks, each known by the hash of its content, run on all cores and never twice.

A task is a function, by its dotted name, and its keyword arguments. Its rows go to a Parquet part in the folder of the
sweep, so a sweep that was killed does only what is missing when it is started again::

    tasks = [Task(function="mystudy.measure", payload={"load": load, "seed": seed}) for load in loads for seed in seeds]
    frame = gather(tasks, "results/mystudy")

The id covers function, arguments, and the versions of this package and of the file format, not the function's source:
change the arguments or the folder when you change your function.
"""

import json
import tempfile
import time
import traceback
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from importlib import import_module
from pathlib import Path
from typing import Any

import joblib
import pandas as pd
import pyarrow as pa

from capsmodel.checks import ParameterError, require, whole
from capsmodel.experiments.manifest import SCHEMA, canonical_json, content_id, software
from capsmodel.experiments.progress import track
from capsmodel.experiments.results import TASK_COLUMN, finished_tasks, merge, write_part

__all__ = ["Executor", "SweepError", "SweepReport", "Task", "all_cores", "gather", "merge", "one_by_one", "run_sweep"]


class SweepError(RuntimeError):
    """Some tasks failed; all others are done and stored."""


@dataclass(frozen=True, kw_only=True)
class Task:
    """One independent piece of work.

    Attributes
    ----------
    function : str
        Dotted name of a module-level function, such as ``"mystudy.measure"``, that returns a mapping (one row) or a
        DataFrame; its columns name their units.
    payload : mapping
        Keyword arguments: whatever JSON holds, dataclasses included (they arrive as dictionaries). The seed is one.

    Examples
    --------
    >>> task = Task(function="builtins.dict", payload={"load": 0.5, "seed": 1})
    >>> task.id == Task(function="builtins.dict", payload={"seed": 1, "load": 0.5}).id
    True
    """

    function: str
    payload: Mapping[str, Any]

    def __post_init__(self) -> None:
        require("." in self.function, f"function = {self.function!r}, but it must be a dotted name: module.function")
        # As JSON gives it back: what is hashed, stored and passed on is the same, and no later change can reach it.
        object.__setattr__(self, "payload", json.loads(canonical_json(self.payload)))
        require(isinstance(self.payload, dict), f"payload = {self.payload!r}, but it must name keyword arguments")

    @cached_property
    def id(self) -> str:
        """Return the SHA-256 of what the result depends on, 64 hexadecimal digits."""
        asked = {"function": self.function, "payload": self.payload}
        return content_id({"schema": SCHEMA, "software": software(), "task": asked})


@dataclass(frozen=True, kw_only=True)
class SweepReport:
    """How many tasks a call of :func:`run_sweep` ran, and how many it found done."""

    ran: int
    found: int


@dataclass(frozen=True)
class _Outcome:
    """Rows of a task, or the text of its exception."""

    table: Any
    record: dict[str, Any]
    error: str = ""


_Batch = Sequence[Task]
Executor = Callable[[Callable[[_Batch], list[_Outcome]], Sequence[_Batch]], Iterable[list[_Outcome]]]
"""Applies a function to every item and yields the results in any order, as they come. A cluster is one of these."""


def all_cores(jobs: int = -1) -> Executor:
    """Return an executor over `jobs` processes of this machine; -1 means as many as it has cores."""

    def execute(function: Callable[[_Batch], list[_Outcome]], batches: Sequence[_Batch]) -> Iterable[list[_Outcome]]:
        pool = joblib.Parallel(n_jobs=jobs, return_as="generator_unordered")
        results: Iterable[list[_Outcome]] = pool(joblib.delayed(function)(batch) for batch in batches)
        return results

    return execute


def one_by_one(function: Callable[[_Batch], list[_Outcome]], batches: Sequence[_Batch]) -> Iterable[list[_Outcome]]:
    """Execute in this process, in order: for a debugger and for functions that are not importable elsewhere."""
    return map(function, batches)


def run_sweep(
    tasks: Iterable[Task],
    folder: str | Path,
    *,
    executor: Executor | None = None,
    tasks_per_file: int = 1,
    label: str = "sweep",
) -> SweepReport:
    """Run all tasks that have no result in `folder` yet.

    Parameters
    ----------
    tasks : iterable of Task
        Independent of each other and of their order.
    folder : path
        Where the parts are; made when it is missing. Several sweeps may share it.
    executor : callable, optional
        What runs the batches; :func:`all_cores` by default.
    tasks_per_file : int
        Tasks run and stored together; more than 1 when a task takes milliseconds.
    label : str
        Beside the progress bar.

    Returns
    -------
    SweepReport
        How much was done, how much was there; :func:`merge` gives the rows.

    Raises
    ------
    ParameterError
        If two tasks are the same, or `folder` is a file or holds a file that is no part.
    SweepError
        If tasks failed, after all others have been run and stored.
    """
    asked, place = list(tasks), Path(folder)
    size = int(whole("tasks_per_file", tasks_per_file, minimum=1))
    ids = {task.id for task in asked}
    require(len(ids) == len(asked), f"{len(asked) - len(ids)} tasks are there twice: give each replicate its own seed")
    require(not place.exists() or place.is_dir(), f"{place} is a file: name a folder")
    place.mkdir(parents=True, exist_ok=True)
    done = finished_tasks(place)
    missing = [task for task in asked if task.id not in done]
    batches = [missing[i : i + size] for i in range(0, len(missing), size)]
    if not batches:
        return SweepReport(ran=0, found=len(asked))
    execute = all_cores() if executor is None else executor
    failures: list[str] = []
    for outcomes in track(execute(_run_batch, batches), total=len(batches), label=label):
        failures += _store(outcomes, place)
    if failures:
        raise SweepError(f"{len(failures)} of {len(missing)} tasks failed, the others are stored; {failures[0]}")
    return SweepReport(ran=len(missing), found=len(asked) - len(missing))


def gather(
    tasks: Sequence[Task], folder: str | Path | None = None, *, executor: Executor | None = None, label: str = "sweep"
) -> pd.DataFrame:
    """Run the tasks that `folder` lacks and return the rows of all, in the order of `tasks`.

    Parameters
    ----------
    tasks : sequence of Task
        Independent of each other; one that is there twice runs once.
    folder : path, optional
        Where the parts are kept; without one they are forgotten.
    executor, label
        As in :func:`run_sweep`.

    Returns
    -------
    pandas.DataFrame
        Task id, plain arguments of the task, and the columns of its function.

    Raises
    ------
    ParameterError
        If `folder` is a file or holds a file that is no part.
    SweepError
        If tasks failed, after all others have been run and stored.

    Examples
    --------
    >>> gather([Task(function="builtins.dict", payload={"load": 0.5})], executor=one_by_one)["load"].item()
    0.5
    """
    if folder is None:
        with tempfile.TemporaryDirectory() as forgotten:
            return gather(tasks, forgotten, executor=executor, label=label)
    once = {task.id: task for task in tasks}
    run_sweep(once.values(), folder, executor=executor, label=label)
    return merge([folder], task_ids=list(once))


def _store(outcomes: Sequence[_Outcome], folder: Path) -> list[str]:
    """Write the part of a batch; return what went wrong in the tasks that have none."""
    good = [outcome for outcome in outcomes if not outcome.error]
    if good:
        records = [outcome.record for outcome in good]
        ids = [record["id"] for record in records]
        name = ids[0] if len(ids) == 1 else content_id(ids)
        table = pa.concat_tables([outcome.table for outcome in good], promote_options="permissive")
        write_part(table, folder / f"{name}.parquet", tasks=records)
    return [outcome.error for outcome in outcomes if outcome.error]


def _run_batch(batch: _Batch) -> list[_Outcome]:
    return [_run_task(task) for task in batch]


def _run_task(task: Task) -> _Outcome:
    record = {"id": task.id, "function": task.function, "payload": task.payload}
    begin_s = time.process_time()
    try:
        table = pa.Table.from_pandas(_rows(task), preserve_index=False).replace_schema_metadata(None)
    except Exception:  # whatever a user's function raises must not end the other tasks
        return _Outcome(None, record, f"{task.function}({canonical_json(task.payload)}):\n{traceback.format_exc()}")
    return _Outcome(table, record | {"cpu_s": time.process_time() - begin_s})


def _rows(task: Task) -> pd.DataFrame:
    """Call the function; put the id and the plain arguments before its columns."""
    module, _, name = task.function.rpartition(".")
    result = getattr(import_module(module), name)(**task.payload)
    if isinstance(result, Mapping):
        result = pd.DataFrame([result])
    if not isinstance(result, pd.DataFrame):
        raise ParameterError(f"{task.function} returned {type(result).__name__}, but rows are a mapping or a DataFrame")
    require(TASK_COLUMN not in result.columns, f"{task.function} returned a column {TASK_COLUMN}, which the sweep adds")
    given = {
        key: value
        for key, value in task.payload.items()
        if isinstance(value, bool | int | float | str) and key not in result.columns
    }
    return result.assign(**given, **{TASK_COLUMN: task.id})[[TASK_COLUMN, *given, *result.columns]]
