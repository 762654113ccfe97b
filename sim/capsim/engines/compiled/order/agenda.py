"""The compiled engine: which packet arrives next, in a fabric of many ports.

Each port has at most one pending arrival, that of the first packet on its wire. Up to `AGENDA_PORTS` ports a tournament
tree (:mod:`~capsim.engines.compiled.order.trees`) gives the earliest of them. A larger tree, and the ports and packets
themselves, no longer fit into the second-level cache: each event waits for memory. What helps is to know early which
arrivals come next, and to ask for their memory meanwhile (a *prefetch*). A tree does not know the second-earliest.

The agenda does. It is a calendar queue (Brown 1988): time is cut into buckets of equal width, as a calendar into days,
and an arrival is written down on its day. There are three places, by how far ahead an arrival lies:

- **agenda**: the present bucket and what was due before it, as a sorted array from `agenda_first` to `agenda_end`. The
  first entry is the next arrival, and the entries behind it are those that follow.
- **buckets**: the next `BUCKETS` ones, each an unsorted chain of ports, with a bit that says whether it holds any. When
  the agenda has become short, the next bucket that is not empty is sorted into it.
- **tree**: what lies beyond the last bucket waits in the tournament tree until its bucket is the present one.

Buckets are so narrow that in a busy fabric some `PER_BUCKET` arrivals fall into each, and sorting one takes a few
steps; an arrival that belongs into the present bucket is inserted in its place. The order is exact: that of the stamps
(:mod:`capsim.engines.events`), of equal ones by port. The width of buckets decides how long it takes, never what
happens.
"""

from typing import Any

from capsim.engines.compiled.jit import inlined_kernel, kernel
from capsim.engines.compiled.layout import BUCKETS, FETCHED, FOLLOWED, WORD_BITS, WORD_SHIFT, WORDS
from capsim.engines.compiled.order.trees import bring_forward, set_time
from capsim.engines.compiled.pointers import (
    entry_at,
    int32_array,
    int64_array,
    int64_at,
    node_at,
    packet_at,
    port_at,
    prefetch_crossed,
    prefetch_delivered,
    prefetch_offered,
    prefetch_packet,
    prefetch_sub,
    trailing_zeros,
)
from capsim.engines.compiled.tables import present_epoch, route, whole
from capsim.engines.events import NEVER, NO_STAMP, TIE_BITS, stamp
from capsim.records import NONE

# -- what the other modules ask


@inlined_kernel
def first_arrival(w: Any) -> int:
    """Return the stamp of the next arrival, or NO_STAMP."""
    if not w.by_agenda:
        return node_at(w.arrive_tree, 1).stamp
    if w.agenda_end - w.agenda_first <= FETCHED and (w.agenda_later or node_at(w.arrive_tree, 1).stamp != NO_STAMP):
        open_bucket(w)
    return NO_STAMP if w.agenda_first == w.agenda_end else entry_at(w.agenda, w.agenda_first).stamp


@inlined_kernel
def first_port(w: Any) -> int:
    """Return the port of the next arrival."""
    return whole(entry_at(w.agenda, w.agenda_first).port) if w.by_agenda else node_at(w.arrive_tree, 1).entity


@inlined_kernel
def follow_arrival(w: Any, p: int, number: int, time_ps: int) -> None:
    """Put packet `number` in place of the one that arrives now from port `p`; at NEVER there is none."""
    if not w.by_agenda:
        set_time(w, w.arrive_tree, w.arrive_leaves, p, time_ps)
        return
    w.agenda_first += 1
    fetch_ahead(w)
    if time_ps != NEVER:
        write_down(w, p, number, time_ps)


@inlined_kernel
def add_arrival(w: Any, p: int, number: int, time_ps: int) -> None:
    """Let packet `number` arrive from port `p`, which has had no pending arrival."""
    if w.by_agenda:
        write_down(w, p, number, time_ps)
    else:
        bring_forward(w, w.arrive_tree, w.arrive_leaves, p, time_ps)


