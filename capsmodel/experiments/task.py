"""A task of a sweep: a measurement and its arguments, known by the hash of both."""

import json
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Any

from capsmodel.experiments.manifest import SCHEMA, canonical_json, content_id
from capsmodel.experiments.measurement import Measurement, measurement_of


@dataclass(frozen=True, init=False)
class Task:
    """One independent piece of work: ``Task(port_waits, load=0.5, seed=1)``.

    Attributes
    ----------
    function : callable
        A measurement (:func:`~capsmodel.experiments.measurement.measurement`) of a module, so that other processes find
        it; it returns a mapping (one row) or a DataFrame, whose columns name their units.
    payload : mapping
        Its keyword arguments: whatever JSON holds, dataclasses included (they arrive as dictionaries). The seed is one.

    Raises
    ------
    ParameterError
        If the function is no measurement, or an argument has no JSON form.

    Examples
    --------
    >>> from capsmodel.experiments.measurement import measurement
    >>> double = measurement("double", revision=1)(lambda *, number: {"double": 2 * number})
    >>> Task(double, number=3).payload
    {'number': 3}
    """

    function: Callable[..., Any]
    payload: Mapping[str, Any]

    def __init__(self, function: Callable[..., Any], /, **payload: Any):
        measurement_of(function)
        object.__setattr__(self, "function", function)
        # As JSON gives it back: what is hashed, stored and passed on is the same, and no later change can reach it.
        object.__setattr__(self, "payload", json.loads(canonical_json(payload)))

    @property
    def measurement(self) -> Measurement:
        """Return name and revision of the function."""
        return measurement_of(self.function)

    @cached_property
    def id(self) -> str:
        """Return the SHA-256 of what the result depends on, 64 hexadecimal digits."""
        asked = {"measurement": self.measurement.name, "revision": self.measurement.revision, "payload": self.payload}
        return content_id({"schema": SCHEMA, "task": asked})
