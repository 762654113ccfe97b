"""Contract: packages read as a table of contents; each test lists all offenders. `make contracts` runs this file.

A package holds at most 15 modules, unless it is a registry, whose modules are found by name and not imported by others.
Modules import each other in one direction. A function has at most 50 lines without its docstring. A module has at most
400 lines of code; comments, docstrings and blank lines do not count. Notebooks and tests import what `capsim` offers
from `capsim`.
"""

import ast
import io
import tokenize
from collections import Counter
from functools import cache
from pathlib import Path

import networkx as nx

import capsim

ROOT = Path(__file__).resolve().parents[1]
REGISTRIES = {
    "capsim.protocols.balancers",
    "capsim.protocols.congestion",
    "capsim.protocols.layers",
    "capsim.protocols.marking",
    "capsim.protocols.nics",
    "capsim.protocols.queues",
    "capsim.protocols.schemes",
    "capsim.protocols.sharing",
    "capsim.protocols.transports",
    "capsmodel.papers.closed_forms",
    "capsmodel.papers.figures",
    "capsmodel.papers.measurements",
    "capsim.records",
}
NO_CODE = {tokenize.COMMENT, tokenize.NL, tokenize.NEWLINE, tokenize.INDENT, tokenize.DEDENT, tokenize.ENDMARKER}

# Words that say of a value how it came about, and not what it is.
VAGUE = {"told", "said", "asked", "found"}


def module_name(path, top):
    return ".".join(path.relative_to(top).with_suffix("").parts).removesuffix(".__init__")


FILES = {
    module_name(path, top): path
    for top, package in ((ROOT, "capsmodel"), (ROOT / "sim", "capsim"))
    for path in sorted((top / package).rglob("*.py"))
}
# What a package offers is imported at its first use; its stub, beside the file, says from where.
STUBS = {name: path.with_suffix(".pyi") for name, path in FILES.items() if path.with_suffix(".pyi").is_file()}
MODULES = [name for name, path in FILES.items() if path.name != "__init__.py"]


@cache
def trees():
    """Return the code of each module by its name, with that of its stub."""
    return {
        name: ast.parse("\n".join(each.read_text(encoding="utf-8") for each in (path, STUBS.get(name)) if each))
        for name, path in FILES.items()
    }


def code_lines(text):
    """Return how many lines of a module hold code."""
    tokens = [token for token in tokenize.generate_tokens(io.StringIO(text).readline) if token.type not in NO_CODE]
    prose = [
        node
        for node in ast.walk(ast.parse(text))
        if isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant) and isinstance(node.value.value, str)
    ]
    code = {line for token in tokens for line in range(token.start[0], token.end[0] + 1)}
    return len(code - {line for node in prose for line in range(node.lineno, node.end_lineno + 1)})


def imported(tree):
    """Yield the modules of the project that a module imports."""
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names if alias.name in FILES)
        elif isinstance(node, ast.ImportFrom) and node.module:
            for alias in node.names:
                whole = f"{node.module}.{alias.name}"
                yield from (name for name in ([whole] if whole in FILES else [node.module]) if name in FILES)


def imports():
    """Return the modules that each module imports."""
    return {name: set(imported(tree)) - {name} for name, tree in trees().items()}


def function_lines(node):
    first = node.body[0]
    text = ast.get_docstring(node) is not None
    return node.end_lineno - node.lineno + 1 - (first.end_lineno - first.lineno + 1 if text else 0)


def test_packages_have_at_most_15_modules():
    counts = Counter(name.rpartition(".")[0] for name in MODULES)
    assert {package: count for package, count in counts.items() if count > 15 and package not in REGISTRIES} == {}


def test_modules_have_at_most_400_lines_of_code():
    lines = {name: code_lines(FILES[name].read_text(encoding="utf-8")) for name in MODULES}
    assert {name: count for name, count in lines.items() if count > 400} == {}


def test_functions_have_at_most_50_lines():
    lines = {
        f"{name}.{node.name}": function_lines(node)
        for name, tree in trees().items()
        for node in ast.walk(tree)
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef)
    }
    assert {name: count for name, count in lines.items() if count > 50} == {}


def test_modules_import_in_one_direction():
    found = nx.DiGraph([(name, module) for name, modules in imports().items() for module in modules])
    assert [sorted(circle) for circle in nx.strongly_connected_components(found) if len(circle) > 1] == []


def test_classes_have_names_of_their_own():
    places = Counter(
        node.name for name, tree in trees().items() for node in ast.walk(tree) if isinstance(node, ast.ClassDef)
    )
    assert {name: count for name, count in places.items() if count > 1} == {}


def local_names(tree):
    """Yield the names that functions give to values and parameters, and private ones without their underscore."""
    for function in ast.walk(tree):
        if isinstance(function, ast.FunctionDef | ast.Lambda):
            for node in ast.walk(function):
                if isinstance(node, ast.arg):
                    yield node.arg
                elif isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store):
                    yield node.id
        if isinstance(function, ast.FunctionDef) and function.name.startswith("_"):
            yield function.name.removeprefix("_")


def test_local_names_say_what_a_value_is():
    named = {name: sorted(VAGUE & set(local_names(tree))) for name, tree in trees().items()}
    assert {name: words for name, words in named.items() if words} == {}


def names_around_the_front_door(source):
    """Return the names of the front door that a file imports from a module of capsim."""
    nodes = [
        node for node in ast.walk(ast.parse(source.read_text(encoding="utf-8"))) if isinstance(node, ast.ImportFrom)
    ]
    inner = [node for node in nodes if (node.module or "").startswith("capsim.")]
    return {alias.name for node in inner for alias in node.names} & set(capsim.__all__)


def test_notebooks_and_tests_enter_by_the_front_door():
    sources = [*(ROOT / "notebooks/src").glob("*.py"), *(ROOT / "tests").rglob("test_*.py")]
    around = {str(source.relative_to(ROOT)): names_around_the_front_door(source) for source in sources}
    assert {name: names for name, names in around.items() if names} == {}


def test_prose_does_not_count():
    assert code_lines('"""Text,\nlong."""\n\n# why\nx = (\n    1\n)\n\n\ndef f():\n    """Say."""\n    return x\n') == 5
