"""Option types of the command line: quantities with units and lists of numbers, each parsed in one place."""

import math
import re
from collections.abc import Callable, Iterable, Sequence
from fractions import Fraction
from functools import partial
from reprlib import repr as shortened
from typing import Annotated, Any, TypeVar

from cyclopts import Parameter, Token

from capsmodel.checks import ParameterError, require
from capsmodel.experiments.number_texts import quantity
from capsmodel.text_tables import toml_tables
from capsmodel.units import parse_rate_bps, parse_size_bytes, parse_time_s, parser_of

_T = TypeVar("_T")
Converter = Callable[[Any, Sequence[Token]], Any]
_SHARD = re.compile(r"([0-9]{1,6})/([0-9]{1,6})")
_LONG_UNITS = {"min": 60.0, "h": 3600.0}
_BEYOND = 2**63  # seeds have 63 bits, and every count is smaller


def _one(parse: Callable[[str], Any]) -> Converter:
    return lambda _, tokens: parse(tokens[0].value)


def parse_number(text: str) -> float:
    """Return a number, which may be a fraction such as 5/16."""
    try:
        return float(Fraction(text)) if "/" in text else float(text)
    except (ValueError, ArithmeticError):
        rule = "write a number or a fraction, as in 0.2 or 5/16"
        raise ParameterError(f"{shortened(text)} is not a number: {rule}") from None


def parse_share(text: str, *, name: str = "probability", most: float = 1.0) -> float:
    """Return a share of a whole, such as a probability; refuse what is meant in percent, and say what it is.

    Examples
    --------
    >>> parse_share("5/16")
    0.3125
    >>> parse_share("20")
    Traceback (most recent call last):
    capsmodel.checks.ParameterError: 20 is no probability: 20% is 0.2
    """
    percent = text.strip().removesuffix("%")
    value = parse_number(percent)
    meant = percent != text.strip() or value > most
    require(not meant, f"{shortened(text)[1:-1]} is no {name}: {value:g}% is {value / 100:g}")
    return value


def _float(text: str) -> float:
    try:
        return float(text)
    except ValueError:
        return math.nan


def _whole(text: str) -> int:
    try:
        value = int(text)  # exactly, as a float beyond 2^53 would not be
    except ValueError:
        number = _float(text)  # as 1e6
        value = int(number) if math.isfinite(number) and number == math.floor(number) else _BEYOND
    if abs(value) >= _BEYOND:
        raise ParameterError(f"{shortened(text)} is not a whole number below 2^63: write one, as in 1000")
    return value


def _flows(text: str) -> int | str:
    """Return a number of flows, or the text of the half-width that it is to give."""
    if not text.endswith("%"):
        return _whole(text)
    return text


def parse_shard(text: str) -> tuple[int, int]:
    """Return the share I of N that ``I/N`` names."""
    match = _SHARD.fullmatch(text)
    if not match:
        raise ParameterError(f"--shard {shortened(text)}: write I/N, as in --shard 1/4 for the first of four")
    part, parts = int(match[1]), int(match[2])
    if parts == 0:
        raise ParameterError(f"--shard {text}: there is no share of none, write I/N with N of at least 1, as in 1/4")
    if not 1 <= part <= parts:
        raise ParameterError(f"--shard {text}, but it must be 1/{parts} to {parts}/{parts}")
    return part, parts


def parse_duration_s(text: str) -> float:
    """Return how long something may take, in seconds: a number of h or min, or a time as elsewhere."""
    known = next((one for one in _LONG_UNITS if text.endswith(one)), None)
    try:
        duration_s = _LONG_UNITS[known] * parse_number(text.removesuffix(known)) if known else parse_time_s(text)
    except ParameterError:  # which names the units of short times only
        duration_s = math.nan
    rule = "write a number from 0 on with h, min or s, as in 2h"
    require(math.isfinite(duration_s) and duration_s >= 0, f"{shortened(text)} is no length of time: {rule}")
    return duration_s


def path_pair(paths: int | None, blocked_paths: _T | None) -> tuple[int, _T] | None:
    """Return ``--paths`` and ``--blocked-paths``, or None if neither is given."""
    if paths is None or blocked_paths is None:
        rule = "give both; equal paths that lose a share of packets are a --path-file with the columns loss and count"
        require(paths is blocked_paths, f"--paths and --blocked-paths go together: {rule}")
        return None
    require(paths >= 1, f"--paths = {paths}, but it must be at least 1")
    return paths, blocked_paths


def _listed(value: Sequence[float]) -> str:
    return ",".join(f"{x:g}" for x in value)


def _many(parse: Callable[[str], Any]) -> Converter:
    def convert(_: Any, tokens: Sequence[Token]) -> tuple[Any, ...]:
        try:
            values = tuple(parse(part) for token in tokens for part in token.value.split(",") if part.strip())
            require(len(values) > 0, f"{shortened(tokens[0].value)} holds no number: give at least one")
            return values
        except ParameterError as error:
            raise ParameterError(f"{error}; separate several by commas") from None

    return convert


def _shown(name: str) -> Callable[[Any], str]:
    """Return what shows a default of the quantity called `name`."""
    return lambda value: quantity(name, value)


def _quantity(parse: Callable[[str], Any], metavar: str, shown: Callable[[Any], str] | None = None) -> Parameter:
    return Parameter(converter=_one(parse), n_tokens=1, metavar=metavar, show_default=shown, allow_leading_hyphen=True)