@kernel
def cancel_arrival(w: Any, p: int) -> None:
    """Take back the pending arrival of port `p`, which is in one of the three places."""
    if node_at(w.arrive_tree, w.arrive_leaves + p).stamp != NO_STAMP:
        set_time(w, w.arrive_tree, w.arrive_leaves, p, NEVER)
        return
    for place in range(w.agenda_first, w.agenda_end):
        if entry_at(w.agenda, place).port == p:
            close_gap(w, place)
            return
    leave_bucket(w, p)


# -- the present bucket


@inlined_kernel
def put(entry: Any, when: int, packet: int, port: int) -> None:
    """Fill in an entry."""
    entry.stamp, entry.packet, entry.port = when, packet, port


@kernel
def append(w: Any, p: int, number: int, when: int) -> None:
    """Enter an arrival behind the last one."""
    if w.agenda_end == w.agenda_room:
        move_to_front(w)
    put(entry_at(w.agenda, w.agenda_end), when, number, p)
    w.agenda_end += 1


@inlined_kernel
def bring_to_front(w: Any, place: int, least: int, step: int) -> None:
    """Move an entry in steps towards place `least`, past all that come after it."""
    moved = entry_at(w.agenda, place)
    when, number, p = moved.stamp, whole(moved.packet), whole(moved.port)
    while place - step >= least:
        before = entry_at(w.agenda, place - step)
        if before.stamp < when or (before.stamp == when and before.port < p):
            break
        put(entry_at(w.agenda, place), before.stamp, before.packet, before.port)
        place -= step
    put(entry_at(w.agenda, place), when, number, p)


@kernel
def insert(w: Any, p: int, number: int, when: int) -> None:
    """Enter an arrival in its place."""
    append(w, p, number, when)
    bring_to_front(w, w.agenda_end - 1, w.agenda_first, 1)


@kernel
def sort_from(w: Any, first: int) -> None:
    """Sort the entries from place `first` on, in steps that become shorter (Shell 1959).

    Few are sorted in steps of one, by insertion. But a bucket may hold all ports, where all hosts begin at one time.
    """
    step = 1
    while 9 * step < w.agenda_end - first:
        step = 3 * step + 1
    while step > 0:
        for place in range(first + step, w.agenda_end):
            bring_to_front(w, place, first, step)
        step //= 3


@kernel
def move_to_front(w: Any) -> None:
    """Move the entries to the beginning of their array."""
    left = w.agenda_end - w.agenda_first
    for place in range(left):
        entry = entry_at(w.agenda, w.agenda_first + place)
        put(entry_at(w.agenda, place), entry.stamp, entry.packet, entry.port)
    w.agenda_first, w.agenda_end = 0, left


@kernel
def close_gap(w: Any, place: int) -> None:
    """Take an entry out of the agenda."""
    w.agenda_end -= 1
    for each in range(place, w.agenda_end):
        entry = entry_at(w.agenda, each + 1)
        put(entry_at(w.agenda, each), entry.stamp, entry.packet, entry.port)


# -- later buckets: a ring, of which a bucket has the place `bucket % BUCKETS`


@kernel
def write_down(w: Any, p: int, number: int, time_ps: int) -> None:
    """Let packet `number` arrive from port `p`: in the agenda, in a bucket or in the tree."""
    when = stamp(w.tie_seed, time_ps, p)
    ahead = (time_ps >> w.bucket_bits) - w.agenda_bucket
    if ahead <= 0:
        insert(w, p, number, when)
    elif ahead >= BUCKETS:
        set_time(w, w.arrive_tree, w.arrive_leaves, p, time_ps)
    else:
        enter_bucket(w, (time_ps >> w.bucket_bits) & (BUCKETS - 1), p, number, when)


@inlined_kernel
def enter_bucket(w: Any, slot: int, p: int, number: int, when: int) -> None:
    """Put an arrival in front of the chain of a bucket: of an entry of `later`, `port` is the next one in the chain."""
    first_of, filled = int32_array(w.buckets, BUCKETS, 4), int64_array(w.filled, WORDS, 8)
    put(entry_at(w.later, p), when, number, first_of[slot])
    first_of[slot] = p
    filled[slot >> WORD_SHIFT] |= 1 << (slot & (WORD_BITS - 1))
    w.agenda_later += 1


