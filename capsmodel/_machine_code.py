"""Machine code on disk: that of the codec and of the simulator, kept from one process to the next.

A file is named after a function, and after a hash of all that its machine code depends on: of what it does, the types
that it is called with, the compiler, its settings and the processor. Files are kept in `NUMBA_CACHE_DIR` if that is
set, else beside the sources, else in the user's cache.

The first line has the number of the format and the SHA-256 of the file's name and of all that follows. What does not
fit it, is cut or is no regular file, counts as not there: it is compiled and kept anew. The digest tells what was
damaged from what was written, not who wrote it: whoever may write to the folder decides what runs, as with all of
Python's byte code.
"""

import errno
import hashlib
import os
import re
import stat
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager, suppress
from functools import cache
from pathlib import Path
from typing import BinaryIO

import llvmlite.binding as llvm

from capsmodel._environment import environment_of
from capsmodel._files import atomic_writer

KEPT = 4  # files of one function and its types: the latest
FORMAT = 1
# Settings of Numba that decide on instructions; all others are about messages, threads, files or other processors
SETTINGS = (
    *("NUMBA_BOUNDSCHECK", "NUMBA_CPU_FEATURES", "NUMBA_CPU_NAME", "NUMBA_DEBUG_NRT", "NUMBA_DEBUGINFO"),
    *("NUMBA_DISABLE_INTEL_SVML", "NUMBA_ENABLE_AVX", "NUMBA_EXTEND_VARIABLE_LIFETIMES", "NUMBA_LLVM_REFPRUNE_FLAGS"),
    *("NUMBA_LLVM_REFPRUNE_PASS", "NUMBA_LOOP_VECTORIZE", "NUMBA_NRT_STATS", "NUMBA_OPT", "NUMBA_SLP_VECTORIZE"),
)


def kept(name: str, types: str, key: str, compiled: Callable[[], bytes]) -> tuple[bytes, bool]:
    """Return machine code, and whether it was on disk; if not, compile it, and keep it where a folder can be written.

    Parameters
    ----------
    name : str
        Of the function.
    types : str
        What it is called with.
    key : str
        What it does. Of each name and types the files of the latest keys are kept.
    compiled : callable
        Returns the machine code.
    """
    stem, file_name = _names(name, types, key)
    kept_code = _find(file_name)
    if kept_code is not None:
        return kept_code, True
    folder = _writable_folder()
    if folder is None:
        return compiled(), False
    with _one_process_at_a_time(folder / f"{stem}.lock"):
        kept_code = _find(file_name)
        if kept_code is not None:
            return kept_code, True
        content = compiled()
        _keep(folder, stem, file_name, content)
        return content, False


def is_kept(name: str, types: str, key: str) -> bool:
    """Return whether machine code is on disk; parameters as of :func:`kept`."""
    return _find(_names(name, types, key)[1]) is not None


def _names(name: str, types: str, key: str) -> tuple[str, str]:
    """Return how all files of a function and its types begin, and the name of the one of this key."""
    stem = re.sub(r"[^\w.]", "_", name) + "-" + _hash(types, *_target())[:16]
    return stem, f"{stem}-{_hash(key)[:32]}.o"


def _hash(*parts: str) -> str:
    return hashlib.sha256("\n".join(parts).encode()).hexdigest()


@cache
def _target() -> tuple[str, ...]:
    """Return what else decides on machine code: the compiler, its settings and the processor."""
    versions = [f"{name} {value}" for name, value in environment_of(("numba", "llvmlite")).items()]
    settings = [f"{name}={os.environ[name]}" for name in SETTINGS if name in os.environ]
    named = "NUMBA_CPU_NAME" in os.environ  # then the one at hand does not count
    processor = [] if named else [llvm.get_host_cpu_name(), llvm.get_host_cpu_features().flatten()]
    return (*versions, *settings, llvm.get_process_triple(), *processor)


def _folders() -> list[Path]:
    given = os.environ.get("NUMBA_CACHE_DIR")
    if given:
        return [Path(given)]
    folders = [Path(__file__).parent / "__pycache__"]
    with suppress(RuntimeError):  # a user without a home
        folders.append(Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "capsmodel")
    return folders


def _writable_folder() -> Path | None:
    for folder in _folders():
        with suppress(OSError):
            folder.mkdir(parents=True, exist_ok=True)
            if os.access(folder, os.W_OK):
                return folder
    return None


@contextmanager
def _one_process_at_a_time(lock: Path) -> Iterator[None]:
    """Hold the lock of a function: one process compiles it, those that waited find it on disk.

    Where the lock cannot be had, as one of another user or on a file system without locks, each process compiles for
    itself.
    """
    with ExitStack() as held:
        with suppress(OSError, ModuleNotFoundError):
            import fcntl  # not on Windows

            file = held.enter_context(_regular_file(lock, os.O_CREAT))
            fcntl.flock(file, fcntl.LOCK_EX)  # released when the file is closed, at the latest by the process's end
        yield


@contextmanager
def _regular_file(path: Path, flags: int = 0) -> Iterator[BinaryIO]:
    """Open a file to read it, whatever else may have its name.

    Raises
    ------
    OSError
        If it is a link, a folder, a pipe or a device, or cannot be read.
    """
    never_waits = getattr(os, "O_NOFOLLOW", 0) | getattr(os, "O_NONBLOCK", 0)
    with os.fdopen(os.open(path, os.O_RDONLY | flags | never_waits, 0o666), "rb") as file:
        if not stat.S_ISREG(os.fstat(file.fileno()).st_mode):
            raise OSError(errno.EINVAL, "no regular file", str(path))
        yield file


def _find(file_name: str) -> bytes | None:
    for folder in _folders():
        with suppress(OSError), _regular_file(folder / file_name) as file:
            head, _, content = file.read().partition(b"\n")
            if head == _head(file_name, content):
                return content
    return None


def _head(file_name: str, content: bytes) -> bytes:
    digest = hashlib.sha256(file_name.encode() + b"\n" + content).hexdigest()
    return f"machine code {FORMAT} {digest}".encode()


def _keep(folder: Path, stem: str, file_name: str, content: bytes) -> None:
    """Write a file, and drop the oldest ones of the same function and types."""
    place = folder / file_name
    with suppress(OSError):
        if place.is_symlink():
            place.unlink()  # what it points to is not ours
        with atomic_writer(place) as file:
            file.write(_head(file_name, content) + b"\n" + content)
    with suppress(OSError):  # another process may drop them too
        for path in sorted(folder.glob(f"{stem}-*.o"), key=os.path.getmtime)[:-KEPT]:
            path.unlink()
