"""The compiled engine: one event loop for all schemes, compiled by Numba and kept on disk for the next process.

This file runs the loop, piece by piece; the package's docstring says what the other modules hold.
"""

import time
from collections.abc import Callable

from capsim.engines.compiled.functions import loaded_hooks, loop_function
from capsim.engines.compiled.layout import AGENDA_PORTS, ASK, DONE, FAULT, PAUSED, REFUSED
from capsim.engines.compiled.machine_code import call
from capsim.engines.compiled.world import World
from capsim.engines.faults import error_of
from capsim.engines.initial_state import initial_state
from capsim.engines.own_memory import POOLS
from capsim.engines.state import RawRecords, Setup, Snapshot, delivered_segments
from capsim.roles.components import Scheme
from capsim.roles.hooks import HOST_ROLES, NETWORK_ROLES
from capsmodel._interrupts import interruptible
from capsmodel.checks import ParameterError

CHUNK_S = 0.25  # between chunks Python sees Ctrl-C


class Chunk:
    """How many events the loop takes before it returns to Python: as many as last `CHUNK_S`, whatever one event costs.

    Chunks decide when a run can be interrupted and tells its progress, never what it does.
    """

    def __init__(self) -> None:
        self.events, self.begun_s = 1000, 0.0

    def begin(self) -> int:
        """Return the number of events of the chunk that begins."""
        self.begun_s = time.perf_counter()
        return self.events

    def adapt(self) -> None:
        """Set the number of events of the next chunk by how long this one took; at most twice as many."""
        took_s = time.perf_counter() - self.begun_s
        self.events = max(1, int(self.events * min(2.0, CHUNK_S / max(took_s, 1e-9))))


def run(setup: Setup, *, progress: Callable[[int], None] | None = None, agenda_ports: int = AGENDA_PORTS) -> RawRecords:
    """Simulate `setup` and return its records; `progress` is called with the simulated time in picoseconds at times.

    Fabrics of `agenda_ports` ports or more keep arrivals in the agenda; the records are the same.
    """
    state = initial_state(setup)
    world = World(setup, state, agenda_ports=agenda_ports)
    if 0 < setup.warm_up_ps < setup.end_ps:
        world.set_numbers(end_ps=setup.warm_up_ps)
        _run_until_end(world, progress)
        _take_snapshot(world)
        world.set_numbers(end_ps=setup.end_ps)
    _run_until_end(world, progress)
    call(loop_function("settle"), world.address, 1)
    for name in ("subs", "trace", "probes"):
        setattr(state, name, world.arrays[name])
    state.own.tables |= {name: world.arrays[name] for name in POOLS}
    return state.finished()


def _run_until_end(world: World, progress: Callable[[int], None] | None) -> None:
    """Run the loop until all is done or the time is over.

    Another thread runs it: a hook may loop for ever, and the main thread must hear of Ctrl-C all the same.
    """
    chunk = Chunk()
    while (status := interruptible(lambda: _run_chunk(world, chunk))) != DONE:
        if status == FAULT:
            fault, path, count = (int(world.record[name][0]) for name in ("fault", *REFUSED))
            raise error_of(fault, world.setup, path=path, count=count)
        if status != PAUSED:
            world.grow(status)
            continue
        chunk.adapt()
        if progress is not None:
            progress(int(world.state.counters["now_ps"][0]))


def _run_chunk(world: World, chunk: Chunk) -> int:
    """Run the loop, and answer what it asks, until it returns for another reason."""
    while (status := _run_loop(world, chunk.begin())) == ASK:
        world.answer()
    return status


def _run_loop(world: World, max_events: int) -> int:
    """Run the loop and return why it has returned; the only exceptions that leave it are those of hooks."""
    try:
        return call(loop_function("loop"), world.address, max_events)
    except Exception as error:  # whatever the hook raises
        text = " ".join(str(error).split()) or "no text"
        remedy = 'the reference engine (--engine reference, engine="reference") names the line'
        refused = f"scheme {world.setup.scheme.name!r}: {type(error).__name__}: {text} in a hook: {remedy}"
        raise ParameterError(refused) from error


def _take_snapshot(world: World) -> None:
    """Keep the counters as they are at the end of the warm-up, with what is in queues, unless the run ended before."""
    state, settle = world.state, loop_function("settle")
    counters = state.counters[0]
    left = any(counters[name] for name in ("in_flight", "open_subs", "due")) or counters["next_start"] < state.n_starts
    if not left:
        return
    call(settle, world.address, 0)
    before = state.ports.copy()
    call(settle, world.address, 1)
    subs = world.arrays["subs"][: counters["subs"]]
    state.warm = Snapshot(state.ports.copy(), delivered_segments(state.flows, subs))
    state.ports[:] = before


def is_compiled(scheme: Scheme) -> bool:
    """Return whether the machine code for `scheme` comes from the on-disk cache; compile it otherwise."""
    components = [getattr(stack, role) for stack in scheme.stacks for role in HOST_ROLES]
    components += [getattr(scheme, role) for role in NETWORK_ROLES]
    each_once = {id(component): component for component in components}.values()  # stacks share most of theirs
    hooks = [hook for component in each_once for hook in loaded_hooks(component).values() if hook]
    return all(each.from_disk for each in [loop_function("loop"), loop_function("settle"), *hooks])
