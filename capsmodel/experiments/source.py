"""The source code that a measurement depends on, as a SHA-256 for each module of the project.

Of the *project* are the modules of the function's own top-level package, of capsmodel and of capsim. The modules that
count are the function's own and all that they import from the project, one after the other; a package that is imported
as such (``from capsim.protocols import schemes``) counts with all its modules. Comments, docstrings and annotations do
not count.
"""

import ast
import hashlib
import importlib.util
import inspect
import json
import sys
import tokenize
from collections.abc import Callable, Iterable, Iterator, Mapping
from functools import cache
from importlib.machinery import ModuleSpec
from pathlib import Path
from typing import Any

from capsmodel._syntax import normal_syntax

_Project = frozenset[str]


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
    >>> list(source_digests(normal_syntax))
    ['capsmodel._syntax']
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
    return _closure([name for name in seen if _within(name, project)], project) | {own: _digest(ast.parse(text))}


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
    return dict(sorted(found.items()))


@cache
def _module(name: str, project: _Project) -> tuple[str, frozenset[str]]:
    """Return the digest of a module and what it imports from the project; nothing for one without a Python file."""
    spec = _spec(name)
    if spec is None or spec.origin is None or not spec.origin.endswith(".py"):
        return "", frozenset()
    with tokenize.open(spec.origin) as file:
        tree = ast.parse(file.read())
    package = name if spec.submodule_search_locations else name.rpartition(".")[0]
    return _digest(tree), frozenset(_imports(tree, package, project))


def _digest(tree: ast.AST) -> str:
    return hashlib.sha256(json.dumps(normal_syntax(tree)).encode()).hexdigest()


@cache
def _spec(name: str) -> ModuleSpec | None:
    """Return where a module is, or None if there is none of that name."""
    try:
        return importlib.util.find_spec(name)
    except (ImportError, ValueError):  # the name before the last dot is a module, not a package
        return None


def _imports(tree: ast.AST, package: str, project: _Project) -> Iterator[str]:
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            for alias in node.names:
                yield from _with_parts(alias.name) if _within(alias.name, project) else ()
        if isinstance(node, ast.ImportFrom):
            module = importlib.util.resolve_name("." * node.level + (node.module or ""), package)
            for name in [f"{module}.{alias.name}" for alias in node.names] if _within(module, project) else ():
                yield from _with_parts(name) if _spec(name) else [module]


def _with_parts(name: str) -> Iterator[str]:
    """Yield a module, and all modules of a package."""
    yield name
    spec = _spec(name)
    for folder in (spec and spec.submodule_search_locations) or ():
        for path in Path(folder).rglob("*.py"):
            yield ".".join([name, *path.relative_to(folder).with_suffix("").parts]).removesuffix(".__init__")
