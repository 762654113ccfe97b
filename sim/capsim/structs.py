"""Plain tables to checked structs, with one line for what breaks a rule: key, rule, value."""

import re
from typing import Any, TypeVar

import msgspec

from capsim.bounds import shortened
from capsmodel.checks import ParameterError

Struct = TypeVar("Struct", bound=msgspec.Struct)


def converted(plain: Any, kind: type[Struct], *, where: str) -> Struct:
    """Return the struct of a kind that plain tables describe.

    Parameters
    ----------
    plain : dict
        Tables, lists and numbers.
    kind : type
        Of the struct.
    where : str
        Begins the text of an error.

    Raises
    ------
    ParameterError
        One line: the key, the rule that it breaks, and the value.

    Examples
    --------
    >>> from capsim import Dumbbell
    >>> converted({"kind": "dumbbell", "hosts_per_side": 0}, Dumbbell, where="fabric")
    Traceback (most recent call last):
    capsmodel.checks.ParameterError: fabric: hosts_per_side: Expected `int` >= 1, but it is 0
    """
    try:
        return msgspec.convert(plain, kind)
    except msgspec.ValidationError as error:
        raise ParameterError(f"{where}: {_explained(str(error), plain)}") from None


def checked_struct(struct: Struct, *, where: str) -> Struct:
    """Return `struct`, which may have been made in Python, after the checks that reading it would make."""
    return converted(msgspec.to_builtins(struct), type(struct), where=where)


def _explained(text: str, plain: Any) -> str:
    """Return msgspec's text with the key in front: ``fabric.leaves: Expected `int` >= 1, but it is 0``."""
    rule, _, place = text.partition(" - at `")
    key = place.rstrip("`").removeprefix("$").removeprefix(".")
    if "unknown field" in rule:
        rule = f"unknown key {rule.rpartition('field ')[2]}: see the docstrings of capsim.scenario and capsim.fabric"
    elif ">=" in rule or "<=" in rule or "out of range" in rule:
        rule += _but_it_is(key, plain)
    return f"{key}: {rule}" if key else rule


def _but_it_is(key: str, plain: Any) -> str:
    """Return what stands at a place like ``fabric.links[0].rate_bps``, if the place can be found."""
    value = plain
    try:
        for step in re.findall(r"[^.\[\]]+", key):
            value = value[int(step)] if isinstance(value, list | tuple) else value[step]
    except (KeyError, ValueError, IndexError, TypeError):
        return ""
    return "" if isinstance(value, list | tuple | dict) else f", but it is {shortened(value)}"
