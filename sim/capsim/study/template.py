"""Templates, text in which ``{...}`` is arithmetic on the names of a study, and the axes whose values these are.

::

    hosts = "{pods * pods // 2}"        # one expression is its value, here a number
    file = "load{load}.csv"             # in other text it is written out

An expression has numbers, texts, names, ``+ - * / // %``, comparisons, ``and``, ``or``, ``not``, ``a if b else c``, and
the functions `FUNCTIONS`. Nothing else is evaluated and no number or text grows beyond `MOST_BITS` and `MOST_SIGNS`: a
template runs no code of the file, whoever wrote it. (A scheme may be a Python file, which is another matter:
:mod:`capsim.roles.scheme_files`.) An entry of a list may have

``when``
    a condition: the entry is left out where it is false;
``repeat``
    a number: the entry is there so many times, with ``{i}`` = 0, 1, ... in it;
``entries``
    a list that stands in place of the entry.

What becomes ``None`` is left out of its table.
"""

import ast
import math
import operator
import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from typing import Any

from capsim.base.bounds import shortened
from capsim.base.structs import converted
from capsim.protocols.registry import named_schemes
from capsim.roles.scheme_files import in_folder
from capsim.study.file import Label, Unstated
from capsmodel.checks import ParameterError, did_you_mean, require
from capsmodel.experiments.statistics.robustness import value_text

__all__ = [
    "FUNCTIONS",
    "SCHEME_NAME",
    "Axis",
    "Names",
    "Point",
    "axes_of",
    "evaluate",
    "filled",
    "flat",
    "is_template",
    "names_in",
    "point_name",
]

Names = Callable[[str], Any]
"""Gives the value of a name, which may have dots."""

FUNCTIONS: Mapping[str, Callable[..., Any]] = {
    "int": lambda number: int(number),  # of one argument, as round: the second one of either may cost any time
    "round": lambda number: round(number),
    "ceil": math.ceil,
    "min": min,
    "max": max,
}
"""All that an expression may call."""

MOST_BITS = 1024
"""Of a whole number."""
MOST_SIGNS = 10_000
"""Of a text, and of the entries that ``repeat`` makes of one."""
_MOST_NESTED = 50

_ARITHMETIC: Mapping[type, Callable[[Any, Any], Any]] = {
    ast.Add: operator.add,
    ast.Sub: operator.sub,
    ast.Mult: operator.mul,
    ast.Div: operator.truediv,
    ast.FloorDiv: operator.floordiv,
    ast.Mod: operator.mod,
}
_COMPARISONS: Mapping[type, Callable[[Any, Any], Any]] = {
    ast.Eq: operator.eq,
    ast.NotEq: operator.ne,
    ast.Lt: operator.lt,
    ast.Gt: operator.gt,
    ast.LtE: operator.le,
    ast.GtE: operator.ge,
}
_EXPRESSION = re.compile(r"\{([^{}]*)\}")


def is_template(value: object) -> bool:
    """Return whether a value is text with an expression in it."""
    return isinstance(value, str) and _EXPRESSION.search(value) is not None


def names_in(value: object) -> Iterator[str]:
    """Yield the names in the expressions of a text.

    Examples
    --------
    >>> list(names_in("{fabric.leaves * 2} of {int(hosts)}"))
    ['fabric.leaves', 'hosts']
    """
    for text in _EXPRESSION.findall(value) if isinstance(value, str) else ():
        yield from _names(_parsed(text))


def _names(node: ast.AST) -> Iterator[str]:
    if isinstance(node, ast.Name | ast.Attribute):
        yield ast.unparse(node)
    elif isinstance(node, ast.Call):
        for argument in node.args:
            yield from _names(argument)
    else:
        for child in ast.iter_child_nodes(node):
            yield from _names(child)


def evaluate(text: str, names: Names) -> Any:
    """Return the value of one expression.

    Parameters
    ----------
    text : str
        The expression, without braces.
    names : callable
        Gives the value of each name in it.

    Raises
    ------
    ParameterError
        If something in it is no arithmetic, or a value has no finite result.

    Examples
    --------
    >>> evaluate("pods * 2 if pods > 2 else 1", {"pods": 4}.__getitem__)
    8
    """
    try:
        return _value(_parsed(text), names)
    except ParameterError:
        raise
    except (ArithmeticError, TypeError, ValueError) as error:
        raise ParameterError(f"{{{_cut(text)}}}: {error}") from None


