"""Compilation of functions that only ever become part of another one: as far as LLVM's intermediate language.

Numba optimises every function that it compiles, with all functions that this one calls, and makes machine code of it,
though a part is optimised again, and made machine code of, with each function around it. The event loop has 190 parts
and compiles in 40% of the time without that, to code as fast. The methods below are private to Numba; a release that
calls them otherwise does that work again.

Machine code is kept on disk under a key: :func:`loop_key` for the event loop, :func:`hook_key` for a hook.
"""

from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from functools import cache
from pathlib import Path
from typing import Any, TypeVar, cast

import llvmlite.binding
import numba
from numba import njit
from numba.core.ccallback import CFunc
from numba.core.codegen import JITCodeLibrary
from numba.core.compiler import Compiler
from numba.extending import overload

from capsim.engines.compiled.refusals import HookCompiler
from capsim.roles.hooks import Hook, is_own
from capsmodel._compilation import KeptCode, interruptible
from capsmodel.checks import ParameterError
from capsmodel.code_identity import files_digest, function_digest

CAPSIM = Path(__file__).parents[2]
IN_THE_LOOP = ("base", "engines", "records")


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


Function = TypeVar("Function", bound=Callable[..., Any])


WITHOUT_COUNTING: Any = {"_nrt": False}


def _accepts_nrt() -> bool:
    try:
        njit(**WITHOUT_COUNTING)(lambda: 0)
    except KeyError:
        return False
    return True


FLAGS: Any = {"error_model": "numpy"} | (WITHOUT_COUNTING if _accepts_nrt() else {})


# Python calls none of these; if `forceinline` were not set they would inherit that of their first caller
PART: Any = FLAGS | {"no_cpython_wrapper": True, "no_cfunc_wrapper": True, "forceinline": False}
PART |= {"pipeline_class": PartCompiler}


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


def loop_files(root: Path = CAPSIM) -> list[Path]:
    """Return the files that end up in the event loop; those of the reference engine, which is edited freely, do not."""
    files = [root / "roles" / name for name in ("hooks.py", "own.py")]
    files += [path for name in IN_THE_LOOP for path in sorted((root / name).rglob("*.py"))]
    return [path for path in files if not path.name.startswith("reference")]


def loop_key(root: Path = CAPSIM) -> str:
    """Return a hash of all files of which the event loop is compiled."""
    return files_digest(*loop_files(root))


def hook_key(hook: Any) -> str:
    """Return a hash of what a hook and the functions that it calls do, and of how hooks are compiled.

    Examples
    --------
    >>> from capsim.protocols.queues import ecn, priority
    >>> hook_key(ecn.admit) == hook_key(priority.admit)
    False
    """
    return f"{function_digest(hook)} {_compilers_digest()}"


@cache
def _compilers_digest() -> str:
    return files_digest(*(Path(__file__).with_name(name) for name in ("jit.py", "aliasing.py", "refusals.py")))


class SourceCache(KeptCode):
    """A cache that asks for a key that covers more than the function's own file, and keeps machine code only."""

    def __init__(self, function: Callable[..., Any], key: str):
        super().__init__(function)
        self._key = key
        self.calls_numba = is_own(function) or not WITHOUT_COUNTING.items() <= FLAGS.items()

    def save_overload(self, sig: Any, data: Any) -> None:
        """Keep machine code; of LLVM's intermediate code, with which nothing is linked, only the names of functions."""
        names = [function.name for function in data.library.get_defined_functions()]
        stubs = "".join(f'define void @"{name}"() {{ unreachable }}\n' for name in names)
        data.library._shared_module = llvmlite.binding.parse_assembly(stubs)
        super().save_overload(sig, data)

    def _index_key(self, sig: Any, codegen: Any) -> Any:
        return (*super()._index_key(sig, codegen), self._key)


def _use_source_cache(holder: Any, function: Callable[..., Any], key: str) -> None:
    with suppress(RuntimeError):  # Numba finds no place for a cache
        holder._cache = SourceCache(function, key)


@contextmanager
def _one_process_at_a_time(holder: Any, function: Callable[..., Any]) -> Iterator[None]:
    """Hold the lock of a cached function: one process compiles it, those that waited find it on disk."""
    folder = holder._cache.cache_path
    try:
        import fcntl
    except ModuleNotFoundError:  # on Windows each process compiles for itself
        folder = None
    if folder is None:
        yield
        return
    Path(folder).mkdir(parents=True, exist_ok=True)
    with (Path(folder) / f"{function.__qualname__}.lock").open("w") as file:
        with suppress(OSError):  # a file system without locks
            fcntl.flock(file, fcntl.LOCK_EX)  # released when the file is closed, at the latest by the process's end
        yield


def _compile(holder: Any, function: Callable[..., Any], work: Callable[[], None]) -> None:
    if numba.config.DISABLE_JIT:  # type: ignore[attr-defined]  # set from the environment
        text = "the compiled engine needs Numba's compiler, which NUMBA_DISABLE_JIT=1 switches off"
        raise ParameterError(f"{text}: unset it, or take the reference engine")
    with _one_process_at_a_time(holder, function):
        interruptible(work)


def compiled(function: Callable[..., Any], signature: Any) -> Any:
    """Return `function` compiled for one signature, from the on-disk cache if it is there.

    A function without a file (typed into a plain interpreter) is compiled anew in each process. While it runs, Python's
    other threads do too.
    """
    dispatcher = njit(nogil=True, **FLAGS)(function)
    _use_source_cache(dispatcher, function, loop_key())
    _compile(dispatcher, function, lambda: dispatcher.compile(signature))
    dispatcher.disable_compile()
    return dispatcher


def from_cache(dispatcher: Any) -> bool:
    """Return whether :func:`compiled` found the machine code on disk."""
    return bool(sum(dispatcher.stats.cache_hits.values()))


@cache
def inline_into_hooks(function: Callable[..., Any]) -> None:
    """Let hooks call `function`, and what it calls, when they are compiled."""
    overload(function, jit_options=PART | _checks(function), strict=False)(lambda *_: function)
    prepare(function)


def prepare(function: Callable[..., Any]) -> None:
    """Make the functions marked :func:`~capsim.base.inlined.inlined` that `function` names known to Numba."""
    for name in function.__code__.co_names:
        used = function.__globals__.get(name)
        if getattr(used, "capsim_inlined", False):
            inline_into_hooks(used)


def _checks(function: Callable[..., Any]) -> Any:
    """Return the options of what is checked in a function; those of the package are tested instead."""
    return CHECKED if is_own(function) else {}


def compiled_hook(hook: Hook, signature: Any) -> Any:
    """Return a hook compiled, from the on-disk cache if it is there; :func:`address_of` says where the loop calls it.

    What is on disk imports the module of the hook by its name, so a file that is imported under two names has two.
    """
    prepare(hook)
    options = FLAGS | _checks(hook)
    kinds = (signature.args, signature.return_type)
    result = CFunc(hook, kinds, locals={}, options=options, pipeline_class=HookCompiler)
    _use_source_cache(result, hook, f"{hook.__module__} {hook_key(hook)}")
    _compile(result, hook, result.compile)
    return result


def address_of(hook: Any) -> int:
    """Return where a hook begins as Numba's functions call each other, without the wrapper that C would call."""
    return int(hook._library.get_pointer_to_function(hook._wrapper_name.removeprefix("cfunc.")))
