"""Hosts and switches of the reference engine: functions of :mod:`capsim.engines.hosts` with their primitives in place.

Most primitives are one expression, for which a call takes Python longer than what it does. So a new function is made of
the text of each, in which ``stack_at(w.stacks, whole(sub.stack)).emit`` is ``w.stacks[sub.stack].emit``. Its lines are
those of the text, which debuggers and tracebacks show.
"""

import ast
import inspect
from typing import Any

from capsim.engines.hosts import handlers, primitives, processors, receivers, reordering, senders, subflows, switches
from capsim.engines.hosts.callers import callers


class InPlace(ast.NodeTransformer):
    """Puts primitives that are one expression in place of their calls.

    Examples
    --------
    >>> ast.unparse(InPlace().visit(ast.parse("stack_at(w.stacks, whole(sub.stack)).emit")))
    'w.stacks[sub.stack].emit'
    """

    def __init__(self) -> None:
        self.expressions: dict[str, tuple[list[str], str]] = {}  # parameters and text
        definitions = {each.name: each for each in _functions(primitives)}
        for name, function in primitives.names.items():
            match definitions.get(getattr(function, "__name__", "")):
                case ast.FunctionDef(
                    args=ast.arguments(args=parameters), body=[_, ast.Return(ast.expr() as value) | ast.Expr(value)]
                ):
                    self.expressions[name] = [each.arg for each in parameters], ast.unparse(value)

    def visit_Call(self, node: ast.Call) -> Any:
        """Return the call, or the expression in its place."""
        self.generic_visit(node)
        if not isinstance(node.func, ast.Name) or node.func.id not in self.expressions:
            return node
        parameters, text = self.expressions[node.func.id]
        expression = _Given(dict(zip(parameters, node.args, strict=True))).visit(ast.parse(text, mode="eval").body)
        for each in ast.walk(expression):
            ast.copy_location(each, node)
        return expression


class _Given(ast.NodeTransformer):
    """Puts arguments in place of parameters."""

    def __init__(self, arguments: dict[str, ast.expr]):
        self.arguments = arguments

    def visit_Name(self, node: ast.Name) -> ast.expr:
        """Return the argument that a name stands for."""
        return self.arguments.get(node.id, node)


def _functions(module: Any) -> list[Any]:
    """Return the definitions of the functions of a module."""
    return [each for each in ast.parse(inspect.getsource(module)).body if isinstance(each, ast.FunctionDef)]


def _bound() -> dict[str, Any]:
    """Return the functions of hosts and switches, which call each other."""
    scope, in_place = dict(primitives.names), InPlace()
    sources = (subflows, reordering, switches, processors, senders, receivers, handlers)
    for module in sources:
        scope |= vars(module)
    hooks = callers(scope, {name: in_place.visit(ast.parse(text)) for name, text in primitives.sources.items()})
    scope |= hooks | {"open_": hooks["open"]}
    for module in sources:
        tree = ast.Module(_functions(module), type_ignores=[])
        exec(compile(in_place.visit(tree), inspect.getfile(module), "exec"), scope)
    return scope


_scope = _bound()
start, wake, deliver, forward, rank, on_sent = (
    _scope[name] for name in ("start", "wake", "deliver", "forward", "rank", "on_sent")
)
