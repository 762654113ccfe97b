"""Identity of code as a SHA-256: equal as long as what computed a kept result, or is on disk compiled, does the same.

Callers ask for one of three kinds of change:

- :func:`files_digest`: any byte of some files. The machine code of the codec and of the event loop is kept under it.
- :func:`source_digest`: any byte of a module of capsmodel or capsim, or of the module of a measuring function. A sweep
  stores it with its rows, and warns where that of kept rows is another (:mod:`capsmodel.experiments.sweep`).
- :func:`values_digest` and :func:`function_digest`: what a function does: its code, the values of its defaults, and of
  the globals and closure cells that it reads, constants of modules included; the functions among these, likewise. The
  id of a run covers the hooks of one's own scheme in this way, and each hook's machine code is kept under it.

In the third, comments, docstrings, annotations, decorators, formatting and names of files do not count: code is
compared as its syntax tree, in which Python 3.11 to 3.13 agree. A function whose source is in no file
(typed into an interpreter or a notebook, made by ``exec``), or whose file has changed since it was read, is described
by its bytecode and constants, which are those of one version of Python.
"""

import ast
import builtins
import hashlib
import importlib.util
import inspect
import json
import marshal
import sys
import tokenize
from collections.abc import Callable, Iterator, Mapping, Set
from contextlib import suppress
from dataclasses import fields, is_dataclass
from dis import get_instructions
from enum import Enum
from functools import cache, lru_cache
from pathlib import Path
from types import CodeType, FunctionType, ModuleType
from typing import Any, NamedTuple, cast

import numpy as np

from capsmodel.checks import ParameterError

__all__ = ["Name", "files_digest", "function_digest", "names_read", "source_digest", "values_digest"]

_PACKAGES = ("capsmodel", "capsim")
_LIBRARIES = sys.stdlib_module_names | {"builtins", "numpy", "numba"}
_NO_MEANING = frozenset({"annotation", "returns", "decorator_list", "type_comment", "type_params", "kind", "ctx"})
_PLAIN = (bool, int, float, complex, str, bytes, type(None), type(...))


def files_digest(*paths: Path) -> str:
    """Return the SHA-256 of the bytes of some files, in the order given."""
    digest = hashlib.sha256()
    for path in paths:
        digest.update(path.read_bytes())
    return digest.hexdigest()


@cache
def source_digest(function: Callable[..., Any]) -> str:
    """Return the SHA-256 of all modules of capsmodel and capsim and of that of a function, 64 hexadecimal digits.

    Parameters
    ----------
    function : callable
        Of a module, a script or a notebook. In a notebook the function's own text counts in place of its module, and of
        one that was typed into an interpreter its bytecode.
    """
    if function.__module__.partition(".")[0] in _PACKAGES:
        return _packages_digest()
    return hashlib.sha256(f"{_packages_digest()}\n".encode() + _text_of(function)).hexdigest()


def _text_of(function: Callable[..., Any]) -> bytes:
    for owner in (sys.modules[function.__module__], function):
        with suppress(OSError, TypeError):  # of a notebook or an interpreter
            return inspect.getsource(owner).encode()
    return marshal.dumps(cast(FunctionType, function).__code__)


@cache
def _packages_digest() -> str:
    digest = hashlib.sha256()
    for package in _PACKAGES:
        spec = importlib.util.find_spec(package)
        for folder in (spec and spec.submodule_search_locations) or ():
            # A wheel has data inside the package, the notebooks' texts among them; a checkout has them elsewhere.
            for path in sorted(path for path in Path(folder).rglob("*.py") if "_data" not in path.parts):
                digest.update(f"{package}/{path.relative_to(folder).as_posix()}\n".encode())
                digest.update(path.read_bytes())
    return digest.hexdigest()


def function_digest(function: FunctionType) -> str:
    """Return the SHA-256 of a function's code and of the values that it reads, in hexadecimal.

    Functions of capsim and capsmodel count like its own; those of Python's library, NumPy and Numba by their names. All
    are described by their bytecode, which takes no reading of files: the digest is for machine code, which is kept for
    each version of Python apart.
    """
    described = _Description(function.__qualname__, by_name=_LIBRARIES, source=False)
    return _json_digest(described.value(function, function.__qualname__))