@lru_cache(maxsize=4096)
def _parsed(text: str) -> ast.expr:
    try:
        tree = ast.parse(text.strip(), mode="eval").body
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        raise ParameterError(f"{{{_cut(text)}}} is no arithmetic on names: write as in {{pods * 2}}") from None
    _check(tree, text, depth=0)
    return tree


def _check(node: ast.AST, text: str, depth: int) -> None:
    """Refuse whatever `_value` does not know, before anything is evaluated."""
    listed = ", ".join(FUNCTIONS)
    rule = f"only + - * / // %, comparisons, and, or, not, a if b else c, {listed} are allowed, on names and numbers"
    require(depth < _MOST_NESTED and _is_known(node), f"{{{_cut(text)}}}: {rule}")
    if isinstance(node, ast.Attribute):
        return
    for child in node.args if isinstance(node, ast.Call) else ast.iter_child_nodes(node):
        if isinstance(child, ast.expr):
            _check(child, text, depth + 1)


def _is_known(node: ast.AST) -> bool:
    match node:
        case ast.Constant():
            return isinstance(node.value, bool | int | float | str | None)
        case ast.Attribute():
            return all(part.isidentifier() for part in ast.unparse(node).split("."))
        case ast.BinOp():
            return type(node.op) in _ARITHMETIC
        case ast.UnaryOp():
            return isinstance(node.op, ast.USub | ast.Not)
        case ast.Compare():
            return len(node.ops) == 1 and type(node.ops[0]) in _COMPARISONS
        case ast.Call():
            return isinstance(node.func, ast.Name) and node.func.id in FUNCTIONS and not node.keywords
    return isinstance(node, ast.Name | ast.BoolOp | ast.IfExp)


def _value(node: Any, names: Names) -> Any:
    """Return the value of a part of an expression that `_check` has let pass."""
    match node:
        case ast.Constant():
            return node.value
        case ast.Name():
            return names(node.id)
        case ast.Attribute():
            return names(ast.unparse(node))
        case ast.BinOp():
            return _number(_ARITHMETIC[type(node.op)], _value(node.left, names), _value(node.right, names))
        case ast.UnaryOp() if isinstance(node.op, ast.Not):
            return not _value(node.operand, names)
        case ast.UnaryOp():
            return _number(operator.sub, 0, _value(node.operand, names))
        case ast.Compare():
            return _COMPARISONS[type(node.ops[0])](_value(node.left, names), _value(node.comparators[0], names))
        case ast.IfExp():
            return _value(node.body if _value(node.test, names) else node.orelse, names)
        case ast.BoolOp():
            return (all if isinstance(node.op, ast.And) else any)(_value(part, names) for part in node.values)
    return FUNCTIONS[node.func.id](*[_value(part, names) for part in node.args])


def _number(of: Callable[[Any, Any], Any], left: Any, right: Any) -> Any:
    for one in (left, right):
        if not isinstance(one, int | float):
            raise TypeError(f"{shortened(one)} is no number")
    value = of(left, right)
    fits = value.bit_length() <= MOST_BITS if isinstance(value, int) else math.isfinite(value)
    if not fits:
        raise ValueError("the result is beyond every quantity")
    return value


def _cut(text: str) -> str:
    return text if len(text) <= 60 else f"{text[:60]}..."


