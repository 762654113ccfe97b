"""A SHA-256 of the hooks of one's own scheme: their code, and the values that it reads.

The digest of a component covers all its fields but the parameters, which stand in the manifest in full: the hooks, the
fields of its own memory, and what else it declares. Of a function it covers

- the code, as its syntax tree without comments, docstrings, annotations and decorators, so that neither formatting nor
  the name of the file matters, and Python 3.11 to 3.13 agree;
- the values of its defaults, and of the globals and closure cells that it reads, constants of modules included;
- the functions among these, likewise. Those of capsim and capsmodel, whose version is in every id, of Python's library,
  NumPy and Numba go by their names.

A function whose source is in no file (typed into an interpreter or a notebook, made by ``exec``), or whose file has
changed since it was read, goes by its bytecode and constants, which are those of one version of Python.
"""

import ast
import hashlib
import sys
import tokenize
from collections.abc import Iterator
from dataclasses import fields, is_dataclass
from dis import get_instructions
from enum import Enum
from types import CodeType, FunctionType, ModuleType
from typing import Any

import msgspec
import numpy as np

from capsmodel._syntax import normal_syntax
from capsmodel.checks import ParameterError

BY_NAME = sys.stdlib_module_names | {"builtins", "capsim", "capsmodel", "numpy", "numba"}
_PLAIN = (bool, int, float, complex, str, bytes, type(None), type(...))


def function_digest(function: FunctionType) -> str:
    """Return the SHA-256 of a function's code and of the values that it reads, in hexadecimal."""
    described = _Description(function.__qualname__).value(function, function.__qualname__)
    return hashlib.sha256(msgspec.json.encode(described)).hexdigest()


def component_digest(component: Any) -> dict[str, Any]:
    """Return the digest of a component of a scheme.

    Parameters
    ----------
    component : Component
        Of :mod:`capsim.roles.components`.

    Returns
    -------
    dict
        ``sha256``, 64 hexadecimal digits; ``covers``, the fields that it is of; ``code``, whether the functions went in
        as ``"source"`` or one of them as ``"bytecode"``.

    Raises
    ------
    ParameterError
        If a hook reads an object of another kind than numbers, strings, arrays, containers, dataclasses and functions.
    """
    described = _Description(component.name)
    covered = [field.name for field in fields(component) if field.name != "params"]
    parts = {name: described.value(getattr(component, name), name) for name in covered}
    digest = hashlib.sha256(msgspec.json.encode(parts, order="sorted")).hexdigest()
    return {"sha256": digest, "covers": covered, "code": "source" if described.all_from_source else "bytecode"}


class _Description:
    """Turns functions and values into lists of strings; `name` is whose they are."""

    def __init__(self, name: str):
        self.name = name
        self.all_from_source = True
        self.seen: dict[int, int] = {}  # functions, by their order: one may call itself

    def value(self, value: Any, name: str) -> Any:
        """Describe the value called `name`."""
        kind = type(value).__name__
        value = getattr(value, "py_func", value)  # of a function compiled by Numba
        if isinstance(value, Enum):
            return [type(value).__qualname__, value.name, self.value(value.value, name)]
        if isinstance(value, _PLAIN):
            return [kind, repr(value)]
        if isinstance(value, np.ndarray | np.generic) and not value.dtype.hasobject:
            return [kind, repr(value.dtype), value.shape, hashlib.sha256(value.tobytes()).hexdigest()]
        if isinstance(value, tuple | list):
            return [kind, *(self.value(item, name) for item in value)]
        if isinstance(value, set | frozenset):
            return [kind, *sorted((self.value(item, name) for item in value), key=repr)]
        if isinstance(value, dict):
            pairs = ([self.value(key, name), self.value(item, name)] for key, item in value.items())
            return [kind, *sorted(pairs, key=repr)]
        if isinstance(value, FunctionType):
            return self.function(value)
        return self.by_name(value, name)

    def by_name(self, value: Any, name: str) -> Any:
        """Describe a function or class of a library, a module, or a dataclass."""
        if _of_library(value):
            return ["library", getattr(value, "__module__", None), getattr(value, "__qualname__", value.__name__)]
        if is_dataclass(value) and not isinstance(value, type):
            return [type(value).__qualname__, {f.name: self.value(getattr(value, f.name), name) for f in fields(value)}]
        raise ParameterError(
            f"{self.name}: a hook reads {name!r}, an object of type {type(value).__name__}, which no id can cover: "
            "use numbers, strings, arrays, tuples, dataclasses and functions"
        )

    def function(self, function: FunctionType) -> Any:
        """Describe a function by its code, its defaults and what it reads."""
        if id(function) in self.seen:
            return ["function", self.seen[id(function)]]
        self.seen[id(function)] = len(self.seen)
        defaults = [self.value(each, "a default") for each in (function.__defaults__, function.__kwdefaults__)]
        if str(function.__globals__.get("__name__")).partition(".")[0] in BY_NAME:
            reads = {name: self.value(item, name) for name, item in sorted(_cells(function).items())}
            return ["library", function.__globals__["__name__"], function.__qualname__, defaults, reads]
        reads = {name: self.value(item, name) for name, item in sorted(_read_by(function).items())}
        tree = _syntax_tree(function)
        if tree is None:
            self.all_from_source = False
            return ["bytecode", self.bytecode(function.__code__, function.__doc__), defaults, reads]
        return ["source", normal_syntax(tree), defaults, reads]

    def bytecode(self, code: CodeType, doc: str | None = None) -> Any:
        """Describe a code object; its docstring is left out."""
        constants = [
            self.bytecode(item) if isinstance(item, CodeType) else self.value(item, "a constant")
            for item in code.co_consts
            if item is None or item is not doc
        ]
        arguments = (code.co_argcount, code.co_posonlyargcount, code.co_kwonlyargcount, code.co_flags)
        names = (code.co_names, code.co_varnames, code.co_freevars, code.co_cellvars)
        return [code.co_code.hex(), code.co_exceptiontable.hex(), constants, arguments, names]