@kernel
def leave_bucket(w: Any, p: int) -> None:
    """Take the arrival of port `p` out of the chain of its bucket."""
    first_of, filled = int32_array(w.buckets, BUCKETS, 4), int64_array(w.filled, WORDS, 8)
    entry = entry_at(w.later, p)
    slot = (entry.stamp >> TIE_BITS >> w.bucket_bits) & (BUCKETS - 1)
    if first_of[slot] == p:
        first_of[slot] = entry.port
    else:
        before = entry_at(w.later, whole(first_of[slot]))
        while before.port != p:
            before = entry_at(w.later, whole(before.port))
        before.port = entry.port
    if first_of[slot] == NONE:
        filled[slot >> WORD_SHIFT] &= ~(1 << (slot & (WORD_BITS - 1)))
    w.agenda_later -= 1


@inlined_kernel
def next_filled(w: Any) -> int:
    """Return the next bucket behind the present one that holds an arrival; there is one."""
    filled = int64_array(w.filled, WORDS, 8)
    begin = (w.agenda_bucket + 1) & (BUCKETS - 1)
    word = begin >> WORD_SHIFT
    bits = filled[word] & (-1 << (begin & (WORD_BITS - 1)))
    while bits == 0:
        word = (word + 1) & (WORDS - 1)
        bits = filled[word]
    slot = (word << WORD_SHIFT) + trailing_zeros(bits)
    return w.agenda_bucket + 1 + ((slot - begin) & (BUCKETS - 1))


@kernel
def open_bucket(w: Any) -> None:
    """Sort the next bucket that holds an arrival into the agenda; of the tree, what is due by then."""
    move_to_front(w)
    far = node_at(w.arrive_tree, 1)
    bucket = far.stamp >> TIE_BITS >> w.bucket_bits
    if w.agenda_later:
        bucket = min(bucket, next_filled(w))
    w.agenda_bucket = bucket
    empty_bucket(w, bucket & (BUCKETS - 1))
    while far.stamp >> TIE_BITS >> w.bucket_bits <= bucket:
        p = far.entity
        insert(w, p, whole(port_at(w.ports, p).head), far.stamp)
        set_time(w, w.arrive_tree, w.arrive_leaves, p, NEVER)


@inlined_kernel
def empty_bucket(w: Any, slot: int) -> None:
    """Move all arrivals of a bucket into the agenda, behind those of earlier ones."""
    first_of, filled = int32_array(w.buckets, BUCKETS, 4), int64_array(w.filled, WORDS, 8)
    p, first = whole(first_of[slot]), w.agenda_end
    while p != NONE:
        entry = entry_at(w.later, p)
        append(w, p, whole(entry.packet), entry.stamp)
        w.agenda_later -= 1
        p = whole(entry.port)
    sort_from(w, first)
    first_of[slot] = NONE
    filled[slot >> WORD_SHIFT] &= ~(1 << (slot & (WORD_BITS - 1)))


# -- what comes soon is fetched


@inlined_kernel
def fetch_ahead(w: Any) -> None:
    """Ask for the memory of the arrivals that come soon; an entry behind the last one is an old one, and harmless."""
    soon = entry_at(w.agenda, w.agenda_first + FETCHED - 1)
    prefetch_crossed(w.ports, whole(soon.port))
    prefetch_packet(w.packets, whole(soon.packet))
    if w.agenda_first + FOLLOWED <= w.agenda_end:
        sooner = entry_at(w.agenda, w.agenda_first + FOLLOWED - 1)
        fetch_next_port(w, port_at(w.ports, whole(sooner.port)), whole(sooner.packet))


@inlined_kernel
def fetch_next_port(w: Any, port: Any, number: int) -> None:
    """Ask for the memory of what an arriving packet meets: the next port, or at a host its subflow and NIC."""
    packet = packet_at(w.packets, number)
    if port.to_node < w.n_hosts:
        prefetch_delivered(w.packets, number)
        prefetch_sub(w.subs, packet.sub)
        prefetch_offered(w.ports, int64_at(w.host_port, port.to_node))
        return
    found = route(w, present_epoch(w), port.to_node - w.n_hosts, packet.target)
    if found.count == 1:
        prefetch_offered(w.ports, int64_at(w.candidates, found.first))
