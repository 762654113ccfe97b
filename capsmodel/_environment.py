"""The environment of a result: interpreter, system, machine, and versions of libraries."""

import platform
from functools import cache
from importlib.metadata import version
from pathlib import Path

_version = cache(version)  # it stands in a file, which takes a millisecond to read


def processor() -> str:
    """Return the name of the processor as its system gives it, or else its architecture."""
    try:
        lines = Path("/proc/cpuinfo").read_text(encoding="utf-8", errors="replace").splitlines()
    except OSError:
        lines = []
    names = (line.partition(":")[2].strip() for line in lines if line.startswith("model name"))
    return next(names, "") or platform.processor() or platform.machine()


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
