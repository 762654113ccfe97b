"""The compiled engine: departures and arrivals in the order in which they were scheduled (``Setup.ordered``).

They are kept in a binary heap of their own, ordered by time, then by the number of the transmission; the tree of
arrivals is kept all the same, so that the code that all packets pass is one, and not looked at. A departure is
scheduled when its transmission begins; the arrival takes its number over and enters the heap at the departure, as does
that of every packet on the wire. Entry 1 is the next one, entry 0 the one taken last; ``event`` is the number of the
port, or ``~port`` for a departure.
"""

from typing import Any

from capsim.engines.compiled.jit import inlined_kernel, kernel
from capsim.engines.compiled.pointers import counters_at, scheduled_at
from capsim.engines.events import ARRIVE, DEPART, NEVER


@inlined_kernel
def before(one: Any, other: Any) -> bool:
    """Return whether an entry comes before another one."""
    if one.time_ps != other.time_ps:
        return one.time_ps < other.time_ps
    return one.transmission < other.transmission


@inlined_kernel
def exchange(one: Any, other: Any) -> None:
    """Exchange two entries."""
    one.time_ps, other.time_ps = other.time_ps, one.time_ps
    one.transmission, other.transmission = other.transmission, one.transmission
    one.event, other.event = other.event, one.event


@kernel
def settle_entry(w: Any, index: int) -> None:
    """Move an entry to where it belongs: up while it comes before the one above it, or down."""
    count = counters_at(w.counters, 0).scheduled
    while index > 1 and before(scheduled_at(w.schedule, index), scheduled_at(w.schedule, index >> 1)):
        exchange(scheduled_at(w.schedule, index), scheduled_at(w.schedule, index >> 1))
        index >>= 1
    while 2 * index <= count:
        child = 2 * index
        if child < count and before(scheduled_at(w.schedule, child + 1), scheduled_at(w.schedule, child)):
            child += 1
        if not before(scheduled_at(w.schedule, child), scheduled_at(w.schedule, index)):
            return
        exchange(scheduled_at(w.schedule, child), scheduled_at(w.schedule, index))
        index = child


@kernel
def schedule(w: Any, time_ps: int, transmission: int, event: int) -> None:
    """Add an entry."""
    counters = counters_at(w.counters, 0)
    counters.scheduled += 1
    entry = scheduled_at(w.schedule, counters.scheduled)
    entry.time_ps = time_ps
    entry.transmission = transmission
    entry.event = event
    settle_entry(w, counters.scheduled)


@kernel
def remove(w: Any, index: int) -> None:
    """Remove an entry: the last one takes its place."""
    counters = counters_at(w.counters, 0)
    exchange(scheduled_at(w.schedule, index), scheduled_at(w.schedule, counters.scheduled))
    counters.scheduled -= 1
    if index <= counters.scheduled:
        settle_entry(w, index)


@kernel
def take_next(w: Any) -> int:
    """Take the next entry and return its port."""
    entry, taken = scheduled_at(w.schedule, 1), scheduled_at(w.schedule, 0)
    taken.transmission = entry.transmission
    taken.event = entry.event
    remove(w, 1)
    return ~taken.event if taken.event < 0 else taken.event


@kernel
def begin(w: Any, p: int, depart_ps: int) -> None:
    """Schedule the departure of a packet whose transmission begins."""
    counters = counters_at(w.counters, 0)
    counters.transmissions += 1
    schedule(w, depart_ps, counters.transmissions, ~p)


@kernel
def departed(w: Any, p: int, arrive_ps: int) -> None:
    """Schedule the arrival of the packet whose departure was taken last."""
    schedule(w, arrive_ps, scheduled_at(w.schedule, 0).transmission, p)


@kernel
def cancel(w: Any, p: int) -> None:
    """Remove the departure of a port whose link fails."""
    for index in range(1, counters_at(w.counters, 0).scheduled + 1):
        if scheduled_at(w.schedule, index).event == ~p:
            remove(w, index)
            return


@inlined_kernel
def next_scheduled(w: Any) -> tuple[int, int]:
    """Return time and kind of the next entry."""
    if counters_at(w.counters, 0).scheduled == 0:
        return NEVER, ARRIVE
    entry = scheduled_at(w.schedule, 1)
    return entry.time_ps, (DEPART if entry.event < 0 else ARRIVE)


@inlined_kernel
def port_of_next(w: Any) -> int:
    """Return the port of the next entry."""
    event = scheduled_at(w.schedule, 1).event
    return ~event if event < 0 else event
