"""Machine code on disk: kept as object files, and loaded by LLVM alone.

Importing Numba and the parts of the loop takes longer than a small run. A process that finds machine code on disk does
without: it has no functions of Numba, but addresses.

A file is named after a function, and after a hash of all that its machine code depends on: of what it does, the types
that it is called with, the compiler, its settings and the processor. Files are kept in `NUMBA_CACHE_DIR` if that is
set, else beside the sources, else in the user's cache.
"""

import hashlib
import json
import os
import pickle
import re
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from ctypes import CFUNCTYPE, POINTER, Structure, byref, c_int32, c_int64, c_void_p, string_at
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

import llvmlite.binding as llvm

from capsmodel._environment import environment_of
from capsmodel._files import atomic_writer
from capsmodel._interrupts import interruptible
from capsmodel.checks import ParameterError

CAPSIM = Path(__file__).parents[2]
KEPT = 4  # files of one function and its types: the latest


@dataclass(frozen=True)
class ObjectCode:
    """An object file: its bytes, the symbol of the function in it, and whether it calls functions of Numba."""

    content: bytes
    symbol: str
    calls_numba: bool


@dataclass(frozen=True)
class Loaded:
    """Machine code in memory: where its function begins, whether it was on disk, and what keeps it in memory."""

    address: int
    from_disk: bool
    engine: Any


# -- files


def loaded(name: str, types: str, key: str, compiled: Callable[[], ObjectCode]) -> Loaded:
    """Return machine code from its file; if there is none, compile it, and keep it where a folder can be written."""
    if os.environ.get("NUMBA_DISABLE_JIT", "0") not in ("", "0"):
        text = "the compiled engine needs Numba's compiler, which NUMBA_DISABLE_JIT=1 switches off"
        raise ParameterError(f"{text}: unset it, or take the reference engine")
    stem = re.sub(r"[^\w.]", "_", name) + "-" + _hash(types, *_target())[:16]
    file_name = f"{stem}-{_hash(key)[:32]}.o"
    found = _find(file_name)
    if found is not None:
        return _load(found, from_disk=True)
    folder = _writable_folder()
    if folder is None:
        return _load(interruptible(compiled), from_disk=False)
    with _one_process_at_a_time(folder / f"{stem}.lock"):
        found = _find(file_name)
        if found is not None:
            return _load(found, from_disk=True)
        code = interruptible(compiled)
        _keep(folder, stem, file_name, code)
        return _load(code, from_disk=False)


def _hash(*parts: str) -> str:
    return hashlib.sha256("\n".join(parts).encode()).hexdigest()


@cache
def _target() -> tuple[str, ...]:
    """Return what else decides on machine code: the compiler, its settings and the processor."""
    versions = [f"{name} {value}" for name, value in environment_of(("numba", "llvmlite")).items()]
    settings = sorted(f"{name}={value}" for name, value in os.environ.items() if name.startswith("NUMBA_"))
    settings = [each for each in settings if not each.startswith("NUMBA_CACHE_DIR=")]
    named = "NUMBA_CPU_NAME" in os.environ  # then the one at hand does not count
    processor = [] if named else [llvm.get_host_cpu_name(), llvm.get_host_cpu_features().flatten()]
    return (*versions, *settings, llvm.get_process_triple(), *processor)


def _folders() -> list[Path]:
    given = os.environ.get("NUMBA_CACHE_DIR")
    if given:
        return [Path(given)]
    folders = [CAPSIM / "__pycache__"]
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
    """Hold the lock of a function: one process compiles it, those that waited find it on disk."""
    try:
        import fcntl
    except ModuleNotFoundError:  # on Windows each process compiles for itself
        yield
        return
    with lock.open("w") as file:
        with suppress(OSError):  # a file system without locks
            fcntl.flock(file, fcntl.LOCK_EX)  # released when the file is closed, at the latest by the process's end
        yield


def _find(file_name: str) -> ObjectCode | None:
    for folder in _folders():
        with suppress(OSError, ValueError):
            head, _, content = (folder / file_name).read_bytes().partition(b"\n")
            return ObjectCode(content, **json.loads(head))
    return None


def _keep(folder: Path, stem: str, file_name: str, code: ObjectCode) -> None:
    """Write an object file, and drop the oldest ones of the same function and types."""
    head = json.dumps({"symbol": code.symbol, "calls_numba": code.calls_numba})
    with suppress(OSError), atomic_writer(folder / file_name) as file:
        file.write(head.encode() + b"\n" + code.content)
    with suppress(OSError):  # another process may drop them too
        for path in sorted(folder.glob(f"{stem}-*.o"), key=os.path.getmtime)[:-KEPT]:
            path.unlink()


# -- memory


def _load(code: ObjectCode, *, from_disk: bool) -> Loaded:
    """Let LLVM put an object file in memory."""
    llvm.initialize_native_target()
    llvm.initialize_native_asmprinter()
    if code.calls_numba:
        from numba.core.registry import cpu_target

        cpu_target.target_context.refresh()  # makes the names of its functions known to LLVM
    machine = llvm.Target.from_default_triple().create_target_machine(jit=True)
    engine = llvm.create_mcjit_compiler(llvm.parse_assembly(""), machine)
    engine.add_object_file(llvm.ObjectFileRef.from_data(code.content))
    engine.finalize_object()
    return Loaded(engine.get_function_address(code.symbol), from_disk, engine)


class _Raised(Structure):
    """The beginning of what Numba's functions say of an exception: class, arguments and place, pickled."""

    _fields_ = (("pickled", c_void_p), ("size", c_int32))


# How Numba's functions call each other: they return whether all went well, and write result and exception
_TWO_NUMBERS = CFUNCTYPE(c_int32, POINTER(c_int64), POINTER(POINTER(_Raised)), c_int64, c_int64)


def call(function: Loaded, first: int, second: int) -> int:
    """Call a function that takes two numbers; Python's other threads run meanwhile.

    Raises
    ------
    Exception
        Whatever a hook raises.
    """
    result, raised = c_int64(), POINTER(_Raised)()
    if _TWO_NUMBERS(function.address)(byref(result), byref(raised), first, second):
        kind, arguments, _ = pickle.loads(string_at(raised.contents.pickled, raised.contents.size))
        raise kind(*arguments or ())
    return result.value
