"""Measurements of a sweep: each a function with a name and a revision, which stand for it in the id of every result.

The name outlives a move to another module, the revision says which of the function's versions gave a result::

    @measurement("port-waits", revision=1)
    def port_waits(*, load, seed): ...

Raise the revision when the function's rows change for the same arguments, be it by its own code or by what it calls.
"""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, TypeVar

from capsmodel.checks import ParameterError, require, whole

FunctionT = TypeVar("FunctionT", bound=Callable[..., Any])


@dataclass(frozen=True)
class Measurement:
    """Name and revision of a measuring function.

    Attributes
    ----------
    name : str
        Unique in a study.
    revision : int
        At least 1.
    """

    name: str
    revision: int


def measurement(name: str, *, revision: int) -> Callable[[FunctionT], FunctionT]:
    """Give a function the name and the revision under which its results are kept.

    Parameters
    ----------
    name : str
        Unique in a study, such as ``"port-waits"``.
    revision : int
        1 at first; one more whenever the same arguments give other rows.

    Returns
    -------
    callable
        A decorator that returns the function itself. The function returns a mapping (one row) or a DataFrame, whose
        columns name their units.

    Raises
    ------
    ParameterError
        If `name` is empty or `revision` is no whole number of at least 1.

    Examples
    --------
    >>> @measurement("double", revision=1)
    ... def double(*, number):
    ...     return {"double": 2 * number}
    >>> measurement_of(double)
    Measurement(name='double', revision=1)
    """
    require(bool(name), "name is empty, but results are kept under it: give one")
    known = Measurement(name, int(whole("revision", revision, minimum=1)))

    def give(function: FunctionT) -> FunctionT:
        function.__dict__["measurement"] = known
        return function

    return give


def measurement_of(function: Callable[..., Any]) -> Measurement:
    """Return name and revision of a measuring function.

    Raises
    ------
    ParameterError
        If it has none.
    """
    registered = getattr(function, "measurement", None)
    if not isinstance(registered, Measurement):
        name = getattr(function, "__name__", repr(function))
        advice = f'put @measurement("{name.replace("_", "-")}", revision=1) before its definition'
        raise ParameterError(f"{name} has no name and revision to keep its results under: {advice}")
    return registered