def values_digest(values: Mapping[str, Any], *, owner: str) -> tuple[str, bool]:
    """Return the SHA-256 of values and functions, and whether the source of all functions was found.

    Functions of capsim and capsmodel, whose version is in every id, of Python's library, NumPy and Numba go by their
    names.

    Parameters
    ----------
    values : mapping
        What is covered, by name.
    owner : str
        Whose they are, for the message of an error.

    Raises
    ------
    ParameterError
        If a function reads an object that is no number, string, array, container, dataclass or function.
    """
    described = _Description(owner, by_name=_LIBRARIES | {"capsim", "capsmodel"}, source=True)
    parts = {name: described.value(value, name) for name, value in values.items()}
    return _json_digest(parts), described.all_from_source


def _json_digest(described: Any) -> str:
    text = json.dumps(described, ensure_ascii=False, separators=(",", ":"), sort_keys=True)
    return hashlib.sha256(text.encode()).hexdigest()


class _Description:
    """Turns functions and values of an owner into lists of strings; what some packages define goes by its name."""

    def __init__(self, owner: str, *, by_name: Set[str], source: bool):
        self.owner, self.packages, self.source = owner, by_name, source
        self.all_from_source = True
        self.seen: dict[int, int] = {}  # functions, by their order: one may call itself

    def value(self, value: Any, name: str) -> Any:
        """Describe the value called `name`."""
        if type(value) is FunctionType:  # most are
            return self.function(value)
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
        if _of_package(value, self.packages):
            return ["library", getattr(value, "__module__", None), getattr(value, "__qualname__", value.__name__)]
        if is_dataclass(value) and not isinstance(value, type):
            return [type(value).__qualname__, {f.name: self.value(getattr(value, f.name), name) for f in fields(value)}]
        raise ParameterError(
            f"{self.owner}: a hook reads {name!r}, an object of type {type(value).__name__}, which no id can cover: "
            "use numbers, strings, arrays, tuples, dataclasses and functions"
        )

    def function(self, function: FunctionType) -> Any:
        """Describe a function by its code, its defaults and what it reads."""
        if id(function) in self.seen:
            return ["function", self.seen[id(function)]]
        self.seen[id(function)] = len(self.seen)
        defaults = [self.value(each, "a default") for each in (function.__defaults__, function.__kwdefaults__)]
        if str(function.__globals__.get("__name__")).partition(".")[0] in self.packages:
            reads = {name: self.value(item, name) for name, item in sorted(_cells(function).items())}
            return ["library", function.__globals__["__name__"], function.__qualname__, defaults, reads]
        values = {each.name: each.value for each in names_read(function)}
        reads = {name: self.value(item, name) for name, item in sorted(values.items())}
        if not self.source:
            return ["bytecode", _bytecode_digest(function.__code__, function.__doc__), defaults, reads]
        tree = _syntax_tree(function)
        if tree is None:
            self.all_from_source = False
            return ["bytecode", _bytecode(function.__code__, function.__doc__), defaults, reads]
        return ["source", _normal_syntax(tree), defaults, reads]


@cache
def _bytecode(code: CodeType, doc: str | None = None) -> Any:
    """Describe a code object; its docstring is left out."""
    constants = [
        _bytecode(item) if isinstance(item, CodeType) else _Description("", by_name=set(), source=False).value(item, "")
        for item in code.co_consts
        if item is None or item is not doc
    ]
    arguments = (code.co_argcount, code.co_posonlyargcount, code.co_kwonlyargcount, code.co_flags)
    names = (code.co_names, code.co_varnames, code.co_freevars, code.co_cellvars)
    return [code.co_code.hex(), code.co_exceptiontable.hex(), constants, arguments, names]


@cache
def _bytecode_digest(code: CodeType, doc: str | None) -> str:
    return _json_digest(_bytecode(code, doc))


