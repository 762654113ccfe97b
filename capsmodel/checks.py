"""Argument checks shared by all closed forms: one clear line for each broken rule.

Every check takes the value as the user gave it, returns a float64 array that broadcasts, and raises
:class:`ParameterError` naming the argument, the first offending value, the rule and the remedy.
"""

from collections.abc import Iterable, Sequence
from typing import Literal

import numpy as np
import numpy.typing as npt
from numpy.typing import ArrayLike

FloatArray = npt.NDArray[np.float64]
IntArray = npt.NDArray[np.int64]
FloatOrArray = float | FloatArray
"""A float where all arguments are numbers, else an array: what the body of a closed form returns."""
FloatSequence = float | Sequence[float]
"""A number or a list of numbers: along one axis, so that a function that reduces the last axis returns a float."""
Rng = np.random.Generator | int | None
"""A generator, or a seed for a new one (SPEC 7)."""
Layer = Literal["core", "aggregation", "access"]
"""Layer of a fat-tree at which a flow turns down towards its receiver."""


class ParameterError(ValueError):
    """An argument breaks a rule; the text names the argument, its value, the rule and the remedy."""


def _reject(name: str, values: FloatArray, good: npt.NDArray[np.bool_], rule: str) -> None:
    if not np.all(good):
        first = float(values[~good].flat[0]) if values.ndim else float(values)
        raise ParameterError(f"{name} = {first:g}, but {rule}")


def as_floats(name: str, value: ArrayLike) -> FloatArray:
    """Return `value` as float64; reject what is not a number."""
    try:
        values = np.asarray(value, dtype=np.float64)
    except (TypeError, ValueError):
        raise ParameterError(f"{name} = {value!r}, but it must be a number or an array of numbers") from None
    _reject(name, values, ~np.isnan(values), "NaN is not a value: remove it or mask it first")
    return values


def probability(name: str, value: ArrayLike, *, one: bool = False) -> FloatArray:
    """Check a probability: [0, 1), or [0, 1] when `one` is allowed."""
    values = as_floats(name, value)
    if one:
        _reject(name, values, (values >= 0) & (values <= 1), "a probability lies in [0, 1]")
    else:
        _reject(name, values, (values >= 0) & (values < 1), "it must lie in [0, 1)")
    return values


def whole(name: str, value: ArrayLike, *, minimum: int = 0) -> FloatArray:
    """Check a count: a whole number of at least `minimum`, below 2**53 so that float64 holds it exactly."""
    values = as_floats(name, value)
    good = (values >= minimum) & (values == np.floor(values))
    _reject(name, values, good, f"it must be a whole number of at least {minimum}")
    _reject(name, values, values < 2.0**53, "a count is below 2**53, so that a float holds it exactly")
    return values


def positive(name: str, value: ArrayLike) -> FloatArray:
    """Check a finite quantity above zero."""
    values = as_floats(name, value)
    _reject(name, values, (values > 0) & np.isfinite(values), "it must be finite and above 0")
    return values


def non_negative(name: str, value: ArrayLike) -> FloatArray:
    """Check a finite quantity of at least zero."""
    values = as_floats(name, value)
    _reject(name, values, (values >= 0) & np.isfinite(values), "it must be finite and at least 0")
    return values


def choice(name: str, value: object, known: Iterable[str]) -> None:
    """Raise :class:`ParameterError` unless `value` is one of the words `known`."""
    words = tuple(known)
    require(value in words, f"{name} = {value!r}, but it must be one of {', '.join(words)}")


def require(condition: ArrayLike, text: str) -> None:
    """Raise :class:`ParameterError` with `text` unless `condition` holds everywhere (rules on several arguments)."""
    if not np.all(condition):
        raise ParameterError(text)


def plain(result: ArrayLike) -> FloatOrArray:
    """Return a float for a 0-d result and the array otherwise: scalar in, float out."""
    values = np.asarray(result, dtype=np.float64)
    return values.item() if values.ndim == 0 else values


def plain_count(result: ArrayLike) -> int | IntArray:
    """Return an int for a 0-d result that is a whole number and an int64 array otherwise."""
    values = np.asarray(result).astype(np.int64)
    return values.item() if values.ndim == 0 else values
