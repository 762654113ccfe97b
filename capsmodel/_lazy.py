"""Names of a package that are imported at their first use: a process pays for what it calls."""

import ast
import sys
from collections.abc import Callable
from importlib import import_module
from pathlib import Path
from typing import Any


def names_of_stub(package: str, file: str) -> tuple[Callable[[str], Any], Callable[[], list[str]], list[str]]:
    """Return ``__getattr__``, ``__dir__`` and ``__all__`` of a package whose stub imports the names that it offers.

    `dir` lists these names and the version, and nothing of how the package is made.

    The stub is the file ``__init__.pyi`` beside `file`, which type checkers read in place of the package (PEP 561,
    SPEC 1): each name has one line there.
    """
    stub = ast.parse(Path(file).with_suffix(".pyi").read_text(encoding="utf-8"))
    imports = [node for node in stub.body if isinstance(node, ast.ImportFrom)]
    places = {alias.name: str(node.module) for node in imports for alias in node.names}

    def get(name: str) -> Any:
        if name not in places:
            raise AttributeError(f"module {package!r} has no attribute {name!r}")
        value = getattr(import_module(places[name]), name)
        setattr(sys.modules[package], name, value)  # Python asks for it once
        return value

    return get, lambda: sorted([*places, "__version__"]), list(places)
