"""What a hook of one's own may call, looked at before a run by both engines.

The compiled engine calls a hook without Python's lock, and the reference engine runs the same text; so a hook calls
what computes and nothing else:

- of Python's own functions those of numbers and sequences (`COMPUTING`), and exceptions;
- functions of `math` and NumPy;
- functions marked :func:`capsim.inlined`, under their own names;
- functions that Numba compiles. Numba compiles them for the constants that they read when they are called first; when
  these have changed since the last run, they are compiled anew.

What prints, reads, waits or writes a log takes Python's lock, for which machine code would wait for ever.
"""

import builtins
import linecache
import sys
from pathlib import Path
from types import FunctionType
from typing import Any

from capsim.base.inlined import is_marked
from capsim.roles.hooks import Hook, is_own
from capsmodel.checks import ParameterError
from capsmodel.code_identity import Name, function_digest, names_read

RULE = (
    "a hook uses its arguments, numbers, if, loops and functions marked capsim.inlined; no dictionaries, lists, texts, "
    "arrays of NumPy or exceptions; whichever way it ends, it returns a number"
)
SEEN_BY = (
    "to see a number, keep it in a field of the component's memory and sample that by Probes(fields=...), or record "
    'packets by trace="packets"'
)
IN_PLACE_OF = {
    "random": "a random number is u0, which choose, mark, note and admit are given, with draws=True in the component",
    "time": "the time is now_ps, in picoseconds",
}
COMPUTING = frozenset(
    {"abs", "all", "any", "bool", "complex", "divmod", "enumerate", "float", "int", "isinstance", "len", "max", "min"}
    | {"pow", "range", "reversed", "round", "sorted", "sum", "tuple", "zip"}
)


def check_calls(hook: Hook) -> None:
    """Refuse a hook that reads a function which it may not call, itself or in a function that it calls.

    Raises
    ------
    ParameterError
        If it does; the text names the line.
    """
    for function in _of_user(hook):
        for name in names_read(_text_of(function), with_builtins=True):
            reason = _offence(name)
            if reason:
                raise ParameterError(f"{line(_text_of(function).__code__.co_filename, name.line)}: {reason}")
        if function is not _text_of(function):
            _recompile(function)


def _of_user(hook: Any) -> list[Any]:
    """Return a hook and the functions that it calls, as far as they are a user's; what is called comes first."""
    functions: list[Any] = []

    def visit(function: Any) -> None:
        if function not in entered:
            entered.append(function)
            for each in names_read(_text_of(function)):
                if _is_called(each.value):
                    visit(each.value)
            functions.append(function)

    entered: list[Any] = []
    if is_own(hook):
        visit(hook)
    return [each for each in functions if is_own(_text_of(each))]


def _is_called(value: Any) -> bool:
    return is_marked(value) or _is_compiled(value)


def _is_compiled(value: Any) -> bool:
    """Return whether `value` is a function compiled by Numba."""
    return isinstance(getattr(value, "py_func", None), FunctionType)


def _text_of(function: Any) -> Any:
    """Return the function of Python that Numba compiles; a function that it does not compile as it is."""
    return getattr(function, "py_func", function)


def _offence(name: Name) -> str:
    """Return why a hook may not read what a name stands for; empty if it may."""
    value, own = name.value, vars(builtins)
    if name.name in own and value is own[name.name]:
        computes = name.name in COMPUTING or (isinstance(value, type) and issubclass(value, BaseException))
        return "" if computes or not callable(value) else f"a hook cannot call {name.name}: {SEEN_BY}"
    if _is_called(value):
        dotted = "." in name.name and is_marked(value)
        return f"write from {name.name.rpartition('.')[0]} import {value.__name__}, and call it so" if dotted else ""
    if not callable(value):
        return ""
    if instead := _in_place_of(value):
        return f"a hook cannot call {name.name}: {instead}"
    if _of_numbers(value):
        return ""
    if _package(value) in sys.stdlib_module_names | {"numba"}:
        return f"a hook cannot call {name.name}: {SEEN_BY}"
    return f"{name.name} is not marked capsim.inlined: {RULE}" if isinstance(value, FunctionType) else ""


def _in_place_of(function: Any) -> str:
    """Return what a hook has in place of a random generator or a clock; empty for other functions."""
    owner = getattr(function, "__self__", None)
    modules = {_module(function), (owner if isinstance(owner, type) else type(owner)).__module__}
    if any(each.startswith(("random", "numpy.random")) for each in modules):
        return IN_PLACE_OF["random"]
    return IN_PLACE_OF["time"] if modules & {"time", "datetime"} else ""


def _of_numbers(function: Any) -> bool:
    """Return whether a function or class is of `math` or NumPy."""
    return _package(function) in ("math", "numpy")


def _package(value: Any) -> str:
    return _module(value).partition(".")[0]


def _module(value: Any) -> str:
    """Return the module of a function or class; that of the class for one that names none, as ufuncs."""
    return str(getattr(value, "__module__", None) or type(value).__module__)


def _recompile(function: Any) -> None:
    """Compile a function of Numba anew unless it has the constants with which this was done last."""
    digest = function_digest(function.py_func)
    if getattr(function, "capsim_digest", "") != digest:
        function.recompile()
        function.capsim_digest = digest


def place_of(hook: Hook) -> str:
    """Return file and line of the definition of a hook."""
    return place(hook.__code__.co_filename, hook.__code__.co_firstlineno)


def place(file: str, number: int) -> str:
    """Return what a message begins with: file, without its folders, and line."""
    return f"{Path(file).name}, line {number}"


def line(file: str, number: int) -> str:
    """Return file, line and its text."""
    return f"{place(file, number)}: `{linecache.getline(file, number).strip()}`"
