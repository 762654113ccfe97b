"""Identity of code as a SHA-256: equal as long as what computed a kept result, or is on disk compiled, does the same.

Callers ask for one of three kinds of change:

- :func:`files_digest`: any byte of some files. The machine code of the codec and of the event loop is kept under it.
- :func:`source_digest`: a statement in a module of the project that a measuring function imports, directly or through
  others. A sweep stores it with its rows (:mod:`capsmodel.experiments.sweep`). Of the *project* are the modules of the
  function's own top-level package, of capsmodel and of capsim; a package that is imported as such
  (``from capsim.protocols import schemes``) counts with all its modules.
- :func:`values_digest` and :func:`function_digest`: what a function does: its code, the values of its defaults, and of
  the globals and closure cells that it reads, constants of modules included; the functions among these, likewise. The
  id of a run covers the hooks of one's own scheme in this way, and each hook's machine code is kept under it.

Comments, docstrings, annotations and decorators do not count but in the first, and formatting and names of files do
not: code is compared as its syntax tree, in which Python 3.11 to 3.13 agree. A function whose source is in no file
(typed into an interpreter or a notebook, made by ``exec``), or whose file has changed since it was read, is described
by its bytecode and constants, which are those of one version of Python.
"""

import ast
import hashlib
import importlib.util
import inspect
import json
import sys
import tokenize
from collections.abc import Callable, Iterable, Iterator, Mapping, Set
from contextlib import suppress
from dataclasses import fields, is_dataclass
from dis import get_instructions
from enum import Enum
from functools import cache
from importlib.machinery import ModuleSpec, PathFinder
from pathlib import Path
from types import CodeType, FunctionType, ModuleType
from typing import Any

import numpy as np

from capsmodel._syntax import Import, keep_sources, normal_syntax, read_source, tree_digest
from capsmodel.checks import ParameterError

__all__ = ["files_digest", "function_digest", "source_digest", "source_digests", "values_digest"]

_Project = frozenset[str]
_LIBRARIES = sys.stdlib_module_names | {"builtins", "numpy", "numba"}
_PLAIN = (bool, int, float, complex, str, bytes, type(None), type(...))


def files_digest(*paths: Path) -> str:
    """Return the SHA-256 of the bytes of some files, in the order given."""
    digest = hashlib.sha256()
    for path in paths:
        digest.update(path.read_bytes())
    return digest.hexdigest()


def source_digests(function: Callable[..., Any]) -> Mapping[str, str]:
    """Return the SHA-256 of each module of the project that a function depends on, by name, 64 hexadecimal digits.

    Parameters
    ----------
    function : callable
        Of a module, a script or a notebook. In a notebook the function's own text counts in place of its module.

    Raises
    ------
    OSError
        If the function was typed where its text is not kept.

    Examples
    --------
    >>> list(source_digests(files_digest))
    ['capsmodel._files', 'capsmodel._syntax', 'capsmodel.checks', 'capsmodel.code_identity']
    """
    own = function.__module__
    project = frozenset({"capsmodel", "capsim", own.partition(".")[0]})
    if own != "__main__":
        return _closure([own], project)
    try:
        text = inspect.getsource(sys.modules[own])
    except (OSError, TypeError):  # a notebook or an interpreter
        text = inspect.getsource(function)
    seen = (getattr(value, "__module__", None) or "" for value in getattr(function, "__globals__", {}).values())
    return _closure([name for name in seen if _within(name, project)], project) | {own: tree_digest(ast.parse(text))}


@cache
def source_digest(function: Callable[..., Any]) -> str:
    """Return one SHA-256 for all of :func:`source_digests`, 64 hexadecimal digits."""
    return hashlib.sha256(json.dumps(dict(source_digests(function))).encode()).hexdigest()


def _within(name: str, project: _Project) -> bool:
    return name != "__main__" and name.partition(".")[0] in project


def _closure(names: Iterable[str], project: _Project) -> dict[str, str]:
    """Return the digests of these modules and of all that they import from the project, by name."""
    found: dict[str, str] = {}
    waiting = list(names)
    while waiting:
        name = waiting.pop()
        if name not in found:
            found[name], imports = _module(name, project)
            waiting += imports
    keep_sources()
    return dict(sorted(found.items()))


@cache
def _module(name: str, project: _Project) -> tuple[str, frozenset[str]]:
    """Return the digest of a module and what it imports from the project; nothing for one without a Python file."""
    spec = _spec(name)
    if spec is None or spec.origin is None or not spec.origin.endswith(".py"):
        return "", frozenset()
    package = name if spec.submodule_search_locations else name.rpartition(".")[0]
    source = read_source(Path(spec.origin))
    stub = Path(spec.origin).with_suffix(".pyi")  # of a package whose names are imported at their first use
    imports = source.imports + (read_source(stub).imports if stub.is_file() else ())
    return source.digest, frozenset(_of_project(imports, package, project))


@cache
def _spec(name: str) -> ModuleSpec | None:
    """Return where a module is, or None if there is none of that name; nothing is imported for it."""
    package, _, _ = name.rpartition(".")
    if not package:
        with suppress(ValueError):  # a module that was made without one
            return importlib.util.find_spec(name)
        return None
    outer = _spec(package)
    folders = outer.submodule_search_locations if outer else None
    return PathFinder.find_spec(name, folders) if folders else None


def _of_project(imports: Iterable[Import], package: str, project: _Project) -> Iterator[str]:
    """Yield the modules of the project that a module of `package` imports."""
    for dots, named, names in imports:
        if not names:
            yield from _with_parts(named) if _within(named, project) else ()
            continue
        module = importlib.util.resolve_name("." * dots + named, package)
        for name in [f"{module}.{each}" for each in names] if _within(module, project) else ():
            yield from _with_parts(name) if _spec(name) else [module]


@cache
def _with_parts(name: str) -> frozenset[str]:
    """Return a module, and all modules of a package."""
    spec = _spec(name)
    folders = [Path(folder) for folder in (spec and spec.submodule_search_locations) or ()]
    inner = [path.relative_to(folder).with_suffix("").parts for folder in folders for path in folder.rglob("*.py")]
    return frozenset({name, *(".".join([name, *parts]).removesuffix(".__init__") for parts in inner)})


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
        reads = {name: self.value(item, name) for name, item in sorted(_read_by(function).items())}
        tree = _syntax_tree(function) if self.source else None
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
