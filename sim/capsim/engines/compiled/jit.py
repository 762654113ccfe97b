"""Compilation of functions that only ever become part of another one: as far as LLVM's intermediate language.

Numba optimises every function that it compiles, with all functions that this one calls, and makes machine code of it,
though a part is optimised again, and made machine code of, with each function around it. The event loop has 190 parts
and compiles in 40% of the time without that, to code as fast. The methods below are private to Numba; a release that
calls them otherwise does that work again.

Where machine code is kept is another question (:mod:`~capsim.engines.compiled.machine_code`).
"""

import math
from collections.abc import Callable
from functools import cache
from types import CellType, FunctionType
from typing import Any, TypeVar, cast

from numba import njit, types
from numba.core.codegen import JITCodeLibrary
from numba.core.compiler import Compiler
from numba.extending import overload

from capsim.base.inlined import is_marked
from capsim.engines.compiled.machine_code import ObjectCode
from capsim.engines.compiled.refusals import refuse_answers, refuse_casts, refuse_writes
from capsim.roles.hooks import Hook, is_own
from capsmodel.code_identity import function_digest, names_read

TWO_NUMBERS = types.int64(types.int64, types.int64)


class PartLibrary(JITCodeLibrary):
    """The code of a part and of its own parts, to be linked into that of a whole, which is optimised."""

    def _optimize_final_module(self) -> None:
        pass

    def _finalize_final_module(self) -> None:
        self._finalize_dynamic_globals()
        self._finalized = True

    @property
    def codegen(self) -> Any:
        """What is given the address of Python's globals, of which a part that is never run by itself has none."""
        return self

    def set_env(self, name: str, environment: Any) -> None:
        """Take the address and forget it."""


class PartCompiler(Compiler):
    """Numba's compiler without its last step, machine code."""

    def define_pipelines(self) -> Any:
        """Return Numba's steps, with another library to enter the code."""
        self.state.library = PartLibrary(self.state.targetctx.codegen(), self.state.func_id.func_qualname)
        return super().define_pipelines()


class OwnPartCompiler(PartCompiler):
    """Numba's compiler of a function of one's own that a hook calls."""

    def define_pipelines(self) -> Any:
        """Return Numba's steps with those that refuse."""
        return refuse_casts(refuse_writes(super().define_pipelines()))


class HookCompiler(Compiler):
    """Numba's compiler of a hook."""

    def define_pipelines(self) -> Any:
        """Return Numba's steps with those that refuse."""
        return refuse_answers(refuse_writes(super().define_pipelines()))


class OwnHookCompiler(HookCompiler):
    """Numba's compiler of a hook of one's own."""

    def define_pipelines(self) -> Any:
        """Return Numba's steps with those that refuse."""
        return refuse_casts(super().define_pipelines())


Function = TypeVar("Function", bound=Callable[..., Any])


WITHOUT_COUNTING: Any = {"_nrt": False}


def _accepts_nrt() -> bool:
    try:
        njit(**WITHOUT_COUNTING)(lambda: 0)
    except KeyError:
        return False
    return True


FLAGS: Any = {"error_model": "numpy"} | (WITHOUT_COUNTING if _accepts_nrt() else {})


# Python and C call none of these, but by their addresses
WITHOUT_WRAPPERS: Any = FLAGS | {"no_cpython_wrapper": True, "no_cfunc_wrapper": True}
# If `forceinline` were not set they would inherit that of their first caller
PART: Any = WITHOUT_WRAPPERS | {"forceinline": False, "pipeline_class": PartCompiler}


# Of functions of one's own each index and division is checked: they may read or write what is not theirs.
CHECKED: Any = {"error_model": "python", "boundscheck": True}


def kernel(function: Function) -> Function:
    """Mark a function of the event loop; it is compiled as part of the loop."""
    return cast(Function, njit(**PART)(function))


def inlined_kernel(function: Function) -> Function:
    """Mark one that every packet needs: its machine code takes the place of its calls (1.15 times as fast)."""
    return cast(Function, njit(**PART | {"forceinline": True})(function))


def expanded(function: Function) -> Function:
    """Mark one whose text takes the place of its calls: without counting no function can return an array."""
    return cast(Function, njit(inline="always", **FLAGS)(function))


def part(function: Function) -> Function:
    """Return a function of Python as one that kernels call."""
    return cast(Function, _part(function, function_digest(cast(FunctionType, function))))


@cache
def _part(function: Any, digest: str) -> Any:
    """Return a function as a part of hooks; its digest says which constants and functions it reads.

    It is compiled for each type that it is called with. A dispatcher of Numba would take one that it was compiled for
    before, such as the parameters of another component, for a type that has its fields and more.
    """
    own = CHECKED | {"pipeline_class": OwnPartCompiler} if is_own(function) else {}
    copy = bound(function)
    overload(copy, jit_options=PART | own, strict=False)(lambda *_: copy)
    return copy


def bound(function: Any) -> Any:
    """Return a function of the same code for which the functions marked `inlined` that it calls are such parts."""
    parts = {each.name: part(each.value) for each in names_read(function) if is_marked(each.value)}
    cells = [CellType(_as_part(cell.cell_contents)) for cell in function.__closure__ or ()]
    copy = FunctionType(
        function.__code__, function.__globals__ | parts, function.__name__, function.__defaults__, tuple(cells)
    )
    copy.__module__, copy.__qualname__ = function.__module__, function.__qualname__
    copy.__kwdefaults__ = function.__kwdefaults__
    return copy


def _as_part(value: Any) -> Any:
    return part(value) if is_marked(value) else value


def hook_code(hook: Hook, signature: Any) -> ObjectCode:
    """Return the machine code of a hook."""
    own = CHECKED | {"pipeline_class": OwnHookCompiler} if is_own(hook) else {"pipeline_class": HookCompiler}
    return object_code(bound(hook), signature, **own)


def object_code(function: Callable[..., Any], signature: Any, **options: Any) -> ObjectCode:
    """Return the machine code of a function, which is called as Numba's functions call each other."""
    dispatcher = njit(**WITHOUT_WRAPPERS | options)(function)
    dispatcher.compile(signature)
    (result,) = dispatcher.overloads.values()
    library, symbol = result.library, result.fndesc.llvm_func_name
    library.get_pointer_to_function(symbol)  # machine code is made when it is asked for
    _, _, (content, _) = library.serialize_using_object_code()
    declared = {each.name for each in library._final_module.functions if each.is_declaration}
    named = {name for name in declared if not name.startswith("llvm.")}
    # functions of C's mathematical library are in every process, and `math` has nearly all names of these
    return ObjectCode(content, symbol, calls_numba=not named <= set(dir(math)))
