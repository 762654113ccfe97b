"""Contract: names of Numba and llvmlite that are not public are all on one page, and the installed release has them."""

import ast
import re
from functools import reduce
from importlib import import_module
from importlib.util import find_spec
from pathlib import Path

ROOT = Path(__file__).parents[1]
PAGE = re.findall(r"^\| `(numba[\w.]*)`", (ROOT / "tests/numba_names.md").read_text(encoding="utf-8"), re.MULTILINE)
PUBLIC = ("numba", "numba.extending", "numba.types", "llvmlite", "llvmlite.ir", "llvmlite.binding")


def imported():
    """Return what the packages import of Numba and llvmlite, by dotted name."""
    found = set()
    for path in [*(ROOT / "capsmodel").rglob("*.py"), *(ROOT / "sim/capsim").rglob("*.py")]:
        text = path.read_text(encoding="utf-8")
        for node in ast.walk(ast.parse(text)) if re.search("numba|llvmlite", text) else ():
            if isinstance(node, ast.ImportFrom) and node.module:
                found |= {(node.module, f"{node.module}.{each.name}") for each in node.names}
            if isinstance(node, ast.Import):
                found |= {(each.name, each.name) for each in node.names}
    return {name for module, name in found if name.partition(".")[0] in ("numba", "llvmlite") and module not in PUBLIC}


def test_the_page_has_every_name_that_is_imported():
    """Wrong line: an import of a private name that a maintainer of the next release does not find."""
    names = imported()
    missing = {name for name in names if not any(row == name or row.startswith(f"{name}.") for row in PAGE)}
    unused = {row for row in PAGE if not any(row == name or row.startswith(f"{name}.") for name in names)}
    assert (missing, unused) == (set(), set())


def test_the_installed_release_has_it(subtests):
    for name in PAGE:
        with subtests.test(name=name):
            module = next(part for part in outer(name) if is_module(part))
            path = name.removeprefix(module).strip(".").split(".")
            assert reduce(getattr, filter(None, path), import_module(module)) is not None


def outer(name):
    """Return a dotted name and those that it is within, the longest first."""
    parts = name.split(".")
    return [".".join(parts[:count]) for count in range(len(parts), 0, -1)]


def is_module(name):
    try:
        return find_spec(name) is not None
    except ModuleNotFoundError:
        return False