def filled(value: Any, names: Names, *, where: str = "") -> Any:
    """Return tables, lists and texts with their expressions evaluated and their entries repeated or left out.

    Parameters
    ----------
    value : object
        As TOML gives it.
    names : callable
        Gives the value of each name.
    where : str
        The key of `value`, which begins the text of an error.

    Raises
    ------
    ParameterError
        As :func:`evaluate`, with the key in front.

    Examples
    --------
    >>> names = {"load": 0.5, "rounds": 2}.__getitem__
    >>> filled({"load": "{load / 2}", "name": "at {load}", "none": "{None}"}, names)
    {'load': 0.25, 'name': 'at 0.5'}
    >>> filled([{"repeat": "{rounds}", "start_s": "{10 * i}"}, {"when": "{load > 1}"}], names)
    [{'start_s': 0}, {'start_s': 10}]
    """
    if isinstance(value, str):
        return _text(value, names, where)
    if isinstance(value, Mapping):
        tables = {key: filled(one, names, where=f"{where}.{key}".removeprefix(".")) for key, one in value.items()}
        return {key: one for key, one in tables.items() if one is not None}
    if isinstance(value, list | tuple):
        return _listed(value, names, where)
    return value


def _text(text: str, names: Names, where: str) -> Any:
    try:
        if whole := _EXPRESSION.fullmatch(text):
            return evaluate(whole[1], names)
        replaced = _EXPRESSION.sub(lambda one: str(evaluate(one[1], names)), text)
    except ParameterError as error:
        raise ParameterError(f"{where}: {error}" if where else str(error)) from None
    require(
        len(replaced) <= MOST_SIGNS, f"{where}: a text has more than {MOST_SIGNS} characters: {shortened(replaced)}"
    )
    return replaced


def _listed(entries: Sequence[Any], names: Names, where: str) -> list[Any]:
    values: list[Any] = []
    for number, entry in enumerate(entries):
        for more in _entries(entry, names, where=f"{where}[{number}]"):
            values += more
            require(len(values) <= MOST_SIGNS, f"{where}: there are more than {MOST_SIGNS} entries: repeat fewer")
    return values


def _entries(entry: Any, names: Names, where: str) -> Iterator[list[Any]]:
    """Yield what becomes of one entry of a list, time after time."""
    if not isinstance(entry, Mapping):
        yield [filled(entry, names, where=where)]
        return
    if not filled(entry.get("when", True), names, where=f"{where}.when"):
        return
    times = filled(entry.get("repeat", 1), names, where=f"{where}.repeat")
    fits = isinstance(times, int) and 0 <= times <= MOST_SIGNS
    require(fits, f"{where}.repeat = {shortened(times)}, but it must be a whole number from 0 to {MOST_SIGNS}")
    rest = {key: one for key, one in entry.items() if key not in ("when", "repeat", "entries")}
    alone = "entries" not in entry or not rest
    require(alone, f"{where}: entries stand in place of the entry: leave out {', '.join(rest)}")
    twice = "repeat" in entry and _repeats([*rest.values(), *entry.get("entries", ())])
    require(not twice, f"{where}.repeat: what is repeated repeats entries itself: write one repeat with their product")
    for i in range(times):
        known = _counted(names, i) if "repeat" in entry else names
        yield filled(entry["entries"], known, where=where) if "entries" in entry else [filled(rest, known, where=where)]


def _repeats(values: Iterable[Any]) -> bool:
    """Return whether an entry of some lists, at any depth, is repeated."""
    return any(
        (isinstance(one, Mapping) and ("repeat" in one or _repeats(one.values())))
        or (isinstance(one, list | tuple) and _repeats(one))
        for one in values
    )


def _counted(names: Names, i: int) -> Names:
    return lambda word: i if word == "i" else names(word)


Point = tuple[tuple[str, Label], ...]
"""The value of each axis; ``study`` is the last one of a run that belongs to another study."""
SCHEME_NAME = "scheme.name"
"""What a scheme is in the simulator; ``scheme`` is what the study calls it."""


