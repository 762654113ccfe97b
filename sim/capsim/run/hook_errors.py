"""Errors of hooks that cannot be called or compiled: their line and the rule, in place of the compiler's page."""

import ast
import inspect
import textwrap
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from dis import get_instructions
from inspect import Parameter
from typing import TypeGuard

from capsim import records
from capsim.base.bounds import shortened
from capsim.base.inlined import is_marked
from capsim.engines.own_memory import param_record
from capsim.roles.components import Component, Scheme, components
from capsim.roles.hooks import HOOKS, Hook, hooks_of, is_own
from capsim.roles.own import TABLES
from capsim.run.hook_calls import RULE, check_calls, line, place, place_of
from capsmodel.checks import ParameterError, nearest, require
from capsmodel.code_identity import names_read

WHERE_FIELDS_ARE = "help(capsim.records) lists the fields and their meanings"

# The fields of what hooks are given, by the name of the argument.
_FIELDS: dict[str, tuple[str, ...] | None] = {
    "flow": records.FLOW.names,
    "sub": records.SUBFLOW.names,
    "subs": records.SUBFLOW.names,
    "packet": records.PACKET.names,
    "packets": records.PACKET.names,
    "counters": records.COUNTERS.names,
    "switch": records.SWITCH.names,
    "port": records.PORT.names,
    "ports": records.PORT.names,
}


def check_hooks(scheme: Scheme) -> None:
    """Refuse a hook with other arguments than it is called with (:mod:`capsim.roles.hooks`), or with forbidden calls.

    Raises
    ------
    ParameterError
        If it takes more or fewer, or some by keyword only, or is no function. If it calls what a hook may not call.
    """
    for _, part in components(scheme):
        for name in hooks_of(part.role):
            hook = getattr(part, name)
            if hook is not None:
                text = f"{part.role} {part.name!r}: {name} = {shortened(hook)}, but a hook is a function: use def"
                require(hasattr(hook, "__code__"), text)
                _check_arguments(name, hook)
                _check_draws(part, name, hook)
                check_calls(hook)


def _check_arguments(name: str, hook: Hook) -> None:
    given, takes = HOOKS[name].arguments, inspect.signature(hook)
    by_position = [each for each in takes.parameters.values() if each.kind is not Parameter.KEYWORD_ONLY]
    called = f"{name} is called with {len(given)}: {', '.join(given)}"
    text = f"{place_of(hook)}: {hook.__name__} takes {len(by_position)} arguments, but {called}"
    require(_takes(takes, given), text)


def _check_draws(part: Component, name: str, hook: Hook) -> None:
    """Refuse a hook of one's own that reads the uniform number of a component which does not ask for one."""
    if "u0" not in HOOKS[name].arguments or part.draws or not is_own(hook):
        return
    code, position = hook.__code__, HOOKS[name].arguments.index("u0")
    called = code.co_varnames[position] if position < code.co_argcount else ""  # else among *arguments
    for each in get_instructions(code):
        names = each.argval if isinstance(each.argval, tuple) else (each.argval,)
        if called in names and any(load in each.opname for load in ("LOAD_FAST", "LOAD_DEREF", "LOAD_CLOSURE")):
            where = place(code.co_filename, (each.positions and each.positions.lineno) or code.co_firstlineno)
            remedy = f"write draws=True where the {part.role} is made"
            raise ParameterError(f"{where}: {hook.__name__} reads {called}, which is 0 without draws=True: {remedy}")


def _takes(signature: inspect.Signature, given: tuple[str, ...]) -> bool:
    """Return whether a function can be called with these arguments, and has no further ones."""
    try:
        signature.bind(*given)
    except TypeError:
        return False
    return len(signature.parameters) <= len(given)


@contextmanager
def hook_errors(scheme: Scheme) -> Iterator[None]:
    """Turn what the compiler raises for a hook of `scheme` into one line.

    Raises
    ------
    ParameterError
        If a hook cannot be compiled, or reads a field that its record has not.
    """
    try:
        yield
    except KeyError as error:  # what Numba raises for a missing field of a record
        text = missing_field(str(error.args[0]), [scheme])
        if not text:
            raise
        raise ParameterError(text) from None
    except Exception as error:
        text = _refused(error, scheme)
        if not text:
            raise
        raise ParameterError(text) from None


