"""A sweep: independent tasks, each known by the hash of its content, run on all cores and never twice.

A task is a measuring function and its keyword arguments. Its rows go to a Parquet part in the folder of the sweep, so a
sweep that was killed does only what is missing when it is started again::

    @measurement("port-waits", revision=1)
    def port_waits(*, load, seed): ...

    frame = gather([Task(port_waits, load=load, seed=seed) for load in loads for seed in seeds], "results/mystudy")

The id covers name, revision and arguments. A function that has been edited keeps its id until its revision is raised;
where its code is not that of the kept results, a sweep warns.
"""

import math
import tempfile
import time
import traceback
import warnings
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import nullcontext
from dataclasses import dataclass, field
from itertools import chain
from pathlib import Path
from typing import Any

import pandas as pd
import pyarrow as pa

from capsmodel.checks import ParameterError, require, whole
from capsmodel.code_identity import source_digest
from capsmodel.experiments.executors import Executor, all_cores, closed_at_end, dask_cluster, one_by_one
from capsmodel.experiments.manifest import canonical_json, content_id
from capsmodel.experiments.measurement import measurement
from capsmodel.experiments.progress import BAR, Done, Progress, plain_arguments
from capsmodel.experiments.results import TASK_COLUMN, finished_tasks, merge, write_part
from capsmodel.experiments.task import Task
from capsmodel.experiments.task_locks import StoredSince, TaskLocks, free_batches

__all__ = [
    "Done",
    "Executor",
    "OtherCodeWarning",
    "Progress",
    "SweepError",
    "SweepReport",
    "Task",
    "all_cores",
    "dask_cluster",
    "end_of",
    "gather",
    "measurement",
    "merge",
    "one_by_one",
    "plain_arguments",
    "run_sweep",
]


# How often a sweep looks whether tasks that another process runs have ended.
_LOOK_AGAIN_S = 0.2


class SweepError(RuntimeError):
    """Some tasks failed; all others are done and stored."""


class OtherCodeWarning(UserWarning):
    """Kept results were measured by other code than today's, under the same revision."""


@dataclass(frozen=True, kw_only=True)
class SweepReport:
    """How many tasks a call of :func:`run_sweep` ran, and how many it found done; others were left for want of time."""

    ran: int
    found: int


@dataclass(frozen=True)
class _Outcome:
    """Rows of a task, or what went wrong: the rule that its input breaks, or a traceback."""

    table: Any
    record: dict[str, Any]
    error: str = ""
    bad_input: bool = False


def run_sweep(
    tasks: Iterable[Task],
    folder: str | Path,
    *,
    executor: Executor | None = None,
    tasks_per_file: int = 1,
    progress: Progress = BAR,
    done: Done | None = None,
    budget_s: float = math.inf,
) -> SweepReport:
    """Run all tasks that have no result in `folder` yet.

    Parameters
    ----------
    tasks : iterable of Task
        Independent of each other and of their order.
    folder : path
        Where the parts are; made when it is missing. Several sweeps may share it, also at the same time: they divide
        the tasks, and each waits for those that another is running (:mod:`capsmodel.experiments.task_locks`).
    executor : callable, optional
        What runs the batches; :func:`all_cores` by default.
    tasks_per_file : int
        Tasks run and stored together; more than 1 when a task takes milliseconds.
    progress : Progress
        What is shown meanwhile.
    done : callable, optional
        Called in place of that, with the tasks that have just ended.
    budget_s : float
        Time after which no further task is handed to the executor, in seconds; those that it has are finished.

    Returns
    -------
    SweepReport
        How much was done, how much was there; :func:`merge` gives the rows.

    Raises
    ------
    ParameterError
        If two tasks are the same, `folder` is a file or holds a file that is no part, or `budget_s` is no time.
        Or if the input of every task that failed breaks a rule.
    SweepError
        If tasks failed, after all others have been run and stored.
    ChildProcessError
        If a worker process was killed; the tasks that had ended are stored.

    Warns
    -----
    OtherCodeWarning
        If results that are there were measured by other code, under the same name and revision.
    """
    wanted, place, end_s = list(tasks), Path(folder), end_of(budget_s)
    size = int(whole("tasks_per_file", tasks_per_file, minimum=1))
    _check(wanted, place)
    place.mkdir(parents=True, exist_ok=True)
    functions = {task.measurement.name: task.function for task in wanted}
    code = {name: source_digest(function) for name, function in functions.items()}
    stored = StoredSince(place)  # before the look into the folder: nothing comes in between unseen
    kept = finished_tasks(place)
    _warn_of_other_code([(task, kept[task.id]) for task in wanted if task.id in kept], code)
    missing = {task.id: task for task in wanted if task.id not in kept}
    if not missing:
        return SweepReport(ran=0, found=len(wanted))
    with nullcontext(done) if done else progress.shown(len(missing)) as ended:
        run = _Run(missing, place, ended, end_s, code)
        run.finish(executor or all_cores(), stored=stored, size=size)
    if run.failed:
        raise _failure(run.failed, f"{len(run.failed)} of {run.ran} tasks failed, the others are stored")
    return SweepReport(ran=run.ran, found=len(wanted) - run.ran - len(run.left))