Rate = Annotated[float, _quantity(parse_rate_bps, "RATE", _shown("rate_bps"))]
Time = Annotated[float, _quantity(parse_time_s, "TIME", _shown("time_s"))]
Size = Annotated[int, _quantity(parse_size_bytes, "SIZE", _shown("size_bytes"))]
Number = Annotated[float, _quantity(parse_number, "X")]
Probability = Annotated[float, _quantity(parse_share, "X")]
# It may be the first argument, so that an unknown option must not be taken for its value; -1 is a number all the same.
_COUNT = Parameter(converter=_one(_whole), n_tokens=1, metavar="N")
Count = Annotated[int, _COUNT]
# For an option that may be left out.
MaybeRate = Annotated[float | None, _quantity(parse_rate_bps, "RATE")]
MaybeTime = Annotated[float | None, _quantity(parse_time_s, "TIME")]
MaybeProbability = Annotated[float | None, _quantity(parse_share, "X")]
MaybeLoad = Annotated[float | None, _quantity(partial(parse_share, name="load", most=math.inf), "X")]
MaybeCount = Annotated[int | None, _COUNT]
MaybeFlows = Annotated[int | str | None, _quantity(_flows, "N")]
MaybeDuration = Annotated[float | None, _quantity(parse_duration_s, "TIME")]
_SEVERAL = Parameter(n_tokens=1, negative=(), show_default=_listed)
Probabilities = Annotated[tuple[float, ...], _SEVERAL, Parameter(converter=_many(parse_share), metavar="X,X,...")]
MaybeProbabilities = Annotated[Probabilities | None, Parameter(show_default=False)]
Loads = Annotated[
    tuple[float, ...], _SEVERAL, Parameter(converter=_many(partial(parse_share, name="load")), metavar="X,X,...")
]
Counts = Annotated[tuple[int, ...], _SEVERAL, Parameter(converter=_many(_whole), metavar="N,N,...")]
MaybeCounts = Annotated[Counts, Parameter(show_default=False)]
# Given once or several times, each with one value.
Texts = Annotated[tuple[str, ...], Parameter(negative=(), consume_multiple=False, metavar="TEXT", show_default=False)]
Flag = Annotated[bool, Parameter(negative=(), show_default=False)]


_BETWEEN = re.compile(r"(?<![0-9.][eE])-")  # two times; a minus behind an exponent's e is part of a number
_FLOW = re.compile(r"flow([0-9]{1,9})")
_FAILURE = "leaf0-spine1@10ms, or leaf0-spine1@10ms-30ms if the link returns"


def value_of(text: str) -> Any:
    """Return a number, truth value or list as TOML writes it; anything else is text, as are quantities with units.

    Examples
    --------
    >>> value_of("0.5"), value_of("true"), value_of("10ms"), value_of("optimal")
    (0.5, True, '10ms', 'optimal')
    """
    try:
        return toml_tables(f"value = {text}", name="value")["value"]
    except ParameterError:
        return text


def settings_of(texts: Iterable[str]) -> dict[str, Any]:
    """Return name and value of each KEY=VALUE; a quantity is typed with its unit (:mod:`capsmodel.units`)."""
    pairs = [text.partition("=") for text in texts]
    bad = [name for name, sign, value in pairs if not (name.strip() and sign and value.strip())]
    require(not bad, f"--set {bad[0] if bad else ''}: write KEY=VALUE, as in --set transport.min_rto_s=10ms")
    return {name.strip(): _setting(name.strip(), value.strip()) for name, _, value in pairs}


def _setting(name: str, text: str) -> Any:
    value, parse = value_of(text), parser_of(name)
    if parse is not None and isinstance(value, int | float) and not isinstance(value, bool):
        try:
            parse(text)  # which refuses a number without a unit
        except ParameterError as error:
            raise ParameterError(f"--set {name}: {error}") from None
    return value


def failure(text: str) -> dict[str, Any]:
    """Return the change of a link that A-B@DOWN or A-B@DOWN-UP describes.

    Examples
    --------
    >>> failure("leaf0-spine1@10ms-30ms")
    {'between': ('leaf0', 'spine1'), 'down_s': 0.01, 'up_s': 0.03}
    """
    link, at, times = text.partition("@")
    down, up = (*_BETWEEN.split(times, maxsplit=1), "")[:2]
    require(bool(at and down), f"--fail {text}: write A-B@TIME, as in {_FAILURE}")
    change: dict[str, Any] = {"between": ends_of(link, f"--fail {text}"), "down_s": parse_time_s(down)}
    return change | ({"up_s": parse_time_s(up)} if up else {})


def ends_of(link: str, where: str) -> tuple[str, str]:
    """Return the two nodes of A-B or A>B; a name that has a minus needs the arrow."""
    ends = link.split(">" if ">" in link else "-")
    require(len(ends) == 2 and all(ends), f"{where}: {link!r} is no link: write A-B or A>B, as in leaf0-spine1")
    return ends[0], ends[1]


def probed(names: Iterable[str], fields: Iterable[str], period_s: float) -> dict[str, Any]:
    """Return the table ``probes`` of a scenario for names such as leaf0-spine1 and flow3, and names of fields."""
    ports, flows = [], []
    for name in names:
        match = _FLOW.fullmatch(name)
        if match:
            flows.append(int(match[1]))
        else:
            ports.append(">".join(ends_of(name, f"--probe {name}")))
    return {"period_s": period_s, "fields": list(fields), "ports": ports, "flows": flows}
