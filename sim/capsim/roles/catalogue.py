"""The parts of every scheme: its components with their parameters, defaults, bounds and meanings.

Everything is read from the components themselves, the meanings from the docstrings of their parameter classes, so that
the command line and the documentation list what the code has.
"""

import inspect
import re
from collections.abc import Iterator
from dataclasses import dataclass, fields
from enum import IntEnum
from pkgutil import resolve_name
from typing import Any

from capsim.base.bounds import NUMBER, Bound, param_bounds
from capsim.roles.components import Component, Scheme, components, shown_value

_ENTRY = re.compile(r"([a-z]\w*(?:, [a-z]\w*)*)(?: : \S.*)?")
_AS_IN = re.compile(r"As in :class:`~?([\w.]+)`\W*")


@dataclass(frozen=True)
class Parameter:
    """A parameter of a component.

    Attributes
    ----------
    role, component, name : str
        ``transport``, ``newreno``, ``min_rto_s``; :mod:`capsim.scenario.settings` calls it ``transport.min_rto_s``.
    flows : str
        Whose component it is: ``short``, ``long``, or an empty text for that of all flows.
    default : bool, int, float or str
        What the scheme has.
    choices : tuple of str
        The words that are allowed, for a parameter that is a word.
    bound : Bound, optional
        The numbers that are allowed, for a quantity with a bound of its own.
    meaning : str
        From the docstring; parameters that are documented together share it.
    """

    role: str
    component: str
    name: str
    flows: str
    default: bool | int | float | str
    choices: tuple[str, ...]
    bound: Bound | None
    meaning: str

    @property
    def setting(self) -> str:
        """Return the name under which ``--set`` and studies change it."""
        return f"{self.role}.{self.name}"

    @property
    def shown(self) -> str:
        """Return the default as an option takes it."""
        return shown_value(self.name, self.default)


def parameters(scheme: Scheme) -> list[Parameter]:
    """Return every parameter of a scheme, component by component.

    Examples
    --------
    >>> from capsim.protocols.registry import scheme
    >>> next(item for item in parameters(scheme("ecmp")) if item.setting == "transport.min_rto_s").default
    0.2
    """
    return [item for flows, part in components(scheme) for item in _of_component(part, flows=flows)]


def _of_component(component: Component, *, flows: str) -> Iterator[Parameter]:
    params = component.params
    bounds, meanings = param_bounds(type(params)), meanings_of(type(params))
    for field in fields(params):
        if field.name not in component.settable:
            continue
        value = getattr(params, field.name)
        words = [member.name.lower() for member in type(value)] if isinstance(value, IntEnum) else []
        quantity = isinstance(value, int | float) and not isinstance(value, bool) and not words
        bound = bounds[field.name] if quantity and bounds[field.name] is not NUMBER else None
        default = value.name.lower() if isinstance(value, IntEnum) else value
        text = meanings.get(field.name) or field.name.replace("_", " ")
        yield Parameter(component.role, component.name, field.name, flows, default, tuple(words), bound, text)


def meanings_of(kind: type) -> dict[str, str]:
    """Return what the docstring of a class and of its bases says of each parameter, in one paragraph.

    An entry that begins with "As in" and the full name of a class adds to what is said there.

    Examples
    --------
    >>> from capsim.protocols.queues.ecn import EcnParams
    >>> sorted(meanings_of(EcnParams))
    ['at_nics', 'threshold_packets']
    """
    meanings: dict[str, str] = {}
    for base in reversed(kind.__mro__):
        for name, text in _section(inspect.cleandoc(base.__dict__.get("__doc__") or "")).items():
            meanings[name] = _with_reference(name, text)
    return meanings


def _with_reference(name: str, text: str) -> str:
    """Return what is said of a parameter, with the text of the class that it refers to."""
    reference = _AS_IN.match(text)
    if not reference:
        return text
    more = text[reference.end() :]
    known: Any = resolve_name(reference[1])
    return f"{meanings_of(known)[name]} {more[:1].upper()}{more[1:]}".strip()


def _section(doc: str) -> dict[str, str]:
    """Return the entries of the sections ``Parameters`` and ``Attributes`` of a numpydoc docstring."""
    meanings: dict[str, str] = {}
    names: list[str] = []
    lines = doc.splitlines()
    heads = {i for i, line in enumerate(lines) if i and set(line) == {"-"} and len(line) == len(lines[i - 1])}
    inside = False
    for i, line in enumerate(lines):
        if i + 1 in heads:
            inside = line in ("Parameters", "Attributes")
        elif inside and i not in heads:
            entry = _ENTRY.fullmatch(line)  # its text is indented
            names = entry[1].split(", ") if entry else names
            for name in names if line.startswith(" ") else ():
                meanings[name] = f"{meanings.get(name, '')} {line.strip()}".strip()
    return meanings
