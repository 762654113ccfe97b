"""The compiled engine: which packet arrives next, in a fabric of many ports.

Each port has at most one pending arrival, that of the first packet on its wire. Up to `AGENDA_PORTS` ports a tournament
tree (:mod:`~capsim.engines.compiled.order.trees`) gives the earliest of them. A larger tree, and the ports and packets
themselves, no longer fit into the second-level cache: each event waits for memory. What helps is to know early which
arrivals come next, and to ask for their memory meanwhile (a *prefetch*). A tree does not know the second-earliest.

The agenda does. It is a calendar queue (Brown 1988): time is cut into buckets of equal width, as a calendar into days,
and an arrival is written down on its day. There are three places, by how far ahead an arrival lies:

- **agenda**: the present bucket and what was due before it, as a sorted array from `agenda_first` to `agenda_end`. The
  first entry is the next arrival, and the entries behind it are those that follow.
- **buckets**: the next `BUCKETS` ones, each an unsorted list of arrivals, with a bit that says whether there is any.
  When the agenda has become short, the next bucket that is not empty is sorted into it. The list is a chain of blocks
  of `BLOCK` arrivals, a cache line each, of which the first may have room.
- **tree**: what lies beyond the last bucket waits in the tournament tree until its bucket is the present one.

Buckets are so narrow that some `PER_BUCKET` arrivals fall into each if a busy fabric spreads them. They come in crowds,
though, since packets of one size and links of one rate keep time. So a bucket is sorted by counting: the place of an
arrival is the number of those before it (comparison counting, Knuth, volume 3, 5.2). For each of n arrivals that takes
n comparisons, four in one instruction, and no branch that could be guessed wrongly. A bucket of more than `BY_COUNTING`
is sorted as Shell (1959) did. An arrival that belongs into the present bucket is inserted in its place; there are few,
since no bucket is wider than the shortest time on a link.

The order is exact: that of the stamps (:mod:`capsim.engines.events`), of equal ones by port. The width of buckets
decides how long it takes, never what happens.
"""

from typing import Any

