"""The two engines: a slow one to read (SimPy) and a fast one to use (Numba).

Both call the same protocol functions and give the same records for the same set-up, bit for bit. So the fast one can be
trusted as far as the slow one can be read.

**One source, bound twice.** What hosts and switches do (:mod:`capsim.engines.hosts`) and what protocols decide is
written once. The functions call names such as ``sub_at``, ``enqueue`` and ``arm`` with ``w``, the whole state of a run.

- In the reference engine a name means what :mod:`capsim.engines.hosts.primitives` says: ``sub_at(w.subs, s)`` is the
  object of subflow ``s``, ``react(w, s, ...)`` looks up what its hook is given and calls it. These are the functions as
  they stand in their files; a debugger steps through them.
- In the compiled engine :mod:`capsim.engines.compiled.bind` takes the code objects of the same functions and makes new
  functions of them whose globals are another dictionary: ``sub_at`` reads the record at an address
  (:mod:`capsim.engines.compiled.pointers`), ``enqueue`` is that of :mod:`capsim.engines.compiled.links`. Numba compiles
  these as parts of one event loop.

So no line of a protocol stands twice. The tests run every scheme on both and compare all tables. What that checks is
what each engine has for itself: queues and ports, links that lose and fail, the order of events, timers that are armed,
pools, how records are found and hooks are called. What both share, a comparison cannot check; other tests do:

- `hosts` and the protocols themselves (beside scripted packets, second implementations, ns-3 and htsim);
- `initial_state` and `own_memory`, from which a run starts, and what is sampled (`probes`);
- kinds of event and the hash that orders equal times (`events`, :mod:`capsim.base.randomness`);
- the chance of a loss (`losses`), sums and histograms of queues (`hosts.queue_counts`), faults, payload.

=================== =============================================================
Module              Holds
=================== =============================================================
`state`             what a run depends on, and the records of a finished one
`initial_state`     from a set-up to the records that an engine starts from
`own_memory`        the own state of all components, and their parameters
`events`            the kinds of event and their total order
`faults`            what ends a run in an error
`probes`            what can be sampled, and where it lies
`payload`, `asking` runs whose packets carry the bytes of a real code
`losses`            the chance of a loss on a link
`reference`         the SimPy engine, to be read from top to bottom
`reference_ports`   its events and ports
`hosts`             what both engines run
`compiled`          the engine compiled by Numba
=================== =============================================================
"""

from collections.abc import Callable

from capsim.engines.state import RawRecords, Setup
from capsmodel.checks import choice

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
        Called with the simulated time, in picoseconds, now and then.

    Returns
    -------
    RawRecords
        The same for both engines.

    Raises
    ------
    ParameterError
        If there is no such engine.
    """
    choice("engine", engine, ENGINES)
    if engine == "compiled":
        from capsim.engines.compiled.engine import run as run_compiled

        return run_compiled(setup, progress=progress)
    from capsim.engines.reference import run as run_reference

    return run_reference(setup, progress=progress)
