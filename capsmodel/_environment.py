"""The environment of a result: interpreter, system, machine, and versions of libraries."""

import platform
from functools import cache
from importlib.metadata import version

_version = cache(version)  # it stands in a file, which takes a millisecond to read


def environment_of(libraries: tuple[str, ...]) -> dict[str, str]:
    """Return the versions of Python and of some libraries, the system and the processor architecture.

    Examples
    --------
    >>> sorted(environment_of(("numpy",)))
    ['machine', 'numpy', 'python', 'system']
    """
    return {
        "python": platform.python_version(),
        "system": platform.system(),
        "machine": platform.machine(),
        **{name: _version(name) for name in libraries},
    }