from capsim.base.randomness import MASK
from capsim.engines.compiled.jit import inlined_kernel, kernel, part
from capsim.engines.compiled.layout import (
    BLOCK,
    BLOCK_SHIFT,
    BUCKETS,
    BY_COUNTING,
    FETCHED,
    FOLLOWED,
    FRONT,
    LAST_KEY,
    WORD_BITS,
    WORD_SHIFT,
    WORDS,
)
from capsim.engines.compiled.order.trees import bring_forward, set_time
from capsim.engines.compiled.pointers import (
    count_below,
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

stamp = part(stamp)

# -- what the other modules ask


@inlined_kernel
def first_arrival(w: Any) -> int:
    """Return the stamp of the next arrival, or NO_STAMP."""
    if not w.by_agenda:
        return node_at(w.arrive_tree, 1).stamp
    if w.agenda_end - w.agenda_first <= FETCHED and (w.blocks_used or node_at(w.arrive_tree, 1).stamp != NO_STAMP):
        open_bucket(w)
    return NO_STAMP if w.agenda_first == w.agenda_end else entry_at(w.agenda, w.agenda_first).stamp


@inlined_kernel
def first_port(w: Any) -> int:
    """Return the port of the next arrival."""
    return port_of(entry_at(w.agenda, w.agenda_first)) if w.by_agenda else node_at(w.arrive_tree, 1).entity


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
        if port_of(entry_at(w.agenda, place)) == p:
            close_gap(w, place)
            return
    leave_bucket(w, p, packet_at(w.packets, port_at(w.ports, p).queue_head).arrive_ps)


# -- the present bucket


@inlined_kernel
def port_of(entry: Any) -> int:
    """Return the port of an arrival."""
    return entry.port_packet >> 32


@inlined_kernel
def packet_of(entry: Any) -> int:
    """Return the packet of an arrival."""
    return entry.port_packet & MASK


@inlined_kernel
def put(entry: Any, when: int, port_packet: int) -> None:
    """Fill in an entry."""
    entry.stamp, entry.port_packet = when, port_packet


@inlined_kernel
def copy(entry: Any, source: Any) -> None:
    """Fill in an entry as another one is."""
    put(entry, source.stamp, source.port_packet)


@inlined_kernel
def bring_to_front(w: Any, place: int, least: int, step: int) -> None:
    """Move an entry in steps towards place `least`, past all that come after it."""
    moved = entry_at(w.agenda, place)
    when, port_packet = moved.stamp, moved.port_packet
    while place - step >= least:
        before = entry_at(w.agenda, place - step)
        if before.stamp < when or (before.stamp == when and before.port_packet < port_packet):
            break
        copy(entry_at(w.agenda, place), before)
        place -= step
    put(entry_at(w.agenda, place), when, port_packet)


@kernel
def insert(w: Any, when: int, port_packet: int) -> None:
    """Enter an arrival in its place."""
    if w.agenda_end == w.agenda_room:
        move_to_front(w)
    put(entry_at(w.agenda, w.agenda_end), when, port_packet)
    w.agenda_end += 1
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
        copy(entry_at(w.agenda, place), entry_at(w.agenda, w.agenda_first + place))
    w.agenda_first, w.agenda_end = 0, left


@kernel
def close_gap(w: Any, place: int) -> None:
    """Take an entry out of the agenda."""
    w.agenda_end -= 1
    for each in range(place, w.agenda_end):
        copy(entry_at(w.agenda, each), entry_at(w.agenda, each + 1))


# -- later buckets: a ring, of which a bucket has the place `bucket % BUCKETS`


@kernel
def write_down(w: Any, p: int, number: int, time_ps: int) -> None:
    """Let packet `number` arrive from port `p`: in the agenda, in a bucket or in the tree."""
    when, port_packet = stamp(w.tie_seed, time_ps, p), (p << 32) | number
    ahead = (time_ps >> w.bucket_bits) - w.agenda_bucket
    if ahead <= 0:
        insert(w, when, port_packet)
    elif ahead >= BUCKETS:
        set_time(w, w.arrive_tree, w.arrive_leaves, p, time_ps)
    else:
        enter_bucket(w, (time_ps >> w.bucket_bits) & (BUCKETS - 1), when, port_packet)


@inlined_kernel
def enter_bucket(w: Any, slot: int, when: int, port_packet: int) -> None:
    """Put an arrival behind the last one of the first block of a bucket, or into a new first block if that is full."""
    last_of, filled = int32_array(w.buckets, BUCKETS, 4), int64_array(w.filled, WORDS, 8)
    spare, behind = int32_array(w.spare, w.n_ports, 4), int32_array(w.behind, w.n_ports, 4)
    last, block = whole(last_of[slot]), whole(spare[w.blocks_used])
    full = held(last) == BLOCK  # NONE counts as such
    behind[block] = last
    w.blocks_used += full
    place = block * BLOCK if full else last + 1
    put(entry_at(w.blocks, place), when, port_packet)
    last_of[slot] = place
    filled[slot >> WORD_SHIFT] |= 1 << (slot & (WORD_BITS - 1))


@kernel
def leave_bucket(w: Any, p: int, time_ps: int) -> None:
    """Take the arrival of port `p` out of its bucket; the last one of the first block takes its place."""
    last_of, filled = int32_array(w.buckets, BUCKETS, 4), int64_array(w.filled, WORDS, 8)
    behind = int32_array(w.behind, w.n_ports, 4)
    slot = (time_ps >> w.bucket_bits) & (BUCKETS - 1)
    last = whole(last_of[slot])
    place = last
    while port_of(entry_at(w.blocks, place)) != p:
        place = place - 1 if place & (BLOCK - 1) else whole(behind[place >> BLOCK_SHIFT])
    copy(entry_at(w.blocks, place), entry_at(w.blocks, last))
    if last & (BLOCK - 1):
        last_of[slot] = last - 1
        return
    last_of[slot] = behind[last >> BLOCK_SHIFT]
    give_back(w, last >> BLOCK_SHIFT)
    if last_of[slot] == NONE:
        filled[slot >> WORD_SHIFT] &= ~(1 << (slot & (WORD_BITS - 1)))


@inlined_kernel
def give_back(w: Any, block: int) -> None:
    """Let another bucket use a block."""
    spare = int32_array(w.spare, w.n_ports, 4)
    w.blocks_used -= 1
    spare[w.blocks_used] = block


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
    if w.agenda_first > FRONT:
        move_to_front(w)
    far = node_at(w.arrive_tree, 1)
    bucket = far.stamp >> TIE_BITS >> w.bucket_bits
    if w.blocks_used:
        bucket = min(bucket, next_filled(w))
    w.agenda_bucket = bucket
    empty_bucket(w, bucket & (BUCKETS - 1))
    while far.stamp >> TIE_BITS >> w.bucket_bits <= bucket:
        p = far.entity
        insert(w, far.stamp, (p << 32) | port_at(w.ports, p).head)
        set_time(w, w.arrive_tree, w.arrive_leaves, p, NEVER)


@inlined_kernel
def empty_bucket(w: Any, slot: int) -> None:
    """Move all arrivals of a bucket into the agenda, behind those of earlier ones."""
    last_of, filled = int32_array(w.buckets, BUCKETS, 4), int64_array(w.filled, WORDS, 8)
    last, first = whole(last_of[slot]), w.agenda_end
    blocks = write_keys(w, last)
    w.agenda_end += BLOCK * (blocks - 1) + held(last)
    if blocks <= BY_COUNTING // BLOCK:
        for number in range(blocks):
            count_below(w.keys, blocks, w.keys + 8 * BLOCK * number, w.places)
            last = move_block(w, last, first)
    else:
        move_unsorted(w, last, first)
        sort_from(w, first)
    last_of[slot] = NONE
    filled[slot >> WORD_SHIFT] &= ~(1 << (slot & (WORD_BITS - 1)))


@inlined_kernel
def held(last: int) -> int:
    """Return how many arrivals are in the block of which `last` is the last one."""
    return (last & (BLOCK - 1)) + 1


@inlined_kernel
def write_keys(w: Any, last: int) -> int:
    """Write down what the arrivals of a bucket are sorted by, and return in how many blocks they are.

    All times in a bucket begin with the same bits: without these a stamp and a port are one number. Room in a block
    counts as arrivals behind all others. Of a bucket with too many arrivals the keys are not used.
    """
    keys, behind = int64_array(w.keys, BY_COUNTING, 8), int32_array(w.behind, w.n_ports, 4)
    blocks = 0
    while last != NONE:
        block, begin = last >> BLOCK_SHIFT, BLOCK * blocks & (BY_COUNTING - 1)
        for each in range(BLOCK):
            entry = entry_at(w.blocks, BLOCK * block + each)
            key = ((entry.stamp << w.key_shift) & LAST_KEY) | port_of(entry)
            keys[begin + each] = key if each < held(last) else LAST_KEY
        last = whole(behind[block])
        blocks += 1
    return blocks


@inlined_kernel
def move_block(w: Any, last: int, first: int) -> int:
    """Move a block to its places from `first` on, and return the last arrival of the next; room goes behind them."""
    places, behind = int64_array(w.places, BLOCK, 8), int32_array(w.behind, w.n_ports, 4)
    block = last >> BLOCK_SHIFT
    for each in range(BLOCK):
        copy(entry_at(w.agenda, first + places[each]), entry_at(w.blocks, BLOCK * block + each))
    give_back(w, block)
    return whole(behind[block])


@kernel
def move_unsorted(w: Any, last: int, place: int) -> None:
    """Move all arrivals of a bucket into the agenda, from `place` on, as they come."""
    places = int64_array(w.places, BLOCK, 8)
    for each in range(BLOCK):
        places[each] = each
    while last != NONE:
        following = place + held(last)
        last = move_block(w, last, place)
        place = following


# -- what comes soon is fetched


@inlined_kernel
def fetch_ahead(w: Any) -> None:
    """Ask for the memory of the arrivals that come soon; an entry behind the last one is an old one, and harmless."""
    soon = entry_at(w.agenda, w.agenda_first + FETCHED - 1)
    prefetch_crossed(w.ports, port_of(soon))
    prefetch_packet(w.packets, packet_of(soon))
    if w.agenda_first + FOLLOWED <= w.agenda_end:
        sooner = entry_at(w.agenda, w.agenda_first + FOLLOWED - 1)
        fetch_next_port(w, port_at(w.ports, port_of(sooner)), packet_of(sooner))


@inlined_kernel
def fetch_next_port(w: Any, port: Any, number: int) -> None:
    """Ask for the memory of what an arriving packet meets: the next port, or at a host its subflow and NIC."""
    packet = packet_at(w.packets, number)
    if port.to_node < w.n_hosts:
        prefetch_delivered(w.packets, number)
        prefetch_sub(w.subs, packet.sub)
        prefetch_offered(w.ports, int64_at(w.host_port, port.to_node))
        return
    routed = route(w, present_epoch(w), port.to_node - w.n_hosts, packet.target)
    if routed.count == 1:
        prefetch_offered(w.ports, int64_at(w.candidates, routed.first))
