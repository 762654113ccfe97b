"""Errors of hooks that cannot be called or compiled: their line and the rule, in place of the compiler's page."""

import ast
import inspect
import textwrap
from collections.abc import Iterator
from contextlib import contextmanager
from difflib import get_close_matches
from inspect import Parameter

from capsim import records
from capsim.base.bounds import shortened
from capsim.base.inlined import is_marked
from capsim.roles.components import Scheme, components
from capsim.roles.hooks import HOOKS, Hook, hooks_of, is_own
from capsim.run.hook_calls import RULE, check_calls, line, place_of
from capsmodel.checks import ParameterError, require
from capsmodel.code_identity import names_read

WHERE_FIELDS_ARE = "capsim.records lists the fields of records, capsim.roles.own those of own state"

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
                check_calls(hook)


def _check_arguments(name: str, hook: Hook) -> None:
    given, takes = HOOKS[name].arguments, inspect.signature(hook)
    by_position = [each for each in takes.parameters.values() if each.kind is not Parameter.KEYWORD_ONLY]
    called = f"{name} is called with {len(given)}: {', '.join(given)}"
    text = f"{place_of(hook)}: {hook.__name__} takes {len(by_position)} arguments, but {called}"
    require(_takes(takes, given), text)


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
        text = missing_field(str(error.args[0]), hooks_in(scheme))
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
    parts = [part for _, part in components(scheme)]
    hooks = [hook for part in parts for name in hooks_of(part.role) if (hook := getattr(part, name))]
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


def missing_field(name: str, hooks: list[Hook]) -> str:
    """Return where a hook reads a field that its record has not; empty if none does."""
    for hook in hooks:
        first, text = _source(hook)
        for node in ast.walk(ast.parse(text)):
            if not isinstance(node, ast.Attribute) or node.attr != name:
                continue
            record = ast.unparse(node.value)
            fields = _FIELDS.get(record.partition("[")[0]) or ()
            if name not in fields:
                near = get_close_matches(name, fields)
                hint = f" (did you mean {' or '.join(near)}?)" if near else ""
                if record == "params" and name.endswith("_s"):
                    hint = f" (hooks have times in whole picoseconds: {name.removesuffix('_s')}_ps)"
                where = line(inspect.getfile(hook), first + node.lineno - 1)
                return f"{where}: {record} has no field {name}{hint}; {WHERE_FIELDS_ARE}"
    return ""


def _source(hook: Hook) -> tuple[int, str]:
    """Return first line and text of a function; no text for one that is in no file."""
    try:
        lines, first = inspect.getsourcelines(hook)
    except OSError:
        return 0, ""
    return first, textwrap.dedent("".join(lines))
