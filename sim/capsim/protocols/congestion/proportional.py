"""Proportional rate reduction (PRR, RFC 6937): how a window comes down to ssthresh.

It comes down by as much as is sent for what is delivered, in place of at once; so the sender is not silent first and
does not send a burst later. Linux and ns-3 reduce so in a recovery and, after a mark, in the state CWR (congestion
window reduced).

=============================== ============= ============================
Quantity                        Symbol        Name
=============================== ============= ============================
in the network at the beginning RecoverFS     ``flight_bytes``
delivered since                 prr_delivered ``delivered_bytes``
of these, by this ACK           DeliveredData ``new_bytes``
sent since                      prr_out       ``out_bytes``
may be sent for this ACK        sndcnt        :func:`allowed_bytes`
=============================== ============= ============================
"""

from enum import IntEnum

from capsim.base.inlined import inlined
from capsim.base.randomness import MASK


class Reduction(IntEnum):
    """How the window is reduced: at once, or in proportion to what is delivered (RFC 6937).

    Where less than ssthresh is in the network, the second lets a segment more be sent than is delivered (slow start
    reduction bound, which the RFC recommends), the third no more (conservative reduction bound). The fourth counts as
    ns-3.44 does (``TcpPrrRecovery``):

    - RecoverFS is what is in the network when the acknowledgement has been taken that begins the reduction;
    - that acknowledgement counts twice after a mark, and a segment beside it. In a recovery, one that reports further
      blocks counts a segment more, until RecoverFS is reached, and twice if it also advances;
    - the product of two numbers of bytes is kept in 32 bits, so that windows above 64 kB send less of it;
    - below ssthresh as much may be sent as is delivered, also by the last acknowledgement alone, and a segment more
      if that advances over a retransmission.
    """

    AT_ONCE = 0
    PROPORTIONAL = 1
    PROPORTIONAL_CONSERVATIVE = 2
    PROPORTIONAL_NS3 = 3


@inlined
def allowed_bytes(
    reduction: int,
    pipe_bytes: int,
    ssthresh_bytes: int,
    flight_bytes: int,
    delivered_bytes: int,
    new_bytes: int,
    out_bytes: int,
    repaired: int,
    mss_bytes: int,
) -> int:
    """Return how much may be sent for an acknowledgement, sndcnt (RFC 6937, section 3); first, a segment at least.

    `repaired`: 1 if it advances over a segment that was retransmitted, which matters to ns-3's reduction only.

    Examples
    --------
    Of 20 segments in the network, and with ssthresh 10, one is sent for two that are delivered.

    >>> [allowed_bytes(1, 19 - n, 10, 20, n, 1, out, 0, 1) for n, out in ((2, 1), (3, 1), (4, 2), (5, 2))]
    [0, 1, 0, 1]
    """
    if pipe_bytes > ssthresh_bytes:
        product = delivered_bytes * ssthresh_bytes
        if reduction == Reduction.PROPORTIONAL_NS3:
            product &= MASK
        allowed = -(-product // flight_bytes) - out_bytes
    else:
        limit = delivered_bytes - out_bytes
        if reduction != Reduction.PROPORTIONAL_CONSERVATIVE:
            limit = max(limit, new_bytes)
        if reduction == Reduction.PROPORTIONAL or (reduction == Reduction.PROPORTIONAL_NS3 and repaired):
            limit += mss_bytes
        allowed = min(ssthresh_bytes - pipe_bytes, limit)
    if out_bytes == 0:
        allowed = max(allowed, mss_bytes)
    return max(allowed, 0)