def _of_package(value: Any, packages: Set[str]) -> bool:
    """Return whether `value` is a module, class or function of these, and not a method of an object."""
    if isinstance(value, ModuleType):
        return value.__name__.partition(".")[0] in packages
    module = "numpy" if isinstance(value, np.ufunc) else getattr(value, "__module__", None)
    bound = not isinstance(getattr(value, "__self__", None), ModuleType | type(None))
    return hasattr(value, "__name__") and str(module).partition(".")[0] in packages and not bound


def _cells(function: FunctionType) -> dict[str, Any]:
    """Return the values of the closure by name."""
    return {
        name: cell.cell_contents
        for name, cell in zip(function.__code__.co_freevars, function.__closure__ or (), strict=True)
    }


class Name(NamedTuple):
    """A name that a function reads, of a module or class with the attribute: what it stands for, and where."""

    name: str
    value: Any
    line: int


def names_read(function: FunctionType, *, with_builtins: bool = False) -> Iterator[Name]:
    """Yield the globals and closure cells that a function's code reads, and Python's own names if asked for."""
    own = function.__globals__
    known = {"LOAD_GLOBAL": vars(builtins) | own if with_builtins else own, "LOAD_DEREF": _cells(function)}
    for step, name, attributes, line in _loads(function.__code__):
        if name not in known[step]:
            continue
        value = known[step][name]
        for attribute in attributes:
            if not isinstance(value, ModuleType | type):
                break
            name, value = f"{name}.{attribute}", getattr(value, attribute, None)
        yield Name(name, value, line)


@cache
def _loads(code: CodeType) -> list[tuple[str, str, list[str], int]]:
    """Return where a code object and those inside it load a global or a cell: how, which, its attributes, the line."""
    loads: list[tuple[str, str, list[str], int]] = []
    for each in _codes(code):
        attributes: list[str] = []  # of what was loaded just before
        for step in get_instructions(each):
            if step.opname in ("LOAD_ATTR", "LOAD_METHOD"):
                attributes.append(step.argval)
                continue
            attributes = []
            if step.opname in ("LOAD_GLOBAL", "LOAD_DEREF"):
                loads.append((step.opname, step.argval, attributes, (step.positions and step.positions.lineno) or 0))
    return loads


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
            tree, now = _parsed(file.read(), code.co_filename)
    except (OSError, SyntaxError, ValueError):
        return None
    nodes = [node for node in ast.walk(tree) if _defines(node) == (code.co_name, code.co_firstlineno)]
    return nodes[0] if len(nodes) == 1 and code in _codes(now) else None


@lru_cache(maxsize=16)
def _parsed(text: str, name: str) -> tuple[ast.Module, CodeType]:
    """Return the syntax tree of a file and its code, the same for all hooks in it and for all runs."""
    return ast.parse(text), compile(text, name, "exec", dont_inherit=True)


def _defines(node: ast.AST) -> tuple[str, int] | None:
    """Return name and first line of the function that `node` defines."""
    if isinstance(node, ast.Lambda):
        return "<lambda>", node.lineno
    if isinstance(node, ast.FunctionDef):
        return node.name, min([node.lineno, *(each.lineno for each in node.decorator_list)])
    return None


def _normal_syntax(part: Any) -> Any:
    """Return a syntax tree as lists, without comments, docstrings, annotations and decorators.

    Nothing empty is in it, as versions of Python differ in what they leave out.
    """
    if isinstance(part, ast.Constant):
        return [type(part.value).__name__, repr(part.value)]
    if isinstance(part, ast.AST):
        kept = {
            name: item for name, item in ast.iter_fields(part) if name not in _NO_MEANING and item not in (None, [])
        }
        return [type(part).__name__, {name: _normal_syntax(item) for name, item in kept.items()}]
    if isinstance(part, list):
        return [_normal_syntax(item) for item in part if not _is_text(item)]
    return part


def _is_text(part: Any) -> bool:
    """Return whether `part` is a statement that is a string: a docstring, or a comment in its form."""
    return isinstance(part, ast.Expr) and isinstance(part.value, ast.Constant) and isinstance(part.value.value, str)
