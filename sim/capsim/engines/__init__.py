"""The two engines: a slow one to read (SimPy) and a fast one to use (Numba).

Both call the same protocol functions and give the same records for the same set-up, bit for bit. So the fast one can be
trusted as far as the slow one can be read.
"""

from collections.abc import Callable

from capsim.state import RawRecords, Setup
from capsmodel.checks import ParameterError

ENGINES = ("compiled", "reference")


def run(setup: Setup, *, engine: str = "compiled", progress: Callable[[int], None] | None = None) -> RawRecords:
    """Simulate.

    Parameters
    ----------
    setup : Setup
        All that the run depends on.
    engine : str
        ``"compiled"`` or ``"reference"``.
    progress : callable, optional
        Told the simulated time, in picoseconds, now and then.

    Returns
    -------
    RawRecords
        The same for both engines.

    Raises
    ------
    ParameterError
        If there is no such engine.
    """
    if engine == "compiled":
        from capsim.engines import compiled

        return compiled.run(setup, progress=progress)
    if engine == "reference":
        from capsim.engines import reference

        return reference.run(setup, progress=progress)
    raise ParameterError(f"engine = {engine!r}, but it must be one of {', '.join(ENGINES)}")
