"""A task of a sweep: a measurement and its arguments, known by the hash of both."""

import hashlib
import json
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

from capsmodel.checks import require
from capsmodel.experiments.manifest import SCHEMA, canonical_json, json_object
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
    _document: str = field(repr=False, compare=False)

    def __init__(self, function: Callable[..., Any], /, **payload: Any):
        measured = measurement_of(function)
        # As JSON gives it back: what is hashed, stored and passed on is the same, and no later change can reach it.
        texts = {name: canonical_json(payload[name]) for name in sorted(payload)}
        passed = {name: json.loads(text) for name, text in texts.items()}
        vars(self).update(function=function, payload=passed, _document=_document(measured, texts))

    @property
    def measurement(self) -> Measurement:
        """Return name and revision of the function."""
        return measurement_of(self.function)

    def with_seed(self, seed: int) -> "Task":
        """Return the same task with another seed, whose other arguments are not checked and written as JSON again.

        Parameters
        ----------
        seed : int
            In place of that of this task.

        Raises
        ------
        ParameterError
            If this task has none.

        Examples
        --------
        >>> from capsmodel.experiments.measurement import measurement
        >>> draw = measurement("draw", revision=1)(lambda *, load, seed: {"drawn": load})
        >>> Task(draw, load=0.5, seed=1).with_seed(2).id == Task(draw, load=0.5, seed=2).id
        True
        """
        require("seed" in self.payload, f"a task of {self.measurement.name!r} has no seed: give it one first")
        other = object.__new__(type(self))
        vars(other).update(vars(self) | {"payload": {**self.payload, "seed": seed}})
        vars(other).pop("id", None)
        return other

    @cached_property
    def id(self) -> str:
        """Return the SHA-256 of what the result depends on, 64 hexadecimal digits.

        It is :func:`~capsmodel.experiments.manifest.content_id` of schema, measurement, revision and payload.
        """
        text = self._document.replace("\0", canonical_json(self.payload.get("seed")))
        return hashlib.sha256(text.encode()).hexdigest()


def _document(measurement: Measurement, texts: Mapping[str, str]) -> str:
    """Return what the id is the hash of, with a NUL in place of the seed: JSON text has none."""
    document = {
        "measurement": canonical_json(measurement.name),
        "revision": canonical_json(measurement.revision),
        "payload": json_object({name: "\0" if name == "seed" else text for name, text in texts.items()}),
    }
    return json_object({"schema": canonical_json(SCHEMA), "task": json_object(document)})
