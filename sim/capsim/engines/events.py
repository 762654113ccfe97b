"""The kinds of event and their total order, the same in both engines.

Events are ordered by time, then kind, then entity; no two events agree in all three, so the order in which they were
scheduled never matters.

========= ===================== =========================================
Kind      Entity                Meaning
========= ===================== =========================================
EPOCH     0                     links fail or return, routes change
DEPART    port                  the last bit of a packet leaves a port
ARRIVE    port                  the last bit reaches the far end
TIMER     connection            retransmission deadline
FLUSH     connection            deadline of the encoding buffer
START     connection            a flow begins
PROBE     0                     samples are taken
END       0                     the time is over
========= ===================== =========================================

What follows from it: a packet that departs at t makes room for one that arrives at t; an acknowledgement that arrives
at t stops a timer that would fire at t; a link that fails at t loses a packet whose last bit would leave at t; a
sample at t sees everything that happened at t.
"""

EPOCH, DEPART, ARRIVE, TIMER, FLUSH, START, PROBE, END = range(
    2, 10
)  # 0 and 1 are SimPy's own, for its zero-delay wakes

ENTITY_BITS = 40


def priority(kind: int, entity: int) -> int:
    """Return the SimPy priority of an event: kinds in order, entities in order within a kind.

    Examples
    --------
    >>> priority(ARRIVE, 7) < priority(ARRIVE, 8) < priority(TIMER, 0)
    True
    """
    return (kind << ENTITY_BITS) | entity
