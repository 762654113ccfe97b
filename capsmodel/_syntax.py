"""A Python file by what it does: the SHA-256 of its syntax tree, and what it imports.

To parse two hundred files takes seconds, which each command that keeps rows would wait for. So what was found is kept
beside the byte code of this module, by the SHA-256 of a file's bytes; where no byte code may be written, nothing is.
"""

import ast
import hashlib
import importlib.util
import io
import json
import sys
import tokenize
from collections.abc import Iterable, Iterator
from contextlib import suppress
from functools import cache
from pathlib import Path
from typing import Any, NamedTuple

from capsmodel._files import atomic_writer

_NO_MEANING = frozenset({"annotation", "returns", "decorator_list", "type_comment", "type_params", "kind", "ctx"})


class Import(NamedTuple):
    """One statement: ``from module import names``, with dots before `module`; without names, ``import module``."""

    dots: int
    module: str
    names: tuple[str, ...]


class Source(NamedTuple):
    """What a file holds."""

    digest: str
    imports: tuple[Import, ...]


def read_source(path: Path) -> Source:
    """Return the digest of a file and its imports, those within functions too.

    Raises
    ------
    OSError
        If it cannot be read.
    SyntaxError
        If it is no Python of this version.
    """
    data = path.read_bytes()
    key = hashlib.sha256(data).hexdigest()
    known = _known()
    if key not in known:
        encoding, _ = tokenize.detect_encoding(io.BytesIO(data).readline)
        tree = ast.parse(io.TextIOWrapper(io.BytesIO(data), encoding).read())
        known[key] = Source(tree_digest(tree), tuple(_imports(tree)))
    return known[key]


def keep_sources() -> None:
    """Write what :func:`read_source` found, for the next process, unless all of it comes from there."""
    known = _known()
    if sys.dont_write_bytecode or len(known) == len(_kept()):
        return
    with suppress(OSError), atomic_writer(_place()) as file:  # a folder that cannot be written: the next process reads
        file.write(json.dumps({"written_by": _own_digest(), "sources": known}).encode())


@cache
def _known() -> dict[str, Source]:
    return dict(_kept())


@cache
def _kept() -> dict[str, Source]:
    """Return what an earlier process wrote, by the digest of the bytes; nothing if this module was another then."""
    try:
        kept = json.loads(_place().read_bytes())
    except (OSError, ValueError):
        return {}
    if kept["written_by"] != _own_digest():
        return {}
    return {
        key: Source(digest, tuple(Import(dots, module, tuple(names)) for dots, module, names in imports))
        for key, (digest, imports) in kept["sources"].items()
    }


def _place() -> Path:
    return Path(importlib.util.cache_from_source(__file__)).with_suffix(".json")


@cache
def _own_digest() -> str:
    return hashlib.sha256(Path(__file__).read_bytes()).hexdigest()


def _imports(tree: ast.Module) -> Iterator[Import]:
    for node in _statements(tree.body):
        if isinstance(node, ast.Import):
            yield from (Import(0, alias.name, ()) for alias in node.names)
        if isinstance(node, ast.ImportFrom):
            yield Import(node.level, node.module or "", tuple(alias.name for alias in node.names))


def _statements(body: Iterable[ast.AST]) -> Iterator[ast.AST]:
    """Yield statements and those inside them; expressions, which hold none, are most of a tree."""
    for node in body:
        yield node
        for inner in ("body", "handlers", "cases", "orelse", "finalbody"):
            yield from _statements(getattr(node, inner, ()))


def tree_digest(tree: ast.AST) -> str:
    """Return the SHA-256 of a syntax tree, 64 hexadecimal digits."""
    return hashlib.sha256(json.dumps(normal_syntax(tree)).encode()).hexdigest()


def normal_syntax(part: Any) -> Any:
    """Return a syntax tree as lists, without comments, docstrings, annotations and decorators.

    Nothing empty is in it, as versions of Python differ in what they leave out.
    """
    if isinstance(part, ast.Constant):
        return [type(part.value).__name__, repr(part.value)]
    if isinstance(part, ast.AST):
        kept = {
            name: item for name, item in ast.iter_fields(part) if name not in _NO_MEANING and item not in (None, [])
        }
        return [type(part).__name__, {name: normal_syntax(item) for name, item in kept.items()}]
    if isinstance(part, list):
        return [normal_syntax(item) for item in part if not _is_text(item)]
    return part


def _is_text(part: Any) -> bool:
    """Return whether `part` is a statement that is a string: a docstring, or a comment in its form."""
    return isinstance(part, ast.Expr) and isinstance(part.value, ast.Constant) and isinstance(part.value.value, str)
