"""The kinds of event and their total order, the same in both engines.

Events are ordered by time, then kind, then a hash of time and entity; no two events agree in all of it, so the order
in which they were scheduled never matters. The hash, seeded by the run, is drawn anew for each instant: senders whose
packets are clocked by acknowledgements meet again and again on the same picosecond, and an order by number would let
the lowest port win every time.

========= ===================== =========================================
Kind      Entity                Meaning
========= ===================== =========================================
EPOCH     0                     links fail or return, routes change
DEPART    port                  the last bit of a packet leaves a port
ARRIVE    port                  the last bit reaches the far end
TIMER     connection            retransmission deadline
FLUSH     connection            deadline of the encoding buffer
START     connection            a flow begins; of equal times in the order of the flow list
PROBE     0                     samples are taken
END       0                     the time is over
========= ===================== =========================================

What follows from it: a packet that departs at t makes room for one that arrives at t; an acknowledgement that arrives
at t stops a timer that would fire at t; a link that fails at t loses a packet whose last bit would leave at t; a
sample at t sees everything that happened at t.
"""

from capsim.hooks import inlined
from capsim.randomness import MASK, mix

EPOCH, DEPART, ARRIVE, TIMER, FLUSH, START, PROBE, END = range(
    2, 10
)  # 0 and 1 are SimPy's own, for its zero-delay wakes

KIND_BITS = 32  # an entity number and its hash lie below


@inlined
def place(seed: int, time_ps: int, entity: int) -> int:
    """Return the place of `entity` among events of one time and kind: a permutation that changes with the time.

    Parameters
    ----------
    seed : int
        0 to 2**32 - 1, of the run.
    time_ps : int
        Time of the events, in picoseconds.
    entity : int
        Below 2**32, plus a multiple of 2**32 that says which of two kinds of timer it is and stays in front.

    Examples
    --------
    >>> [min(range(4), key=lambda port: place(1, time_ps, port)) for time_ps in range(8)]
    [0, 2, 3, 2, 0, 2, 1, 1]
    """
    of_time = mix((time_ps & MASK) ^ mix((time_ps >> KIND_BITS) ^ seed))
    return ((entity >> KIND_BITS) << KIND_BITS) | mix((entity & MASK) ^ of_time)


def priority(kind: int, entity: int, *, time_ps: int, seed: int) -> int:
    """Return the SimPy priority of an event: kinds in order, then the hash; flows start in the order of their list.

    Examples
    --------
    >>> priority(ARRIVE, 7, time_ps=0, seed=1) < priority(TIMER, 0, time_ps=0, seed=1)
    True
    """
    return (kind << KIND_BITS) | (entity if kind == START else place(seed, time_ps, entity))
