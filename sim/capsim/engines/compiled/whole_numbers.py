"""Refuses, when a hook is compiled, a fraction where only a whole number can be: machine code would cut it off.

The reference engine would go on with the fraction, or find it when the hook has answered.
"""

from collections.abc import Iterator
from typing import Any

from numba import types
from numba.core import ir
from numba.core.compiler import Compiler
from numba.core.compiler_machinery import AnalysisPass, register_pass
from numba.core.errors import NumbaError
from numba.core.typed_passes import NopythonTypeInference


class FractionError(NumbaError):
    """A hook returns or writes a fraction: `told` says what, `loc` where."""

    def __init__(self, told: str, loc: Any) -> None:
        super().__init__(told, loc=loc)
        self.told, self.loc = told, loc


@register_pass(mutates_CFG=False, analysis_only=True)
class WholeNumbers(AnalysisPass):
    """Looks at the types that Numba has found for what a hook returns and writes."""

    _name = "whole_numbers"

    def __init__(self) -> None:
        AnalysisPass.__init__(self)

    def run_pass(self, state: Any) -> bool:
        """Return that nothing was changed, or raise :class:`FractionError`."""
        for statement in _statements(state.func_ir):
            told = _offence(statement, state)
            if told:
                raise FractionError(told, statement.loc)
        return False


class HookCompiler(Compiler):
    """Numba's compiler with this pass behind the one that finds the types."""

    def define_pipelines(self) -> Any:
        """Return Numba's steps with one more."""
        pipelines = super().define_pipelines()
        for each in pipelines:
            each.add_pass_after(WholeNumbers, NopythonTypeInference)
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
        return "" if whole else f"a hook returns a whole number, not one of type {found}"
    if isinstance(statement, ir.SetAttr):
        record, found = kind_of[statement.target.name], kind_of[statement.value.name]
        holds = record.typeof(statement.attr) if isinstance(record, types.Record) else found
        return _written(statement.attr, holds, found)
    if isinstance(statement, ir.SetItem | ir.StaticSetItem):
        array, found = kind_of[statement.target.name], kind_of[statement.value.name]
        return _written("this array", getattr(array, "dtype", found), found)
    return ""


def _written(name: str, holds: Any, found: Any) -> str:
    cut = isinstance(holds, types.Integer) and isinstance(found, types.Float)
    return f"{name} holds whole numbers, not one of type {found}" if cut else ""