@dataclass(frozen=True)
class Axis:
    """An axis, or a setting that is left open.

    Attributes
    ----------
    name : str
        As the study calls it.
    values : mapping
        What each of its values sets: names and settings, by what the value is called.
    said : Unstated, optional
        What the file says about a setting that is left open.
    """

    name: str
    values: Mapping[Label, Mapping[str, Any]]
    said: Unstated | None = None

    @property
    def is_labelled(self) -> bool:
        """Whether its values are names for what they set."""
        return any(patch != {self.name: label} for label, patch in self.values.items())

    @property
    def names(self) -> frozenset[str]:
        """Names and settings that some value of it sets."""
        return frozenset(name for patch in self.values.values() for name in patch)

    @property
    def alone(self) -> bool:
        """Whether its alternatives are tried alone only."""
        return self.said is not None and self.said.alone

    @property
    def first(self) -> Label:
        """Return the value that follows the text."""
        label: Label = next(iter(self.values))
        return label

    def value(self, request: object, where: str) -> Label:
        """Return a value of the axis.

        Raises
        ------
        ParameterError
            If it has no such value.
        """
        for known in self.values:
            if known == request and isinstance(known, bool) == isinstance(request, bool):
                return known
        raise ParameterError(
            f"{where}: {self.name} has no value {shortened(request)}: {did_you_mean(request, self.values)}"
        )


def point_name(values: Iterable[tuple[str, Label]]) -> str:
    """Return the values of axes in words; numbers with the name of their axis.

    Examples
    --------
    >>> point_name([("scheme", "caps"), ("traffic.load", 0.6)])
    'caps, traffic.load 0.6'
    """
    return ", ".join(value if isinstance(value, str) else f"{axis} {value_text(value)}" for axis, value in values)


def flat(tables: Mapping[str, Any], before: str = "") -> dict[str, Any]:
    """Return nested tables as dotted names.

    Examples
    --------
    >>> flat({"fabric": {"leaves": 4}, "end_s": 1.0})
    {'fabric.leaves': 4, 'end_s': 1.0}
    """
    names: dict[str, Any] = {}
    for key, value in tables.items():
        names |= flat(value, f"{before}{key}.") if isinstance(value, Mapping) else {f"{before}{key}": value}
    return names


def axes_of(tables: Mapping[str, Any], folder: Path, where: str) -> dict[str, Axis]:
    """Return the axes that a table has, by name; ``traffic.load = [...]`` is a table in a table for TOML."""
    axes: dict[str, Axis] = {}
    for name, value in tables.items():
        if isinstance(value, Mapping) and value and "values" not in value and all(map(_is_axis, value.values())):
            axes |= axes_of({f"{name}.{key}": one for key, one in value.items()}, folder, where)
        else:
            axes[name] = _axis(name, value, folder, f"{where}.{name}")
    return axes


def _is_axis(value: Any) -> bool:
    return isinstance(value, list) or (isinstance(value, Mapping) and "values" in value)


def _axis(name: str, value: Any, folder: Path, where: str) -> Axis:
    unstated = converted(value, Unstated, where=where) if isinstance(value, Mapping) and "values" in value else None
    values = unstated.values if unstated else value
    message = f"{where}: give a list of values, as in [0.2, 0.4], or a table of what each value sets"
    require(isinstance(values, list | tuple | Mapping) and len(values) > 0, message)
    if isinstance(values, Mapping):
        patches: dict[Label, Mapping[str, Any]] = {
            one: _patch(name, one, patch, folder, where) for one, patch in values.items()
        }
    else:
        require(all(isinstance(one, Label) for one in values), message)
        if name == "scheme":
            values = named_schemes([in_folder(str(one), folder) for one in values])
        patches = {one: {name: one} for one in values}
        require(len({str(one) for one in values}) == len(values), f"{where} holds a value twice")
    return Axis(name, patches, unstated)


def _patch(axis: str, label: str, patch: Any, folder: Path, where: str) -> dict[str, Any]:
    """Return what a value of an axis sets: its own name, and what its table has."""
    if axis == "scheme":
        named = patch if isinstance(patch, Mapping) else {"scheme": patch}
        scheme = named.get("scheme")
        require(isinstance(scheme, str), f'{where}.{label}: name the scheme, as in {label} = "ecmp"')
        rest = {key: one for key, one in named.items() if key != "scheme"}
        return {"scheme": label, SCHEME_NAME: in_folder(str(scheme), folder), **flat(rest)}
    message = f"{where}.{label}: give its value, or a table of what it sets, as in {{ flows = 100 }}"
    require(isinstance(patch, Label | Mapping), message)
    return {axis: label, **flat(patch)} if isinstance(patch, Mapping) else {axis: patch}
