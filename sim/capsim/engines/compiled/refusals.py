"""Refuses what machine code would do otherwise than a hook says: when it is compiled, or when it runs.

- A fraction where only a whole number can be: machine code would cut it off. The reference engine would go on with it,
  or find it when the hook has answered.
- A write to a field that keeps its value during a run: the loop has read it before (:mod:`capsim.records`).
- A float that Python turns into no whole number, as ``int(float("nan"))``: the processor makes some number of it. In
  functions of one's own each such call is preceded by a check, as are divisions and indices by checks of Numba.
"""

from collections.abc import Iterator
from typing import Any

from numba import types
from numba.core import ir
from numba.core.compiler_machinery import AnalysisPass, FunctionPass, register_pass
from numba.core.ir_utils import build_definitions, find_callname, guard
from numba.core.typed_passes import NopythonTypeInference
from numba.core.untyped_passes import InlineClosureLikes
from numba.extending import overload

REMEDY = "make it whole, as by int()"


class RefusedError(Exception):
    """A hook returns or writes what it must not: `message` says what, with the remedy, `loc` where.

    It is no error of Numba, which would take it for one reason of several why no implementation of a function fits.
    """

    def __init__(self, message: str, loc: Any) -> None:
        super().__init__(message)
        self.message, self.loc = message, loc


@register_pass(mutates_CFG=False, analysis_only=True)
class Writes(AnalysisPass):
    """Looks at what a function writes, and at the types that Numba has found for it."""

    _name = "refuse_writes"

    def __init__(self) -> None:
        AnalysisPass.__init__(self)

    def run_pass(self, state: Any) -> bool:
        """Return that nothing was changed, or raise :class:`RefusedError`."""
        return _refuse(_bad_write, state)


@register_pass(mutates_CFG=False, analysis_only=True)
class Answers(AnalysisPass):
    """Looks at what a hook returns."""

    _name = "refuse_answers"

    def __init__(self) -> None:
        AnalysisPass.__init__(self)

    def run_pass(self, state: Any) -> bool:
        """Return that nothing was changed, or raise :class:`RefusedError`."""
        return _refuse(_bad_answer, state)


@register_pass(mutates_CFG=False, analysis_only=False)
class Casts(FunctionPass):
    """Writes ``int(x)`` as ``int(castable(x))``, and so for all functions that make a whole number of a float."""

    _name = "refuse_casts"

    def __init__(self) -> None:
        FunctionPass.__init__(self)

    def run_pass(self, state: Any) -> bool:
        """Return whether there is such a call."""
        function = state.func_ir
        calls = [
            (block, statement)
            for block in function.blocks.values()
            for statement in block.find_insts(ir.Assign)
            if _makes_whole(statement.value, function)
        ]
        for block, statement in calls:
            checked, check = (block.scope.redefine(name, statement.loc) for name in ("checked", "check"))
            place = block.body.index(statement)
            call = ir.Expr.call(check, statement.value.args, (), statement.loc)
            steps = ((check, ir.Global("castable", castable, statement.loc)), (checked, call))
            block.body[place:place] = [ir.Assign(value, target, statement.loc) for target, value in steps]
            statement.value.args = [checked]
        function._definitions = build_definitions(function.blocks)
        return bool(calls)


_TO_WHOLE = {("int", "builtins"), ("round", "builtins"), ("floor", "math"), ("ceil", "math"), ("trunc", "math")}
_TO_WHOLE |= {(f"{sign}int{bits}", "numpy") for sign in ("", "u") for bits in (8, 16, 32, 64)}


def _makes_whole(value: Any, function: Any) -> bool:
    """Return whether an expression is a call with one argument that makes a whole number of a float."""
    is_call = isinstance(value, ir.Expr) and value.op == "call" and len(value.args) == 1
    return is_call and guard(find_callname, function, value) in _TO_WHOLE


def castable(value: Any) -> Any:
    """Return a float; raise what Python does where there is no whole number of 64 bits for it.

    Examples
    --------
    >>> castable(2.5)
    2.5
    """
    if value != value:
        raise ValueError("cannot convert float NaN to integer")
    if not -(2.0**63) <= value < 2.0**63:
        raise OverflowError("cannot convert a float to an integer of 64 bits")
    return value


@overload(castable, strict=False)
def _castable(value: Any) -> Any:
    return castable if isinstance(value, types.Float) else lambda value: value


def refuse_writes(pipelines: Any) -> Any:
    """Return Numba's steps with one that looks at writes, behind the one that finds the types."""
    return _with(pipelines, Writes, NopythonTypeInference)


def refuse_answers(pipelines: Any) -> Any:
    """Return Numba's steps with one that looks at answers, behind the one that finds the types."""
    return _with(pipelines, Answers, NopythonTypeInference)


def refuse_casts(pipelines: Any) -> Any:
    """Return Numba's steps with one that puts checks before casts, behind the one that inlines inner functions."""
    return _with(pipelines, Casts, InlineClosureLikes)


def _with(pipelines: Any, step: Any, place: Any) -> Any:
    for each in pipelines:
        each.add_pass_after(step, place)
        each.finalize()
    return pipelines


def _refuse(offence: Any, state: Any) -> bool:
    """Raise :class:`RefusedError` for the first statement in which there is an offence."""
    for statement in _statements(state.func_ir):
        message = offence(statement, state)
        if message:
            raise RefusedError(message, statement.loc)
    return False


def _statements(function: Any) -> Iterator[Any]:
    for block in function.blocks.values():
        yield from block.body


def _bad_answer(statement: Any, state: Any) -> str:
    """Return what is wrong with a hook's answer; empty if nothing is."""
    if not isinstance(statement, ir.Return):
        return ""
    cast = state.func_ir.get_definition(statement.value)
    kind = state.typemap[getattr(cast, "value", statement.value).name]
    whole = isinstance(kind, types.Integer | types.Boolean)
    return "" if whole else f"a hook returns a whole number, not one of type {kind}: {REMEDY}"


def _bad_write(statement: Any, state: Any) -> str:
    """Return what is wrong with what a statement writes; empty if nothing is."""
    kind_of = state.typemap
    if isinstance(statement, ir.SetAttr):
        record, value = kind_of[statement.target.name], kind_of[statement.value.name]
        if statement.attr in getattr(record, "constant", ()):
            return f"{statement.attr} keeps its value during a run: keep what changes in memory of your own"
        holds = record.typeof(statement.attr) if isinstance(record, types.Record) else value
        return _written(statement.attr, holds, value)
    if isinstance(statement, ir.SetItem | ir.StaticSetItem):
        array, value = kind_of[statement.target.name], kind_of[statement.value.name]
        return _written("this array", getattr(array, "dtype", value), value)
    return ""


def _written(name: str, holds: Any, value: Any) -> str:
    cut = isinstance(holds, types.Integer) and isinstance(value, types.Float)
    return f"{name} holds whole numbers, not one of type {value}: {REMEDY}" if cut else ""
