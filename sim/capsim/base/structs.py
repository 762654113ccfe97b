"""Plain tables to checked structs, with one line for what breaks a rule: key, rule, value."""

import re
from collections.abc import Collection
from functools import cache
from types import UnionType
from typing import TYPE_CHECKING, Annotated, Any, Literal, TypeVar, get_args, get_origin, get_type_hints

import msgspec
import numpy as np

from capsim.base.bounds import shortened
from capsmodel.checks import ParameterError, did_you_mean, in_percent, require
from capsmodel.units import parser_of

if TYPE_CHECKING:
    from msgspec import StructMeta as _StructMeta
else:
    _StructMeta = type(msgspec.Struct)  # the oldest msgspec that is taken has no name for it

Struct = TypeVar("Struct", bound=msgspec.Struct)
# Kinds that only a scenario file has, by the kind that reading makes of them (capsim.scenario.scenario).
_IN_FILES = {"topology": "file", "list": "csv"}
LONGEST_QUANTITY = 40  # characters of a number with its unit
_NUMBERS = frozenset({int, float, bool})


class _NamesFields(_StructMeta):
    """Says which fields a struct has where it is called with others."""

    def __call__(cls, *values: Any, **fields: Any) -> Any:
        """Return a struct."""
        try:
            return super().__call__(*values, **fields)
        except TypeError:
            known = cls.__struct_fields__
            for name in fields.keys() - set(known):
                raise TypeError(f"{cls.__name__} has no {name}: {did_you_mean(name, known)}") from None
            if values:
                rule = f"values are given by name, as in {cls.__name__}({known[0]}=...)"
                raise TypeError(f"{cls.__name__}: {rule}; there are {', '.join(known)}") from None
            raise


class KeyedStruct(
    msgspec.Struct,
    metaclass=_NamesFields,
    frozen=True,
    forbid_unknown_fields=True,
    omit_defaults=True,
    repr_omit_defaults=True,
):
    """A part of a scenario: it knows its fields alone, and shows those that are not as they would be anyway.

    Examples
    --------
    >>> from capsim import Hosts, LeafSpine
    >>> LeafSpine(leaves=2, hosts_per_leaf=2, spines=2)
    LeafSpine(leaves=2, hosts_per_leaf=2, spines=2)
    >>> Hosts(encode_s=1e-6)
    Traceback (most recent call last):
    TypeError: Hosts has no encode_s: there are encode_s_per_packet, decode_s_per_packet, flow_jitter_s
    """


def plain_numbers(value: Any) -> Any:
    """Return a number or an array of NumPy as Python's numbers, in lists; another value as it is.

    Examples
    --------
    >>> plain_numbers(np.linspace(0.2, 0.6, 3)), plain_numbers(np.int64(7)), plain_numbers("rps")
    ([0.2, 0.4, 0.6], 7, 'rps')
    """
    return value.tolist() if isinstance(value, np.generic | np.ndarray) else value


def plain_tables(value: Any) -> Any:
    """Return structs, sequences and numbers, those of NumPy too, as tables, lists and Python's numbers.

    Raises
    ------
    ParameterError
        If something in it is none of these.

    Examples
    --------
    >>> plain_tables({"load": np.float64(0.5), "hosts": np.arange(3)})
    {'load': 0.5, 'hosts': [0, 1, 2]}
    """
    return msgspec.to_builtins(value, enc_hook=_of_numpy)


def _of_numpy(value: Any) -> Any:
    rule = "but it must be a number, a text, or a list or table of these"
    require(
        isinstance(value, np.generic | np.ndarray), f"{shortened(value)} has the type {type(value).__name__}, {rule}"
    )
    return plain_numbers(value)


