"""When machine code on disk is used again: keys of hooks and of the event loop."""

import ast
import shutil
import sys
from importlib import import_module
from pathlib import Path

import pytest

from capsim.engines.compiled.functions import CAPSIM, hook_key, loop_files, loop_key
from capsim.engines.compiled.loop import loop
from capsim.protocols import congestion, transports

# Files of a copied package, and in each a hook
HOOKS = {"reno": "react", "dctcp": "react", "tcp": "open_", "newreno": "on_ack"}


@pytest.fixture
def copies(tmp_path, monkeypatch):
    """Return a function that gives the keys of the hooks in copied protocol files, read anew."""
    package = tmp_path / "copied"
    package.mkdir()
    for folder in (congestion, transports):
        for path in Path(folder.__file__).parent.glob("*.py"):
            text = path.read_text().replace(f"{folder.__name__}.", "copied.")
            (package / path.name).write_text(text if path.stem != "__init__" else "")
    monkeypatch.syspath_prepend(tmp_path)
    monkeypatch.setattr(sys, "dont_write_bytecode", True)

    def keys():
        for name in [name for name in sys.modules if name.partition(".")[0] == "copied"]:
            del sys.modules[name]
        return {name: hook_key(getattr(import_module(f"copied.{name}"), hook)) for name, hook in HOOKS.items()}

    yield keys
    for name in [name for name in sys.modules if name.partition(".")[0] == "copied"]:
        del sys.modules[name]


def edit(path, text):
    path.write_text(path.read_text() + text)


@pytest.mark.parametrize(
    ("name", "line", "edited", "changed"),
    [
        ("reno", "lost_flight_bytes // 2", "lost_flight_bytes // 3", {"reno", "dctcp"}),  # two calls away from either
        ("tcp", "flight += sub.short_bytes", "flight -= sub.short_bytes", {"newreno"}),
        ("tcp", "LIMITED_PACKETS = 2", "LIMITED_PACKETS = 1", {"tcp"}),  # a constant of the function called
        ("tcp", '"""Open a subflow."""', '"""Open it."""', set()),
        ("dctcp", "def react(", "MORE = 1\n\n\ndef react(", set()),
    ],
)
def test_an_edit_changes_the_keys_of_the_hooks_that_run_it_alone(copies, tmp_path, name, line, edited, changed):
    before, path = copies(), tmp_path / "copied" / f"{name}.py"
    assert line in path.read_text()
    path.write_text(path.read_text().replace(line, edited))
    after = copies()
    assert {hook for hook in HOOKS if before[hook] != after[hook]} == changed


def test_a_constant_of_another_file_changes_the_key(tmp_path, monkeypatch):
    (tmp_path / "limits_of_hook.py").write_text("")
    (tmp_path / "hook_with_limits.py").write_text(
        "import limits_of_hook\n\ndef choose():\n    return limits_of_hook.A\n"
    )
    monkeypatch.syspath_prepend(tmp_path)
    limits, hook = import_module("limits_of_hook"), import_module("hook_with_limits").choose
    found = []
    for value in (1, 2, 1):
        limits.A = value
        found.append(hook_key(hook))
    assert found[0] == found[2] != found[1]


def test_a_function_compiled_by_numba_is_part_of_the_key(tmp_path, monkeypatch):
    """Wrong line: its text is not looked at, which is behind ``py_func``."""
    helper = "from numba import njit\n\n@njit\ndef helper(x):\n    return x + VALUE\n\n\n"
    text = helper + "def choose():\n    return helper(1)\n"
    monkeypatch.syspath_prepend(tmp_path)
    keys = []
    for number, value in enumerate((1, 2)):
        (tmp_path / f"helped{number}.py").write_text(text.replace("VALUE", str(value)))
        keys.append(hook_key(import_module(f"helped{number}").choose))
    assert keys[0] != keys[1]


def test_the_loop_is_compiled_anew_with_its_engine_and_the_records_and_with_nothing_else(tmp_path):
    root = tmp_path / "capsim"
    shutil.copytree(CAPSIM, root, ignore=shutil.ignore_patterns("__pycache__"))
    found = [loop_key(root)]
    others = ["protocols/congestion/dctcp.py", "engines/reference_ports.py"]
    for name in [*others, "records/packets.py", "engines/compiled/loop.py"]:
        edit(root / name, "\n\nMORE = 1\n")
        found.append(loop_key(root))
    assert found[0] == found[1] == found[2]
    assert len(set(found[2:])) == 3


def parts(function, found):
    """Return a function of the loop and those that it calls, each once."""
    function = getattr(function, "py_func", function)
    if hasattr(function, "__code__") and function not in found:
        found.add(function)
        for name in function.__code__.co_names:
            parts(function.__globals__.get(name), found)
    return found


def test_what_is_compiled_into_the_loop_and_the_constants_of_it_are_in_its_key():
    """Wrong line: a function or constant of the loop in a file that `loop_files` leaves out, whose edits do nothing."""
    modules = {part.__module__ for part in parts(loop, set())} - {None}  # callers are made from the table of hooks
    trees = [ast.parse(Path(sys.modules[name].__file__).read_text()) for name in modules]
    imported = {node.module for tree in trees for node in ast.walk(tree) if isinstance(node, ast.ImportFrom)}
    of_capsim = {name for name in modules | imported if name.startswith("capsim.")}
    assert {Path(sys.modules[name].__file__) for name in of_capsim} <= set(loop_files())
    assert len(of_capsim) > 20
