"""Finds schemes: every module in ``protocols/schemes`` that has a ``SCHEME``, and what other packages register.

A package registers its own by an entry point of the group ``capsim.schemes`` that names a :class:`Scheme`.
"""

from collections.abc import Sequence
from functools import cache, partial
from importlib import import_module
from importlib.metadata import EntryPoint, entry_points
from pkgutil import iter_modules

from capsim.base.bounds import shortened
from capsim.protocols import schemes as folder
from capsim.protocols.combined import combined, is_combined
from capsim.protocols.nics.round_robin import ROUND_ROBIN
from capsim.roles.components import Nic, Scheme
from capsim.roles.scheme_files import is_reference, load_scheme
from capsmodel.checks import ParameterError, nearest, require

ENTRY_POINT_GROUP = "capsim.schemes"
ALL = "all"

NICS = {each.name: each for each in (Nic(name="fifo"), ROUND_ROBIN)}  # what a scenario names


@cache
def built_in_names() -> tuple[str, ...]:
    """Return the names of the schemes of this package: those of their modules."""
    return tuple(module.name for module in iter_modules(folder.__path__))


def _of_package(name: str) -> Scheme:
    """Return a scheme of this package; the others, which take a tenth of a second together, are not imported."""
    scheme: Scheme = import_module(f"{folder.__name__}.{name}").SCHEME
    return scheme


def built_in() -> tuple[Scheme, ...]:
    """Return the schemes of this package."""
    return tuple(map(_of_package, built_in_names()))


@cache
def schemes() -> dict[str, Scheme]:
    """Return all schemes by name, in alphabetical order.

    Raises
    ------
    ParameterError
        If two have the same name, or an entry point names something else or cannot be loaded.

    Examples
    --------
    >>> "ecmp" in schemes()
    True
    """
    by_name: dict[str, Scheme] = {}
    for item in (*built_in(), *map(_loaded, entry_points(group=ENTRY_POINT_GROUP))):
        if item.name in by_name:
            raise ParameterError(f"two schemes are called {item.name!r}: rename one")
        by_name[item.name] = item
    return dict(sorted(by_name.items()))


def _loaded(point: EntryPoint) -> Scheme:
    """Return what a package registers; whatever its code raises is reported with the name of the entry point."""
    place = f"{point.name} = {point.value!r}, registered in {ENTRY_POINT_GROUP},"
    try:
        registered = point.load()
    except (Exception, SystemExit) as error:  # whatever the other package raises is reported in one line
        text = f"{place} cannot be loaded, {type(error).__name__}: {error}: repair or remove the package"
        raise ParameterError(text) from error
    if not isinstance(registered, Scheme):
        raise ParameterError(f"{place} is no Scheme")
    return registered


def scheme(name: str, *, key: str = "scheme") -> Scheme:
    """Return the scheme called `name`; those of this package whatever other packages register.

    Parameters
    ----------
    name : str
        One of :func:`schemes`, several of them put together, ``rps+dctcp`` (:mod:`capsim.protocols.combined`), or a
        file and the name of a scheme in it (:mod:`capsim.roles.scheme_files`).
    key : str
        What named it, for the text of an error.

    Raises
    ------
    ParameterError
        If there is none, the file has none, or several do not go together; the text names the nearest one.

    Examples
    --------
    >>> scheme("ecmp").short.transport.name
    'newreno'
    >>> scheme("rps+dctcp").balancer.name
    'rps'
    """
    if name in built_in_names():
        return _of_package(name)
    if is_reference(name):
        return load_scheme(name, key=key)
    if is_combined(name) and name not in schemes():
        parts = {part.strip() for part in name.split("+")} & NICS.keys()
        require(not parts, f"{key} = {shortened(name)}: {', '.join(parts)} is a NIC: set it by --nic, or the key nic")
        return combined(name, partial(scheme, key=key), key=key, known=tuple(schemes().values()))
    if name not in schemes():
        near = nearest(name, schemes())
        hint = f"did you mean {near[0]}?" if near else "no scheme has this name;"
        raise ParameterError(f"{key} = {shortened(name)}: {hint} capsmodel schemes lists all")
    return schemes()[name]


def named_schemes(names: Sequence[str]) -> tuple[str, ...]:
    """Return names of schemes with those that the word ``all`` stands for in its place, except what is named already.

    Those are all whose transports retransmit what is lost (:class:`capsim.roles.components.Transport`), so that every
    flow ends.

    Examples
    --------
    >>> named_schemes(["ecmp", "all"])[:2]
    ('ecmp', 'ag')
    >>> "cbr" in named_schemes(["all"])
    False
    """
    if ALL not in names:
        return tuple(names)
    reliable = [name for name, item in schemes().items() if all(each.transport.reliable for each in item.stacks)]
    return tuple(dict.fromkeys(one for name in names for one in (reliable if name == ALL else [name])))