def _check(wanted: Sequence[Task], place: Path) -> None:
    ids = {task.id for task in wanted}
    require(
        len(ids) == len(wanted), f"{len(wanted) - len(ids)} tasks are there twice: give each replicate its own seed"
    )
    require(not place.exists() or place.is_dir(), f"{place} is a file: name a folder")


def end_of(budget_s: float) -> float:
    """Return when a budget that begins now is over, in seconds of the monotonic clock.

    Raises
    ------
    ParameterError
        If it is negative or NaN.
    """
    require(budget_s >= 0, f"budget_s = {budget_s:g}, but it must be a time of 0 s or more; infinite is no limit")
    return time.monotonic() + budget_s


@dataclass
class _Run:
    """What a call of :func:`run_sweep` has left to do, and what came of what it did."""

    left: dict[str, Task]
    folder: Path
    ended: Done
    end_s: float
    code: Mapping[str, str]
    ran: int = 0
    failed: list[_Outcome] = field(default_factory=list)

    def finish(self, execute: Executor, *, stored: StoredSince, size: int) -> None:
        """Run what is free, and wait for what others run, until no task is left or the time is over."""
        with TaskLocks(self.folder) as locks:
            while self.left and time.monotonic() < self.end_s:
                batches = self._in_time(free_batches(self.left, locks=locks, stored=stored, size=size))
                first = next(batches, None)
                if first is None:
                    time.sleep(_LOOK_AGAIN_S)
                else:
                    with closed_at_end(execute(_run_batch, chain([first], batches))) as results:
                        for outcomes in results:
                            self._keep(outcomes, locks)
                self._forget(stored.ids())

    def _in_time(self, batches: Iterator[list[Task]]) -> Iterator[list[Task]]:
        """Yield batches until the time is over; what is not asked for stays free for others."""
        while time.monotonic() < self.end_s and (batch := next(batches, None)) is not None:
            yield batch

    def _keep(self, outcomes: Sequence[_Outcome], locks: TaskLocks) -> None:
        self.failed += _store(outcomes, self.folder, self.code)
        self.ran += len(outcomes)
        ids = [outcome.record["id"] for outcome in outcomes]
        for task_id in ids:
            locks.give_back(task_id)
        self._forget(ids)

    def _forget(self, ids: Iterable[str]) -> None:
        """Leave out tasks that have ended, here or in another process."""
        gone = [self.left.pop(task_id) for task_id in ids if task_id in self.left]
        if gone:
            self.ended(gone)


def _failure(failed: Sequence[_Outcome], text: str) -> Exception:
    """Return what to raise: bad input in one line, anything else with the traceback of the first task."""
    first = failed[0]
    if all(outcome.bad_input for outcome in failed):
        return ParameterError(first.error if len(failed) == 1 else f"{first.error} ({text})")
    return SweepError(
        f"{text}; {first.record['measurement']}({canonical_json(first.record['payload'])}):\n{first.error}"
    )


