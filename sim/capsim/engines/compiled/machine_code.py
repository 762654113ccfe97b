"""Machine code of hooks and of the event loop as object files, loaded and called by LLVM and `ctypes` alone.

Importing Numba and the parts of the loop takes longer than a small run. A process that finds machine code on disk
(``capsmodel._machine_code``) does without: it has no functions of Numba, but addresses.
"""

import json
import os
import pickle
from collections.abc import Callable
from ctypes import CFUNCTYPE, POINTER, Structure, byref, c_int32, c_int64, c_void_p, string_at
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import llvmlite.binding as llvm

from capsmodel._interrupts import interruptible
from capsmodel._machine_code import kept
from capsmodel.checks import ParameterError

CAPSIM = Path(__file__).parents[2]


@dataclass(frozen=True)
class ObjectCode:
    """An object file: its bytes, the symbol of the function in it, and whether it calls functions of Numba."""

    content: bytes
    symbol: str
    calls_numba: bool

    def packed(self) -> bytes:
        """Return all of it as bytes."""
        head = json.dumps({"symbol": self.symbol, "calls_numba": self.calls_numba})
        return head.encode() + b"\n" + self.content

    @classmethod
    def unpacked(cls, content: bytes) -> "ObjectCode":
        """Return what :meth:`packed` made bytes of."""
        head, _, rest = content.partition(b"\n")
        return cls(rest, **json.loads(head))


@dataclass(frozen=True)
class Loaded:
    """Machine code in memory: where its function begins, whether it was on disk, and what keeps it in memory."""

    address: int
    from_disk: bool
    engine: Any


def loaded(name: str, types: str, key: str, compiled: Callable[[], ObjectCode]) -> Loaded:
    """Return machine code from its file, or else compile it; parameters as of `kept` of ``capsmodel._machine_code``."""
    if os.environ.get("NUMBA_DISABLE_JIT", "0") not in ("", "0"):
        text = "the compiled engine needs Numba's compiler, which NUMBA_DISABLE_JIT=1 switches off"
        raise ParameterError(f"{text}: unset it, or take the reference engine")
    content, from_disk = kept(name, types, key, lambda: interruptible(compiled).packed())
    return _load(ObjectCode.unpacked(content), from_disk=from_disk)


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