def _refused(error: Exception, scheme: Scheme) -> str:
    """Return what the compiler has refused; empty for any other error."""
    from numba.core.errors import NumbaError, UnsupportedBytecodeError  # loaded already if the compiler has run

    from capsim.engines.compiled.refusals import RefusedError

    if isinstance(error, RefusedError):
        return f"{line(error.loc.filename, error.loc.line)}: {error.message}"
    return _not_compiled(error, hooks_in(scheme)) if isinstance(error, NumbaError | UnsupportedBytecodeError) else ""


def hooks_in(scheme: Scheme) -> list[Hook]:
    """Return all hooks of a scheme and the functions marked as inlined that they name."""
    return [hook for _, part in components(scheme) for hook in _hooks_of(part)]


def _hooks_of(part: Component) -> list[Hook]:
    hooks = [hook for name in hooks_of(part.role) if (hook := getattr(part, name))]
    for hook in hooks:  # grows on the way: an inlined function may name another
        hooks += [each.value for each in names_read(hook) if is_marked(each.value) and each.value not in hooks]
    return hooks


def _not_compiled(error: Exception, hooks: list[Hook]) -> str:
    place = getattr(error, "loc", None)
    if place is not None:
        return f"{line(place.filename, place.line)} cannot be compiled: {RULE}"
    # The compiler gave up before it knew of lines: name the hooks that are not those of the package.
    own = [hook.__name__ for hook in hooks if is_own(hook)]
    reason = str(error).splitlines()[0].partition(" Raised from")[0].rstrip(". ")
    return f"{' or '.join(own)} cannot be compiled: {reason}: {RULE}"


def missing_field(name: str, schemes: Iterable[Scheme]) -> str:
    """Return where a hook reads a field that its record has not, with what is near; empty if none does."""
    parts = [each for scheme in schemes for _, each in components(scheme)]
    for part, hook in [(each, hook) for each in parts for hook in _hooks_of(each)]:
        first, text = _source(hook)
        tree = ast.parse(text)
        for node in ast.walk(tree):
            if not isinstance(node, ast.Attribute) or node.attr != name:
                continue
            record = ast.unparse(node.value)
            fields, where_they_are = _fields_of(record.partition("[")[0], part, tree)
            if name not in fields:
                near = nearest(name, fields, most=3)
                hint = f" (did you mean {' or '.join(near)}?)" if near else ""
                if record == "params" and name.endswith("_s"):
                    hint = f" (hooks have times in whole picoseconds: {name.removesuffix('_s')}_ps)"
                where = line(inspect.getfile(hook), first + node.lineno - 1)
                return f"{where}: {record} has no field {name}{hint}; {where_they_are}"
    return ""


def _fields_of(record: str, part: Component, tree: ast.Module) -> tuple[Sequence[str], str]:
    """Return the fields of what a hook of a component calls `record`, and where they are listed."""
    if known := _FIELDS.get(record):
        return known, WHERE_FIELDS_ARE
    if record == "params":
        return (names := param_record(part.params).dtype.names or ()), f"it has {', '.join(names) or 'none'}"
    values = {ast.unparse(node.targets[0]): ast.unparse(node.value) for node in ast.walk(tree) if _assigns(node)}
    scope = values.get(record, record).partition("[")[0].removeprefix("own.")
    fields = part.memory.get(TABLES.get(scope, scope), [each for own in part.memory.values() for each in own])
    names = [each[0] for each in fields]
    return names, f"the {part.role} {part.name} declares {', '.join(names) or 'none'}"


def _assigns(node: ast.AST) -> TypeGuard[ast.Assign]:
    return isinstance(node, ast.Assign) and len(node.targets) == 1


def _source(hook: Hook) -> tuple[int, str]:
    """Return first line and text of a function; no text for one that is in no file."""
    try:
        lines, first = inspect.getsourcelines(hook)
    except OSError:
        return 0, ""
    return first, textwrap.dedent("".join(lines))
