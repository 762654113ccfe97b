"""The functions that a run calls, as machine code: those of the loop, and the hooks of its components.

What compiles (:mod:`~capsim.engines.compiled.jit` and the parts of the loop) is imported where it is needed: where
machine code is not on disk under a function's key (:func:`loop_key`, :func:`hook_key`).

A hook's key covers the constants and functions that it reads, as the id of a run does, and is taken anew for each run.
So a constant that is changed between two runs of a process counts in the second one, as it does for Python.
"""

from functools import cache
from pathlib import Path
from typing import Any

import numpy as np

from capsim.engines.compiled.machine_code import CAPSIM, Loaded, ObjectCode, loaded
from capsim.engines.own_memory import param_record
from capsim.roles.hooks import Hook, hooks_of
from capsim.roles.own import TABLES, first_record, scopes_of
from capsmodel._machine_code import is_kept
from capsmodel.code_identity import files_digest, function_digest

IN_THE_LOOP = ("base", "engines", "records")
OF_HOOKS = tuple(CAPSIM / "engines/compiled" / name for name in ("jit.py", "numba_types.py", "refusals.py"))
GIVEN_TO_HOOKS = (CAPSIM / "roles/hooks.py", CAPSIM / "roles/own.py", *sorted((CAPSIM / "records").glob("*.py")))


def loop_files(root: Path = CAPSIM) -> list[Path]:
    """Return the files that end up in the event loop; those of the reference engine, which is edited freely, do not."""
    files = [root / "roles" / name for name in ("hooks.py", "own.py")]
    files += [path for name in IN_THE_LOOP for path in sorted((root / name).rglob("*.py"))]
    return [path for path in files if not path.name.startswith("reference")]


def loop_key(root: Path = CAPSIM) -> str:
    """Return a hash of all files of which the event loop is compiled."""
    return files_digest(*loop_files(root))


def hook_key(hook: Any) -> str:
    """Return a hash of what a hook and the functions that it calls do, of how hooks are compiled, and of the records.

    Examples
    --------
    >>> from capsim.protocols.queues import ecn, priority
    >>> hook_key(ecn.admit) == hook_key(priority.admit)
    False
    """
    return f"{function_digest(hook)} {_digest_for_hooks()}"


@cache
def _digest_for_hooks() -> str:
    return files_digest(*OF_HOOKS, *GIVEN_TO_HOOKS)


@cache
def loop_function(name: str) -> Loaded:
    """Return a function of the module `loop` that takes two numbers and returns one."""

    def compiled() -> ObjectCode:
        from capsim.engines.compiled import jit, loop

        return jit.object_code(getattr(loop, name), jit.TWO_NUMBERS)

    return loaded(f"capsim.{name}", "", loop_key(), compiled)


def loop_is_kept() -> bool:
    """Return whether the machine code of the loop is on disk, so that a run begins at once but for new hooks."""
    return is_kept("capsim.loop", "", loop_key())


def loaded_hooks(component: Any) -> dict[str, Loaded | None]:
    """Return the hooks of a component by name, as their constants are at present; None for those that it has not."""
    params = param_record(component.params).dtype
    scopes = dict.fromkeys(TABLES.get(scope, scope) for name in hooks_of(component.role) for scope in scopes_of(name))
    memory = {scope: first_record(component.own_fields, scope).dtype for scope in scopes}
    hooks = {name: component.hook(name) for name in hooks_of(component.role)}
    return {name: hook and _loaded_hook(name, hook, params, memory) for name, hook in hooks.items()}


_in_memory: dict[tuple[str, str, str], Loaded] = {}  # hooks of this process under their names, types and keys


def _loaded_hook(name: str, hook: Hook, params: np.dtype[Any], memory: dict[str, np.dtype[Any]]) -> Loaded:
    def compiled() -> ObjectCode:
        from capsim.engines.compiled import jit, numba_types

        return jit.hook_code(hook, numba_types.types_of(name, params, memory))

    types = _text_of_types(name, params, tuple(memory.items()))
    known_as = f"{hook.__module__}.{hook.__qualname__}", types, hook_key(hook)
    if known_as not in _in_memory:
        _in_memory[known_as] = loaded(*known_as, compiled)
    return _in_memory[known_as]


@cache
def _text_of_types(name: str, params: np.dtype[Any], memory: tuple[tuple[str, np.dtype[Any]], ...]) -> str:
    return repr((name, params, memory))
