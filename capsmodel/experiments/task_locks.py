"""Sweeps that share a folder: which tasks some living process is running, and which have got their rows meanwhile.

A process locks a task before it runs it: one byte of the file ``.locks`` in the folder, at a place that the
id of the task gives, until the rows are stored. The operating system drops the locks of a process that ends, however it
ends, so no lock outlives its owner and none has to be judged by its age.

What is guaranteed: no task is run by two processes at the same time, nor again after its rows are stored, on one
computer, and on several where the folder's file system passes record locks on, as NFS version 4 does. Where there are
no such locks (Windows, some cluster file systems) two sweeps may run the same task; each writes its part whole.
"""

from collections.abc import Iterator, Mapping
from contextlib import suppress
from pathlib import Path
from types import TracebackType
from typing import Self, TypeVar

from capsmodel._files import unfinished_files
from capsmodel.checks import ParameterError
from capsmodel.experiments.results import part_names, tasks_of

try:
    import fcntl
except ModuleNotFoundError:  # not on Windows
    fcntl = None  # type: ignore[assignment]

_FILE = ".locks"
# Byte 0 says that a sweep is at work in the folder; tasks have the bytes after it.
_PRESENCE = 0
_TASK_DIGITS = 15  # 60 bits: an offset in a file has 63
TaskT = TypeVar("TaskT")


class TaskLocks:
    """The tasks that this process has locked in a folder; a context that unlocks all of them at its end.

    Half-written files are removed when no other process has a sweep at work here: whoever wrote them was killed.
    Threads of one process have their locks in common, so they may run the same task.
    """

    def __init__(self, folder: Path) -> None:
        self._file = (folder / _FILE).open("a+b")
        if self._lock(_PRESENCE) is True:
            for unfinished in unfinished_files(folder):
                unfinished.unlink(missing_ok=True)
        if fcntl is not None:
            with suppress(OSError):
                fcntl.lockf(self._file, fcntl.LOCK_SH, 1, _PRESENCE)

    def __enter__(self) -> Self:
        """Return itself."""
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, at: TracebackType | None) -> None:
        """Unlock all tasks."""
        self._file.close()

    def take(self, task_id: str) -> bool:
        """Lock a task; return whether no other process has it."""
        return self._lock(_byte_of(task_id)) is not False

    def give_back(self, task_id: str) -> None:
        """Let others run a task, or see that it is done."""
        if fcntl is not None:
            with suppress(OSError):
                fcntl.lockf(self._file, fcntl.LOCK_UN, 1, _byte_of(task_id))

    def _lock(self, byte: int) -> bool | None:
        """Lock a byte for this process; return whether it is locked now, or None where there are no locks."""
        if fcntl is None:
            return None
        try:
            fcntl.lockf(self._file, fcntl.LOCK_EX | fcntl.LOCK_NB, 1, byte)
        except (BlockingIOError, PermissionError):
            return False
        except OSError:
            return None
        return True


def _byte_of(task_id: str) -> int:
    return 1 + int(task_id[:_TASK_DIGITS], 16)


class StoredSince:
    """Ids of the tasks whose rows have come into a folder since this object was made, by whatever process."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._read = part_names(folder)
        self._ids: set[str] = set()

    def ids(self) -> set[str]:
        """Return them after a look into the folder; a part that cannot be read is left to whoever merges."""
        new = part_names(self._folder) - self._read
        for name in new:
            with suppress(ParameterError, OSError):
                self._ids.update(task["id"] for task in tasks_of(self._folder / name))
        self._read.update(new)
        return self._ids


def free_batches(
    tasks: Mapping[str, TaskT], *, locks: TaskLocks, stored: StoredSince, size: int
) -> Iterator[list[TaskT]]:
    """Yield the tasks that no other process runs or has run, locked, in batches; each is locked when it is asked for.

    It raises no error, because executors may ask for batches in threads where none would be seen.
    """
    batch = []
    for task_id in list(tasks):
        if not locks.take(task_id):
            continue
        if task_id in stored.ids():
            locks.give_back(task_id)
            continue
        batch.append(tasks[task_id])
        if len(batch) == size:
            yield batch
            batch = []
    if batch:
        yield batch