def _of_library(value: Any) -> bool:
    """Return whether `value` is a module, class or function that its name says all about: not bound to an object."""
    if isinstance(value, ModuleType):
        return value.__name__.partition(".")[0] in BY_NAME
    module = "numpy" if isinstance(value, np.ufunc) else getattr(value, "__module__", None)
    bound = not isinstance(getattr(value, "__self__", None), ModuleType | type(None))
    return hasattr(value, "__name__") and str(module).partition(".")[0] in BY_NAME and not bound


def _cells(function: FunctionType) -> dict[str, Any]:
    """Return the values of the closure by name."""
    return {
        name: cell.cell_contents
        for name, cell in zip(function.__code__.co_freevars, function.__closure__ or (), strict=True)
    }


def _read_by(function: FunctionType) -> dict[str, Any]:
    """Return the globals and closure cells that the code reads, by name: of a module or class the attribute."""
    known = {"LOAD_GLOBAL": function.__globals__, "LOAD_DEREF": _cells(function)}
    found: dict[str, Any] = {}
    for code in _codes(function.__code__):
        name, value = "", None
        for step in get_instructions(code):
            if step.opname in ("LOAD_ATTR", "LOAD_METHOD") and isinstance(value, ModuleType | type):
                name, value = f"{name}.{step.argval}", getattr(value, step.argval, None)
                continue
            if name:
                found[name] = value
            names = known.get(step.opname, {})
            name, value = (step.argval, names[step.argval]) if step.argval in names else ("", None)
    return found


def _codes(code: CodeType) -> Iterator[CodeType]:
    """Yield a code object and those of the functions inside it."""
    yield code
    for item in code.co_consts:
        if isinstance(item, CodeType):
            yield from _codes(item)


def _syntax_tree(function: FunctionType) -> ast.AST | None:
    """Return the definition in the function's file, or None unless just one there compiles to the function's code."""
    code = function.__code__
    try:
        with tokenize.open(code.co_filename) as file:
            text = file.read()
        tree = ast.parse(text)
        now = compile(text, code.co_filename, "exec", dont_inherit=True)
    except (OSError, SyntaxError, ValueError):
        return None
    found = [node for node in ast.walk(tree) if _defines(node) == (code.co_name, code.co_firstlineno)]
    return found[0] if len(found) == 1 and code in _codes(now) else None


def _defines(node: ast.AST) -> tuple[str, int] | None:
    """Return name and first line of the function that `node` defines."""
    if isinstance(node, ast.Lambda):
        return "<lambda>", node.lineno
    if isinstance(node, ast.FunctionDef):
        return node.name, min([node.lineno, *(each.lineno for each in node.decorator_list)])
    return None
