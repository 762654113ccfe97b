"""Which mutants a source file has: every change of one line that `variants` knows, from its syntax tree."""

import ast
import copy
import hashlib
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

_PAIRS = (
    *((ast.Eq, ast.NotEq), (ast.Is, ast.IsNot), (ast.In, ast.NotIn), (ast.And, ast.Or), (ast.Add, ast.Sub)),
    *((ast.Mult, ast.Div), (ast.LShift, ast.RShift), (ast.BitAnd, ast.BitOr)),
)
_TURNED: dict[type, list[type]] = {one: [other] for pair in _PAIRS for one, other in (pair, pair[::-1])} | {
    ast.Lt: [ast.LtE, ast.GtE],
    ast.LtE: [ast.Lt, ast.Gt],
    ast.Gt: [ast.GtE, ast.LtE],
    ast.GtE: [ast.Gt, ast.Lt],
    ast.FloorDiv: [ast.Mult],
    ast.Mod: [ast.FloorDiv],
    ast.Pow: [ast.Mult],
    ast.BitXor: [ast.BitOr],
    ast.MatMult: [],
}
_OTHER_NAME = {"min": "max", "max": "min", "any": "all", "all": "any", "ceil": "floor", "floor": "ceil"}
_TEXT_ONLY = (ast.JoinedStr, ast.Import, ast.ImportFrom)
_SKIPPED = frozenset({"decorator_list", "annotation", "returns", "exc", "ctx", "type_params"})


@dataclass(frozen=True, kw_only=True)
class Mutant:
    """One changed line: where, what it was, what it is, and the whole text of the file with it."""

    file: str
    function: str
    lines: tuple[int, int]
    at_import: bool
    before: str
    after: str
    text: str

    @property
    def id(self) -> str:
        """Return a hash of file and text."""
        return hashlib.sha256(f"{self.file}\n{self.text}".encode()).hexdigest()

    @property
    def change(self) -> tuple[str, str, str, str]:
        """Return what a reader knows it by, whatever its line number."""
        return self.file, self.function, self.before, self.after

    def __str__(self) -> str:
        return f"{self.file}:{self.lines[0]} {self.function}: {self.before}  ->  {self.after}"


def mutants_of(path: Path, file: str) -> list[Mutant]:
    """Return the mutants of the source at `path`, called `file`, each text once."""
    tree = ast.parse(path.read_text(encoding="utf-8"))
    found: dict[str, Mutant] = {}
    for siblings, index, child, parent, place in list(_slots(tree, _Place(tree))):
        before = _header(place.statement)
        for variant in variants(child, flag=isinstance(parent, ast.Return | ast.Assign)):
            siblings[index] = variant
            mutant = Mutant(
                file=file,
                function=".".join(place.names),
                lines=_lines(place.statement),
                at_import=not place.in_function or isinstance(place.statement, ast.FunctionDef),
                before=before,
                after=_header(variant if child is place.statement else place.statement),
                text=ast.unparse(tree),
            )
            found.setdefault(mutant.text, mutant)
            siblings[index] = child
    found.pop(ast.unparse(tree), None)
    return list(found.values())


def variants(node: Any, *, flag: bool = False) -> Iterator[ast.AST]:
    """Yield what may stand in the place of a node; a 1 that is a `flag`, returned or set alone, is as true as a 2.

    Examples
    --------
    >>> [ast.unparse(other) for other in variants(ast.parse("a < b", mode="eval").body)]
    ['a <= b', 'a >= b']
    """
    match node:
        case ast.Compare(ops=[op]):
            yield from (_with(node, ops=[kind()]) for kind in _TURNED[type(op)])
        case ast.BoolOp(op=op) | ast.BinOp(op=op) | ast.AugAssign(op=op):
            yield from (_with(node, op=kind()) for kind in _TURNED[type(op)])
        case ast.UnaryOp(operand=operand):
            yield operand
        case ast.Constant(value=value):
            yield from map(ast.Constant, _other_numbers(value, flag))
        case ast.Name(id=name) if name in _OTHER_NAME:
            yield ast.Name(_OTHER_NAME[name], node.ctx)
        case ast.Attribute(attr=name) if name in _OTHER_NAME:
            yield _with(node, attr=_OTHER_NAME[name])
        case ast.If(test=test) | ast.While(test=test) | ast.IfExp(test=test) if _is_bare(test):
            yield _with(node, test=ast.UnaryOp(ast.Not(), test))
    if _acts(node):
        yield ast.Pass()


def _other_numbers(value: Any, flag: bool) -> list[Any]:
    """Return one more and one less, a tenth less of a fraction, the other truth value; nothing for a text."""
    if isinstance(value, bool):
        return [not value]
    if isinstance(value, int):
        return [1] if value == 0 else [0] if flag and value == 1 else [value + 1, value - 1]
    if isinstance(value, float):
        return [0.9 * value] if value else [1.0]
    return []


def _is_bare(test: ast.expr) -> bool:
    """Return whether no other rule turns this condition."""
    return isinstance(test, ast.Name | ast.Attribute | ast.Call | ast.Subscript)


def _acts(node: Any) -> bool:
    """Return whether `node` is a statement without which the rest still runs: no definition of a name."""
    if isinstance(node, ast.Expr):
        return isinstance(node.value, ast.Call)
    if isinstance(node, ast.Assign):
        return not any(isinstance(target, ast.Name) for target in node.targets)
    return isinstance(node, ast.AugAssign | ast.Raise | ast.Continue | ast.Break)


def _with(node: Any, **fields: Any) -> Any:
    other = copy.copy(node)
    for name, value in fields.items():
        setattr(other, name, value)
    return other


@dataclass(frozen=True)
class _Place:
    """The innermost statement around a node, and the names of the functions and classes around that."""

    statement: Any
    names: tuple[str, ...] = ()
    in_function: bool = False

    def inner(self, statement: ast.stmt, parent: ast.AST) -> "_Place":
        """Return the place of a statement below this one, directly below `parent`."""
        if isinstance(parent, ast.FunctionDef | ast.ClassDef):
            called = self.in_function or isinstance(parent, ast.FunctionDef)
            return _Place(statement, (*self.names, parent.name), called)
        return _Place(statement, self.names, self.in_function)


def _slots(node: ast.AST, place: _Place) -> Iterator[tuple[Any, Any, Any, ast.AST, _Place]]:
    """Yield, for every node below `node` that may be changed: where it stands, its key there, itself, parent, place."""
    for field, value in ast.iter_fields(node):
        siblings, keys = (value, range(len(value))) if isinstance(value, list) else (vars(node), [field])
        for key in keys if field not in _SKIPPED else ():
            child = siblings[key]
            if isinstance(child, ast.AST) and not isinstance(child, _TEXT_ONLY):
                inner = place.inner(child, node) if isinstance(child, ast.stmt) else place
                yield siblings, key, child, node, inner
                yield from _slots(child, inner)


def _header(statement: Any) -> str:
    """Return a statement on one line; of one with a body, its head."""
    text = ast.unparse(statement).splitlines()
    return next((line for line in text if not line.startswith("@")), "")


def _lines(statement: Any) -> tuple[int, int]:
    """Return the first and the last line of a statement; of one with a body, of its head."""
    body = getattr(statement, "body", None)
    last = body[0].lineno - 1 if body else statement.end_lineno
    return statement.lineno, max(statement.lineno, last)
