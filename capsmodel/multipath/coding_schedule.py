r"""The coding schedule of a DC²-MTCP sender: when it mixes a coded packet and when it sends it, as a pure step.

============================  ============  =============================  =======  ========================
Quantity                      Symbol        Name                           Unit     Equation
============================  ============  =============================  =======  ========================
redundancy earned, mix, send  :math:`R`     :func:`accumulate_redundancy`  packets  dc2mtcp u (IV-B, Alg. 1)
asynchronous loss             :math:`\psi`  :func:`pre_coding_measure`     packets  dc2mtcp u (IV-A)
============================  ============  =============================  =======  ========================
"""

from dataclasses import dataclass
from typing import Literal, overload

from numpy.typing import ArrayLike

from capsmodel.checks import FloatArray, FloatOrArray, closed_form, non_negative, one_number, plain, require, whole

MAX_MIXED_PACKETS = 15
"""Most original packets that one coded packet mixes (C_max of dc2mtcp); also the span of pre-coding."""
POST_CODING_SPAN_PACKETS = 10
"""Packets that post-coding mixes: two thirds of C_max."""
PRE_CODING_LIMIT_PACKETS = 3
"""Largest psi at which DC²-MTCP still pre-codes (its delta)."""


@dataclass(frozen=True)
class CodingState:
    """State of a DC²-MTCP sender between two original packets.

    Attributes
    ----------
    redundancy_packets : float
        Redundancy :math:`R` earned and not yet spent, in packets.
    coding : bool
        Whether a coded packet is being mixed.
    pre_coding : bool
        Whether it is mixed from the packets being sent (pre-coding) or from the oldest unacknowledged ones.
    """

    redundancy_packets: float = 0.0
    coding: bool = False
    pre_coding: bool = True


@dataclass(frozen=True)
class CodingAction:
    """What the sender does with an original packet.

    Attributes
    ----------
    mix : {"none", "this", "oldest", "previous"}
        Mix no packet; the one being sent; the last one of the post-coding span; the one before the last one mixed.
    send : bool
        Whether the coded packet is complete and follows on the same subflow.
    """

    mix: Literal["none", "this", "oldest", "previous"] = "none"
    send: bool = False


@closed_form
def accumulate_redundancy(
    state: CodingState,
    *,
    ratio: float,
    psi_packets: float,
    pre_span_packets: int = MAX_MIXED_PACKETS,
    post_span_packets: int = POST_CODING_SPAN_PACKETS,
    pre_coding_limit_packets: float = PRE_CODING_LIMIT_PACKETS,
) -> tuple[CodingState, CodingAction]:
    r"""Take one step of the DC²-MTCP sender: an original packet leaves, the coded one grows or follows.

    Parameters
    ----------
    state : CodingState
        State before the packet; ``CodingState()`` at the start of a flow.
    ratio : float
        Coded packets to each original one, :math:`\gamma`: :func:`capsmodel.multipath.coded_transport.redundancy_ratio`
        of a large flow or :func:`capsmodel.multipath.coded_transport.small_flow_redundancy_ratio`; not negative.
    psi_packets : float
        Measure :math:`\psi` of asynchronous loss, see :func:`pre_coding_measure`.
    pre_span_packets, post_span_packets : int, optional
        Spans :math:`\alpha` and :math:`\beta` of pre- and post-coding in packets.
    pre_coding_limit_packets : float, optional
        Largest :math:`\psi` at which to pre-code, :math:`\delta`.

    Returns
    -------
    CodingState
        State after the packet.
    CodingAction
        What to mix and whether to send the coded packet.

    Raises
    ------
    ParameterError
        If a number is negative, or a span is no whole number of at least 1.

    Notes
    -----
    :math:`R` grows by :math:`\gamma`. Mixing starts as soon as the redundancy earned within one span from now exceeds
    one packet; the coded packet leaves when :math:`R > 1` and costs 1. Sending implies mixing, since :math:`R > 1`
    starts what had not started. With :math:`\gamma > 1` redundancy piles up, as one coded packet at most follows an
    original one. The paper's Algorithm 1 cites its equations one number too high.

    References
    ----------
    dc2mtcp u (IV-B, Alg. 1) accumulator.

    Examples
    --------
    >>> state, sent = CodingState(), 0
    >>> for _ in range(1001):
    ...     state, action = accumulate_redundancy(state, ratio=0.25, psi_packets=0)
    ...     sent += action.send
    >>> sent
    250
    """
    require(isinstance(state, CodingState), f"state is a {type(state).__name__}, but it must be a CodingState")
    earned = state.redundancy_packets + one_number(non_negative, "ratio", ratio)
    psi = one_number(non_negative, "psi_packets", psi_packets)
    pre_span = one_number(whole, "pre_span_packets", pre_span_packets, minimum=1)
    post_span = one_number(whole, "post_span_packets", post_span_packets, minimum=1)
    if state.coding:
        coding, pre = True, state.pre_coding
        mix: Literal["none", "this", "oldest", "previous"] = "this" if pre else "previous"
    else:
        pre = psi <= one_number(non_negative, "pre_coding_limit_packets", pre_coding_limit_packets)
        coding = earned + ratio * (pre_span if pre else post_span) > 1
        mix = ("this" if pre else "oldest") if coding else "none"
    send = earned > 1
    return CodingState(earned - send, coding and not send, pre), CodingAction(mix, send)


@overload
def pre_coding_measure(span_packets: float, *, unacknowledged_packets: float) -> float: ...
@overload
def pre_coding_measure(span_packets: ArrayLike, *, unacknowledged_packets: ArrayLike) -> FloatArray: ...
@closed_form
def pre_coding_measure(span_packets: ArrayLike, *, unacknowledged_packets: ArrayLike) -> FloatOrArray:
    r"""Return the measure of asynchronous loss: packets of the send window that are acknowledged out of order.

    Parameters
    ----------
    span_packets : array_like
        Distance :math:`W_v` between the edges of the connection's send window in packets. Broadcasts.
    unacknowledged_packets : array_like
        Packets :math:`W_s` in it that are not acknowledged; at most the span. Broadcasts.

    Returns
    -------
    float or ndarray
        :math:`\psi = W_v - W_s` packets, of the broadcast shape.

    Raises
    ------
    ParameterError
        If an argument is no whole number, or more packets are unacknowledged than the window spans.

    Notes
    -----
    DC²-MTCP pre-codes for :math:`\psi \le 3` and post-codes above.

    References
    ----------
    dc2mtcp u (IV-A) APL measure.

    Examples
    --------
    >>> pre_coding_measure(60, unacknowledged_packets=15)
    45.0
    """
    span = whole("span_packets", span_packets)
    waiting = whole("unacknowledged_packets", unacknowledged_packets)
    require(waiting <= span, "unacknowledged_packets is above span_packets, but it counts packets inside that window")
    return plain(span - waiting)
