"""Option types of the command line: quantities with units and lists of numbers, each parsed in one place."""

import math
from collections.abc import Callable, Sequence
from reprlib import repr as shortened
from typing import Annotated, Any

from cyclopts import Parameter, Token

from capsmodel.checks import ParameterError
from capsmodel.units import parse_rate_bps, parse_size_bytes, parse_time_s

Converter = Callable[[Any, Sequence[Token]], Any]
_BEYOND = 2**63  # seeds have 63 bits, and every count is smaller


def _one(parse: Callable[[str], Any]) -> Converter:
    return lambda _, tokens: parse(tokens[0].value)


def _number(text: str) -> float:
    try:
        return float(text)
    except ValueError:
        raise ParameterError(
            f"{shortened(text)} is not a number: write numbers separated by commas, as in 0.2,0.3"
        ) from None


def _whole(text: str) -> int:
    try:
        value = int(text)  # exactly, as a float beyond 2^53 would not be
    except ValueError:
        number = _number(text)  # as 1e6
        value = int(number) if math.isfinite(number) and number == math.floor(number) else _BEYOND
    if abs(value) >= _BEYOND:
        raise ParameterError(f"{shortened(text)} is not a whole number below 2^63: write one, as in 1000")
    return value


def _listed(value: Sequence[float]) -> str:
    return ",".join(f"{x:g}" for x in value)


def _many(parse: Callable[[str], Any]) -> Converter:
    def convert(_: Any, tokens: Sequence[Token]) -> tuple[Any, ...]:
        return tuple(parse(part) for token in tokens for part in token.value.split(",") if part.strip())

    return convert


def _shown(factor: float, unit: str) -> Callable[[float], str]:
    return lambda value: f"{value / factor:g}{unit}"


Rate = Annotated[float, Parameter(converter=_one(parse_rate_bps), n_tokens=1, show_default=_shown(1e9, "Gbps"))]
Time = Annotated[float, Parameter(converter=_one(parse_time_s), n_tokens=1, show_default=_shown(1e-6, "us"))]
Size = Annotated[int, Parameter(converter=_one(parse_size_bytes), n_tokens=1, show_default=_shown(1, "B"))]
Count = Annotated[int, Parameter(converter=_one(_whole), n_tokens=1)]
# For an option that may be left out.
MaybeCount = Annotated[int | None, Parameter(converter=_one(_whole), n_tokens=1)]
MaybeRate = Annotated[float | None, Parameter(converter=_one(parse_rate_bps), n_tokens=1)]
MaybeTime = Annotated[float | None, Parameter(converter=_one(parse_time_s), n_tokens=1)]
Numbers = Annotated[
    tuple[float, ...], Parameter(converter=_many(_number), n_tokens=1, negative=(), show_default=_listed)
]
Counts = Annotated[tuple[int, ...], Parameter(converter=_many(_whole), n_tokens=1, negative=(), show_default=_listed)]
Flag = Annotated[bool, Parameter(negative=())]