def gather(
    tasks: Sequence[Task],
    folder: str | Path | None = None,
    *,
    executor: Executor | None = None,
    progress: Progress = BAR,
    done: Done | None = None,
) -> pd.DataFrame:
    """Run the tasks that `folder` lacks by :func:`run_sweep`, and return the rows of all, in the order of `tasks`.

    Parameters
    ----------
    tasks : sequence of Task
        Independent of each other; one that is there twice runs once.
    folder : path, optional
        Where the parts are kept; without one they are forgotten.
    executor, progress, done
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
    >>> double = measurement("double", revision=1)(lambda *, number: {"double": 2 * number})
    >>> gather([Task(double, number=3)], executor=one_by_one)["double"].item()
    6
    """
    once = {task.id: task for task in tasks}
    with tempfile.TemporaryDirectory() if folder is None else nullcontext(folder) as place:
        run_sweep(once.values(), place, executor=executor, progress=progress, done=done)
        return merge([place], task_ids=list(once))


def _warn_of_other_code(there: Sequence[tuple[Task, Mapping[str, Any]]], code: Mapping[str, str]) -> None:
    """Warn once for each measurement whose kept results name another digest of its code than today's."""
    current = [(task.measurement, kept.get("code", code[task.measurement.name])) for task, kept in there]
    old = [known for known, digest in current if digest != code[known.name]]
    for known, count in Counter(old).items():
        text = f"{count} kept results of {known.name!r}, revision {known.revision}, come from other code than today's"
        advice = "raise the revision to measure anew, or go on if the change cannot change them"
        warnings.warn(f"{text}: {advice}", OtherCodeWarning, stacklevel=3)


def _store(outcomes: Sequence[_Outcome], folder: Path, code: Mapping[str, str]) -> list[_Outcome]:
    """Write the part of a batch, with the digest of each measurement's code; return the outcomes without rows."""
    good = [outcome for outcome in outcomes if not outcome.error]
    if good:
        records = [outcome.record | {"code": code.get(outcome.record["measurement"])} for outcome in good]
        ids = [record["id"] for record in records]
        name = ids[0] if len(ids) == 1 else content_id(ids)
        table = pa.concat_tables([outcome.table for outcome in good], promote_options="permissive")
        write_part(table, folder / f"{name}.parquet", tasks=records)
    return [outcome for outcome in outcomes if outcome.error]


def _run_batch(batch: Sequence[Task]) -> list[_Outcome]:
    return [_run_task(task) for task in batch]


def _run_task(task: Task) -> _Outcome:
    known = task.measurement
    record = {"id": task.id, "measurement": known.name, "revision": known.revision, "payload": task.payload}
    begin_s = time.process_time()
    try:
        table = pa.Table.from_pandas(_rows(task), preserve_index=False).replace_schema_metadata(None)
    except ParameterError as error:
        return _Outcome(None, record, str(error), bad_input=True)
    except (Exception, SystemExit):  # whatever a user's function raises must not end the other tasks
        return _Outcome(None, record, traceback.format_exc())
    return _Outcome(table, record | {"cpu_s": time.process_time() - begin_s})


def _rows(task: Task) -> pd.DataFrame:
    """Call the function; put the id and the plain arguments before its columns."""
    name, result = task.measurement.name, task.function(**task.payload)
    if isinstance(result, Mapping):
        result = pd.DataFrame([result])
    if not isinstance(result, pd.DataFrame):
        raise ParameterError(f"{name} returned {type(result).__name__}, but rows are a mapping or a DataFrame")
    require(TASK_COLUMN not in result.columns, f"{name} returned a column {TASK_COLUMN}, which the sweep adds")
    given = {
        key: value
        for key, value in task.payload.items()
        if isinstance(value, bool | int | float | str) and key not in result.columns
    }
    return result.assign(**given, **{TASK_COLUMN: task.id})[[TASK_COLUMN, *given, *result.columns]]
