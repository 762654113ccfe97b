"""What is said when a hook cannot be compiled: its line and the rule, in place of the compiler's page."""

import ast
import inspect
import linecache
import textwrap
from collections.abc import Iterator
from contextlib import contextmanager
from difflib import get_close_matches
from pathlib import Path

from capsim import records
from capsim.catalogue import components
from capsim.hooks import Hook, hooks_of
from capsim.roles import Scheme
from capsmodel.checks import ParameterError

RULE = (
    "a hook uses its arguments, numbers, if, loops and functions marked capsim.inlined; no dictionaries, lists, texts, "
    "NumPy functions or exceptions"
)
WHERE_FIELDS_ARE = "capsim.records lists the fields of records, capsim.own those of own memory"

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


@contextmanager
def hook_errors(scheme: Scheme) -> Iterator[None]:
    """Turn what the compiler raises for a hook of `scheme` into one line.

    Raises
    ------
    ParameterError
        If a hook cannot be compiled, or reads a field that its record has not.
    """
    from numba.core.errors import NumbaError, UnsupportedBytecodeError

    try:
        yield
    except KeyError as error:  # what Numba raises for a missing field of a record
        told = _missing_field(str(error.args[0]), _hooks(scheme))
        if not told:
            raise
        raise ParameterError(told) from None
    except (NumbaError, UnsupportedBytecodeError) as error:
        raise ParameterError(_not_compiled(error, _hooks(scheme))) from None


def _hooks(scheme: Scheme) -> list[Hook]:
    """Return all hooks of a scheme and the functions marked as inlined that they name."""
    parts = [part for _, part in components(scheme)]
    found = [hook for part in parts for name in hooks_of(part.role) if (hook := getattr(part, name))]
    for hook in found:  # grows on the way: an inlined function may name another
        named = (hook.__globals__.get(name) for name in hook.__code__.co_names)
        found += [each for each in named if getattr(each, "capsim_inlined", False) and each not in found]
    return found


def _not_compiled(error: Exception, hooks: list[Hook]) -> str:
    place = getattr(error, "loc", None)
    if place is not None:
        return f"{_line(place.filename, place.line)} cannot be compiled: {RULE}"
    # The compiler gave up before it knew of lines: name the hooks that are not those of the package.
    own = [hook.__name__ for hook in hooks if not hook.__module__.startswith("capsim.protocols")]
    reason = str(error).splitlines()[0].partition(" Raised from")[0].rstrip(". ")
    return f"{' or '.join(own)} cannot be compiled: {reason}: {RULE}"


def _missing_field(name: str, hooks: list[Hook]) -> str:
    """Return where a hook reads a field that its record has not; empty if none does."""
    for hook in hooks:
        lines, first = inspect.getsourcelines(hook)
        for node in ast.walk(ast.parse(textwrap.dedent("".join(lines)))):
            if not isinstance(node, ast.Attribute) or node.attr != name:
                continue
            record = ast.unparse(node.value)
            fields = _FIELDS.get(record.partition("[")[0]) or ()
            if name not in fields:
                near = get_close_matches(name, fields)
                hint = f" (did you mean {' or '.join(near)}?)" if near else ""
                place = _line(inspect.getfile(hook), first + node.lineno - 1)
                return f"{place}: {record} has no field {name}{hint}; {WHERE_FIELDS_ARE}"
    return ""


def _line(file: str, number: int) -> str:
    return f"{Path(file).name}, line {number}: `{linecache.getline(file, number).strip()}`"