def in_si(value: Any, key: str) -> Any:
    """Return tables with Python's numbers, also of quantities with units; columns that are carried along stay texts.

    Parameters
    ----------
    value : object
        Tables, lists, texts and numbers.
    key : str
        What `value` stands under: its end names the unit.

    Raises
    ------
    ParameterError
        If a text is no quantity of the unit that its key ends in.

    Examples
    --------
    >>> in_si({"rate_bps": "10Gbps", "links": [{"delay_s": "2us"}], "load": np.float64(0.5)}, "fabric")
    {'rate_bps': 10000000000.0, 'links': [{'delay_s': 2e-06}], 'load': 0.5}
    """
    value = plain_numbers(value)
    if isinstance(value, dict):
        return {name: inner if name == "columns" else in_si(inner, name) for name, inner in value.items()}
    if isinstance(value, list | tuple):
        return list(value) if _NUMBERS.issuperset(map(type, value)) else [in_si(inner, key) for inner in value]
    parse = parser_of(key) if isinstance(value, str) else None
    return value if parse is None else _parsed(key, value, parse)


def _parsed(key: str, text: str, parse: Any) -> float:
    require(len(text) <= LONGEST_QUANTITY, f"{key}: {shortened(text)} is no quantity: it has {len(text)} characters")
    try:
        number: float = parse(text)
    except ParameterError as error:
        raise ParameterError(f"{key}: {error}") from None
    except ArithmeticError:  # an exponent that not even a decimal number has
        raise ParameterError(f"{key}: {shortened(text)} is beyond every number: see its bounds") from None
    return number


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
        raise ParameterError(f"{where}: {_explained(str(error), plain, kind)}") from None


def checked_struct(struct: Struct, *, where: str) -> Struct:
    """Return `struct`, which may have been made in Python, after the checks that reading it would make."""
    return converted(plain_tables(struct), type(struct), where=where)


def without_defaults(struct: msgspec.Struct, *, only: Collection[str] | None = None) -> dict[str, Any]:
    """Return the plain tables of a struct, or those of some fields only, without what equals its default.

    ``omit_defaults`` of msgspec leaves out what *is* the default, the same object: a text or a number that was read or
    has come from another process would stay, and equal structs would have unequal tables.

    Examples
    --------
    >>> from capsim import Scenario, Dumbbell, Batch
    >>> traffic = (Batch(flow_bytes=1000, pairs="".join(["ran", "dom"])),)
    >>> without_defaults(Scenario(fabric=Dumbbell(hosts_per_side=1), traffic=traffic))["traffic"]
    [{'kind': 'batch', 'flow_bytes': 1000}]
    """
    kind = type(struct)
    tag = kind.__struct_config__.tag
    plain: dict[str, Any] = {} if tag is None else {str(kind.__struct_config__.tag_field): tag}
    for name, encoded, default in _fields(kind):
        value = plain_numbers(getattr(struct, name))
        if (only is None or name in only) and not (type(value) is type(default) and value == default):
            plain[encoded] = _plain(value, encoded)
    return plain


def _plain(value: Any, key: str) -> Any:
    if isinstance(value, msgspec.Struct):
        return without_defaults(value)
    if isinstance(value, tuple) and value and isinstance(value[0], msgspec.Struct):
        return [without_defaults(item) for item in value]
    try:
        return plain_tables(value)
    except ParameterError as error:
        raise ParameterError(f"{key}: {error}") from None


@cache
def _fields(kind: type[msgspec.Struct]) -> list[tuple[str, str, Any]]:
    """Return name, key and default of the fields of a kind of struct, which msgspec reads anew each time."""
    return [
        (one.name, one.encode_name, one.default if one.default_factory is msgspec.NODEFAULT else one.default_factory())
        for one in msgspec.structs.fields(kind)
    ]


def _explained(text: str, plain: Any, kind: type[msgspec.Struct]) -> str:
    """Return msgspec's text with the key in front: ``fabric.leaves: Expected `int` >= 1, but it is 0``."""
    rule, _, place = text.partition(" - at `")
    key = place.rstrip("`").removeprefix("$").removeprefix(".")
    if "unknown field" in rule:
        known, unknown = _keys(_kind_at(kind, key, plain)), rule.rpartition("field ")[2].strip("`")
        rule = f"unknown key `{unknown}`: there are {', '.join(known)}"
        if key and unknown in _keys(kind):
            rule += f"; {unknown} is a key of the file itself: write it above the first line in brackets"
    elif "Invalid value" in rule and key.endswith("kind"):
        kinds = _tagged(_kind_at(kind, key.removesuffix("kind").rstrip("."), plain))
        rule += f": there are {', '.join([*kinds, *(_IN_FILES[one] for one in kinds if one in _IN_FILES)])}"
    elif "Invalid enum value" in rule:
        word = rule.removeprefix("Invalid enum value ").strip("'")
        rule = f"{shortened(word)} is none of its values: {did_you_mean(word, _words(_kind_at(kind, key, plain)))}"
    elif ">=" in rule or "<=" in rule or "out of range" in rule:
        rule += _but_it_is(key, plain) + (_reason(kind, key, plain) if "<=" in rule else "")
    return f"{key}: {rule}" if key else rule


