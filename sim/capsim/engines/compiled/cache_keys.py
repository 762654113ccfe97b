"""On what compiled code depends besides its own text: keys of the on-disk cache.

The machine code of a hook depends on the files of the functions that it calls and on the constants that it reads, that
of the event loop on the engine's files and on those of the records. So an edited scheme is compiled anew by itself.
"""

import hashlib
import sys
from collections.abc import Iterator
from pathlib import Path
from types import ModuleType
from typing import Any

from capsim.roles.code_digest import BY_NAME, function_digest

ROOT = Path(__file__).parents[2]  # capsim
LIBRARIES = BY_NAME - {"capsim", "capsmodel"}
FOLDERS = ("base", "engines", "records")
HOOKS = ("hooks.py", "own.py")


def loop_key() -> str:
    """Return a hash of all files that end up in the event loop."""
    files = [ROOT / "roles" / name for name in HOOKS]
    files += [path for name in FOLDERS for path in sorted((ROOT / name).rglob("*.py"))]
    return _digest(_file_digest(path) for path in files)


def hook_key(hook: Any) -> str:
    """Return a hash of the code and values that a hook reads, and of how hooks are compiled.

    Examples
    --------
    >>> from capsim.protocols.queues import droptail, ecn
    >>> hook_key(droptail.admit) == hook_key(ecn.admit)
    False
    """
    functions, values = _reached(hook)
    modules = {function.__module__ for function in functions} | {_module_of(value) for value in values.values()}
    files = sorted({*_files(modules), Path(__file__).with_name("jit.py")})
    constants = sorted(f"{name} = {value!r}" for name, value in values.items() if _module_of(value) is None)
    return _digest([function_digest(hook), *map(_file_digest, files), *constants])


def _reached(function: Any) -> tuple[list[Any], dict[str, Any]]:
    """Return a function with all functions that it calls, and by name the other values that these read."""
    functions, values = [function], {}
    for each in functions:  # the list grows meanwhile
        for name, value in _read_by(each):
            value = getattr(value, "py_func", value)  # of a function compiled by Numba
            if not hasattr(value, "__code__"):
                values[f"{each.__module__}.{name}"] = value
            elif value not in functions:
                functions.append(value)
    return functions, values


def _read_by(function: Any) -> Iterator[tuple[str, Any]]:
    """Yield name and value of the globals that a function reads, and of what it reads of modules among them."""
    scopes = [function.__globals__]
    for scope in scopes:  # likewise
        for name in function.__code__.co_names:
            value = scope.get(name)
            if name not in scope or getattr(value, "__name__", "").partition(".")[0] in LIBRARIES:
                continue
            yield name, value
            if isinstance(value, ModuleType):
                scopes.append(vars(value))


def _module_of(value: Any) -> str | None:
    """Return the name of a module, or of that of a class; other values have none of their own."""
    if isinstance(value, ModuleType):
        return value.__name__
    return value.__module__ if isinstance(value, type) else None


def _files(modules: set[str | None]) -> Iterator[Path]:
    """Yield the source files of modules."""
    for name in modules:
        path = getattr(sys.modules.get(name or ""), "__file__", None)
        if path is not None and Path(path).suffix == ".py":
            yield Path(path)


def _file_digest(path: Path) -> str:
    return hashlib.sha256(path.read_bytes()).hexdigest()


def _digest(parts: Any) -> str:
    return hashlib.sha256("\n".join(parts).encode()).hexdigest()
