"""Finds schemes: every module in ``protocols/schemes`` that has a ``SCHEME``, and what other packages register.

A package registers its own by an entry point of the group ``capsim.schemes`` that names a :class:`Scheme`.
"""

from functools import cache
from importlib import import_module
from importlib.metadata import entry_points
from pkgutil import iter_modules

from capsim.protocols import schemes as folder
from capsim.roles import Scheme
from capsmodel.checks import ParameterError

ENTRY_POINT_GROUP = "capsim.schemes"


@cache
def built_in() -> tuple[Scheme, ...]:
    """Return the schemes of this package."""
    return tuple(import_module(f"{folder.__name__}.{module.name}").SCHEME for module in iter_modules(folder.__path__))


@cache
def schemes() -> dict[str, Scheme]:
    """Return all schemes by name, in alphabetical order.

    Raises
    ------
    ParameterError
        If two have the same name or an entry point names something else.

    Examples
    --------
    >>> "ecmp" in schemes()
    True
    """
    found = [*built_in(), *(point.load() for point in entry_points(group=ENTRY_POINT_GROUP))]
    by_name: dict[str, Scheme] = {}
    for item in found:
        if not isinstance(item, Scheme):
            raise ParameterError(f"{item!r} is registered in {ENTRY_POINT_GROUP}, but it is no Scheme")
        if item.name in by_name:
            raise ParameterError(f"two schemes are called {item.name!r}: rename one")
        by_name[item.name] = item
    return dict(sorted(by_name.items()))


def scheme(name: str) -> Scheme:
    """Return the scheme called `name`.

    Raises
    ------
    ParameterError
        If there is none.

    Examples
    --------
    >>> scheme("ecmp").short.transport.name
    'newreno'
    """
    if name not in schemes():
        raise ParameterError(f"scheme = {name!r}, but there are {', '.join(schemes())}")
    return schemes()[name]
