"""Refuses, when a hook is compiled, what machine code would do otherwise than the hook says.

- A fraction where only a whole number can be: machine code would cut it off. The reference engine would go on with it,
  or find it when the hook has answered.
- A write to a field that keeps its value during a run: the loop has read it before (:mod:`capsim.records`).
"""

from collections.abc import Iterator
from typing import Any

from numba import types
from numba.core import ir
from numba.core.compiler import Compiler
from numba.core.compiler_machinery import AnalysisPass, register_pass
from numba.core.errors import NumbaError
from numba.core.typed_passes import NopythonTypeInference

REMEDY = "make it whole, as by int()"


class RefusedError(NumbaError):
    """A hook returns or writes what it must not: `message` says what, with the remedy, `loc` where."""

    def __init__(self, message: str, loc: Any) -> None:
        super().__init__(message, loc=loc)
        self.message, self.loc = message, loc


@register_pass(mutates_CFG=False, analysis_only=True)
class Refusals(AnalysisPass):
    """Looks at what a hook returns and writes, and at the types that Numba has found for it."""

    _name = "refusals"

    def __init__(self) -> None:
        AnalysisPass.__init__(self)

    def run_pass(self, state: Any) -> bool:
        """Return that nothing was changed, or raise :class:`RefusedError`."""
        for statement in _statements(state.func_ir):
            message = _offence(statement, state)
            if message:
                raise RefusedError(message, statement.loc)
        return False


class HookCompiler(Compiler):
    """Numba's compiler with this pass behind the one that finds the types."""

    def define_pipelines(self) -> Any:
        """Return Numba's steps with one more."""
        pipelines = super().define_pipelines()
        for each in pipelines:
            each.add_pass_after(Refusals, NopythonTypeInference)
            each.finalize()
        return pipelines


def _statements(function: Any) -> Iterator[Any]:
    for block in function.blocks.values():
        yield from block.body


def _offence(statement: Any, state: Any) -> str:
    """Return what is wrong with a statement; empty if nothing is."""
    kind_of = state.typemap
    if isinstance(statement, ir.Return):
        cast = state.func_ir.get_definition(statement.value)
        found = kind_of[getattr(cast, "value", statement.value).name]
        whole = isinstance(found, types.Integer | types.Boolean)
        return "" if whole else f"a hook returns a whole number, not one of type {found}: {REMEDY}"
    if isinstance(statement, ir.SetAttr):
        record, found = kind_of[statement.target.name], kind_of[statement.value.name]
        if statement.attr in getattr(record, "constant", ()):
            return f"{statement.attr} keeps its value during a run: keep what changes in memory of your own"
        holds = record.typeof(statement.attr) if isinstance(record, types.Record) else found
        return _written(statement.attr, holds, found)
    if isinstance(statement, ir.SetItem | ir.StaticSetItem):
        array, found = kind_of[statement.target.name], kind_of[statement.value.name]
        return _written("this array", getattr(array, "dtype", found), found)
    return ""


def _written(name: str, holds: Any, found: Any) -> str:
    cut = isinstance(holds, types.Integer) and isinstance(found, types.Float)
    return f"{name} holds whole numbers, not one of type {found}: {REMEDY}" if cut else ""
