"""Printed numbers beside ours: which function computes each, and the verdict by the relation that the index names."""

from collections.abc import Callable
from typing import TypeVar

import numpy as np

from capsmodel.checks import FloatArray
from capsmodel.papers.index import PrintedNumber
from capsmodel.papers.verdicts import ROUNDING, Values, Verdict

NumberFunction = Callable[[], Values | float | bool]

ComputedT = TypeVar("ComputedT", bound=NumberFunction)

_VALUES: dict[str, NumberFunction] = {}


def computes(number_id: str) -> Callable[[ComputedT], ComputedT]:
    """Register a function as the one that computes a printed number."""

    def register(function: ComputedT) -> ComputedT:
        _VALUES[number_id] = function
        return function

    return register


def registered_numbers() -> frozenset[str]:
    """Return the ids of all numbers that have a computing function."""
    return frozenset(_VALUES)


def judge_number(number: PrintedNumber) -> Verdict:
    """Return our value for a printed number and the verdict on it."""
    computed = _VALUES[number.id]()
    if isinstance(computed, bool):
        return Verdict(number.id, (float(computed),), "reproduced" if computed else "refuted", number.note)
    ours = np.atleast_1d(np.asarray(computed, dtype=float))
    value = tuple(float(x) for x in ours)
    if number.relation == "none":
        return Verdict(number.id, value, "not testable", number.note or "the paper prints no value for it")
    met = _meets(number, ours, np.asarray(number.printed, dtype=float))
    return Verdict(number.id, value, "reproduced" if met else "differs in size", number.note)


def _meets(number: PrintedNumber, ours: FloatArray, printed: FloatArray) -> bool:
    """Return whether every value lies where its relation puts it, up to the reading error."""
    low, high = (printed[0], printed[-1]) if number.relation == "within" else (printed, printed)
    error = number.reading_error * (1 + ROUNDING)
    above, below = ours >= low - error - ROUNDING * np.abs(low), ours <= high + error + ROUNDING * np.abs(high)
    met = {"at_most": below, "at_least": above}.get(number.relation, above & below)
    return bool(np.all(met))