def _steps(key: str) -> list[str]:
    return re.findall(r"[^.\[\]]+", key)


def _kind_at(kind: Any, key: str, plain: Any) -> Any:
    """Return the type that stands at a place such as ``traffic[0]``; of several kinds the one that its table names."""
    for step in [*_steps(key), None]:
        kind = _without_wrapping(kind)
        if isinstance(kind, UnionType) and isinstance(plain, dict) and plain.get("kind") in _tagged(kind):
            kind = _tagged(kind)[plain["kind"]]
        if step is None:
            return kind
        if step.isdecimal() or step == "...":
            kind, plain = get_args(kind)[0], plain[int(step)] if step.isdecimal() else None
        else:
            kind, plain = _hints(kind)[step], plain.get(step)
    return kind


@cache
def _hints(kind: Any) -> dict[str, Any]:
    """Return the types of the fields of a struct by their keys."""
    hints = get_type_hints(kind, include_extras=True)
    return {one.encode_name: hints[one.name] for one in msgspec.structs.fields(kind)}


def _words(kind: Any) -> tuple[Any, ...]:
    """Return the values that a type of words has, or one of several types."""
    if get_origin(kind) is Literal:
        return tuple(word for word in get_args(kind) if word != "")  # which is the same as leaving it out
    return tuple(word for part in get_args(kind) for word in _words(part))


def _reason(kind: Any, key: str, plain: Any) -> str:
    """Return why the number at a place has its limits (:mod:`capsim.base.bounds`), if these say so."""
    place, _, last = key.rpartition(".")
    parent = _kind_at(kind, place, plain)
    hint = _hints(parent).get(last) if hasattr(parent, "__struct_fields__") else None
    parts = [one for part in (hint, *get_args(hint)) for one in getattr(part, "__metadata__", ())]
    extra = next((one.extra for one in parts if isinstance(one, msgspec.Meta) and one.extra), None)
    if extra is None:
        return ""
    value = _value_at(key, plain)
    is_number = extra["share"] and isinstance(value, int | float)
    return f": {extra['reason']}" + (in_percent(value) if is_number else "")


def _without_wrapping(kind: Any) -> Any:
    """Return a type without its annotations and without ``None``."""
    while get_origin(kind) is Annotated:
        kind = get_args(kind)[0]
    if isinstance(kind, UnionType):
        parts = [part for part in get_args(kind) if part is not type(None)]
        return _without_wrapping(parts[0]) if len(parts) == 1 else kind
    return kind


def _tagged(kind: Any) -> dict[str, Any]:
    """Return the structs of a union by the value of their key ``kind``."""
    parts = get_args(kind) if isinstance(kind, UnionType) else (kind,)
    return {str(part.__struct_config__.tag): part for part in parts if hasattr(part, "__struct_config__")}


def _keys(kind: Any) -> tuple[str, ...]:
    return tuple(kind.__struct_fields__)


def _but_it_is(key: str, plain: Any) -> str:
    """Return what stands at a place like ``fabric.links[0].rate_bps``, if the place can be found."""
    value = _value_at(key, plain)
    return "" if value is None or isinstance(value, list | tuple | dict) else f", but it is {shortened(value)}"


def _value_at(key: str, plain: Any) -> Any:
    """Return what stands at a place, None where it cannot be found."""
    value = plain
    try:
        for step in _steps(key):
            value = value[int(step)] if isinstance(value, list | tuple) else value[step]
    except (KeyError, ValueError, IndexError, TypeError):
        return None
    return value
