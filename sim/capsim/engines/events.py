"""The kinds of event and their total order, the same in both engines.

Events are ordered by time, then kind, then a hash of time and entity; no two events agree in all of it, so the order
in which they were scheduled never matters. The hash, seeded by the run, is drawn anew for each instant: senders whose
packets are clocked by acknowledgements meet again and again on the same picosecond, and an order by number would let
the lowest port win every time.

With ties in order of scheduling (``Setup.ordered``), departures and arrivals of one time are ordered by when they were
scheduled, as in ns-3: both in the instant in which the transmission of the packet begins. So they have the number of
that transmission, counted over the run, and kinds do not tell them apart: a packet whose transmission began earlier
arrives before another one departs. All other events are ordered as above.

========= ===================== =========================================
Kind      Entity                Meaning
========= ===================== =========================================
EPOCH     0                     links fail or return, routes change
DEPART    port                  the last bit of a packet leaves a port
ARRIVE    port                  the last bit reaches the far end
TIMEOUT   subflow               retransmission deadline
SEND      subflow               the layer, or a transport that paces, is asked again
RECEIVE   subflow               the layer at the receiver is asked again
MANAGE    flow                  further subflows are opened, or the flow begins, which has waited for others
WORK      host                  its processor has encoded or decoded a packet; of equal times in the order of hosts
START     flow                  a flow begins; of equal times in the order of the flow list
PROBE     0                     samples are taken
SNAPSHOT  0                     the warm-up ends: counters are kept
END       0                     the time is over
========= ===================== =========================================

What follows from it: a packet that departs at t makes room for one that arrives at t; an acknowledgement that arrives
at t stops a timer that would fire at t; a link that fails at t drops a packet whose last bit would leave at t; a
sample at t sees everything that happened at t.
"""

from capsim.base.bounds import MAX_TIME_PS
from capsim.base.inlined import inlined
from capsim.base.randomness import MASK, SECOND, mix

# 0 and 1 are SimPy's own, for its zero-delay wakes
EPOCH, DEPART, ARRIVE, TIMEOUT, SEND, RECEIVE, MANAGE, WORK, START, PROBE, SNAPSHOT, END = range(2, 14)
WAKES = (TIMEOUT, SEND, RECEIVE, MANAGE)

HASH_BITS = 9
UNUSED_BITS = 32 - HASH_BITS
TIE_BITS = HASH_BITS + 2  # of a stamp: which of the wakes, then the hash; the time has the 52 above them
NEVER = MAX_TIME_PS
NO_STAMP = NEVER << TIE_BITS  # behind all stamps of what happens
WAKE = 1 << 32  # times the place of a wake in WAKES, added to the number: entity of the compiled engine's tree


@inlined
def tie(seed: int, time_ps: int, entity: int) -> int:
    """Return what orders events of one time and kind: 9 bits of a hash of time and entity.

    Parameters
    ----------
    seed : int
        0 to 2**32 - 1, of the run.
    time_ps : int
        Time of the events, in picoseconds.
    entity : int
        Below 2**32, plus `WAKE` times the place of the wake.

    Notes
    -----
    Entities of equal hash, one pair in 512, are ordered by number.

    Examples
    --------
    >>> [min(range(4), key=lambda port: tie(1, time_ps, port)) for time_ps in range(8)]
    [3, 0, 1, 0, 1, 1, 2, 2]
    """
    number = entity & MASK
    hashed = mix((time_ps ^ (time_ps >> 32) ^ seed ^ (number * SECOND)) & MASK)
    return ((entity >> 32) << HASH_BITS) | (hashed >> UNUSED_BITS)


@inlined
def stamp(seed: int, time_ps: int, entity: int) -> int:
    """Return time and place of an event as one number: the earlier event has the smaller one.

    A time from `MAX_TIME_PS` on, which no run reaches, counts as that: the number stays within 63 bits.

    Examples
    --------
    >>> stamp(1, 7, entity=3) >> TIE_BITS
    7
    """
    return (min(time_ps, MAX_TIME_PS) << TIE_BITS) | tie(seed, time_ps, entity)


@inlined
def last_stamp(time_ps: int) -> int:
    """Return a stamp behind those of all wakes of its time, for events that are ordered by number alone.

    Examples
    --------
    >>> last_stamp(7) >= max(stamp(1, 7, number + 3 * WAKE) for number in range(1000))
    True
    """
    return ((min(time_ps, MAX_TIME_PS) + 1) << TIE_BITS) - 1


def in_turn(transmission: int) -> int:
    """Return the SimPy priority of the departure and the arrival of a packet in order of scheduling.

    Examples
    --------
    >>> place(EPOCH, 0) < in_turn(1) < in_turn(2) < place(TIMEOUT, 0)
    True
    """
    return (ARRIVE << (TIE_BITS + 32)) + transmission


def place(kind: int, entity: int) -> int:
    """Return the SimPy priority of an event, but for the hash (`tie`) that stands between kind and number.

    Examples
    --------
    >>> place(ARRIVE, 7) < place(TIMEOUT, 0)
    True
    """
    return (kind << TIE_BITS + 32) | entity
