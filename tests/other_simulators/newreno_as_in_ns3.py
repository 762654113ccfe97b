"""NewReno with the scoreboard that ns-3.44 keeps without SACK, where it differs from RFC 6582, section 3.2.

``TcpTxBuffer::AddRenoSack`` marks a segment for each duplicate acknowledgement, as if it had been SACKed: the first one
behind the head, the first outstanding segment, that has no mark yet. What is marked or lost is not in the network.

* An acknowledgement that makes a marked segment the head moves the mark to the next segment and declares the head lost
  (``DiscardUpTo``), also the acknowledgement that ends recovery. The head is sent again before anything new.
* A head that counts as lost, with a mark behind it, starts the next recovery at the first duplicate (``DupAck``).
* Outside recovery and what follows a timeout, three duplicates start a recovery whatever they acknowledge.
* After a timeout duplicates are ignored until all data sent before it are acknowledged; each timeout halves ssthresh,
  also a second one of the same segment (RFC 5681, section 3.1: not again).
* The acknowledgement that ends recovery opens the window too. One of several segments that brings slow start to
  ssthresh opens it once more (``TcpNewReno::IncreaseWindow``).
* The round trip is that of the oldest segment that is acknowledged (RFC 6298, section 3, leaves it open).
"""

from dataclasses import dataclass, fields, replace
from typing import Any

from capsim import Scheme
from capsim.base.inlined import inlined
from capsim.protocols.congestion.reno import RENO, answer_loss, grow
from capsim.protocols.transports.newreno import NEWRENO
from capsim.protocols.transports.tcp import (
    TcpParams,
    advance,
    back_off,
    flight_bytes,
    payload_bytes,
    send_segment,
    set_rto,
    start_timer,
    take_sample,
)
from capsim.records import NONE
from capsim.roles.hooks import ACKED, DUPLICATE, EXPIRED, GROW, LOST

HISTORY = 16384  # segments whose times are kept: more than are ever outstanding


@dataclass(frozen=True, kw_only=True)
class Ns3Params(TcpParams):
    """Parameters of NewReno, of a connection that was opened before its data.

    Parameters
    ----------
    lost_at_full_ack : bool
        Whether the acknowledgement that ends recovery may declare the next segment lost (RFC 6582: no).
    """

    lost_at_full_ack: bool = True


@inlined
def pipe_bytes(params: Any, memory: Any, sub: Any) -> int:
    """Return what ns-3 believes to be in the network (``BytesInFlight``)."""
    flight = flight_bytes(params, sub) - memory.marked * params.mss_bytes
    if sub.una < sub.short_segment <= sub.una + memory.marked:
        flight += params.mss_bytes - sub.short_bytes
    if memory.head_lost and not memory.head_resent:
        flight -= payload_bytes(params, sub, sub.una)
    return flight


@inlined
def mark_next(memory: Any, sub: Any) -> None:
    """Mark a further segment behind the head (``AddRenoSack``)."""
    if sub.una + memory.marked + 1 < sub.high:
        memory.marked += 1


@inlined
def lose_head(memory: Any) -> None:
    """Declare the first outstanding segment lost (``MarkHeadAsLost``)."""
    memory.head_lost = 1
    memory.head_resent = 0


@inlined
def discard(memory: Any, sub: Any, segments: int) -> None:
    """Adjust marks when so many segments are acknowledged (``DiscardUpTo``)."""
    memory.head_lost = 0
    memory.head_resent = 0
    if segments > memory.marked:
        memory.marked = 0
        return
    memory.marked -= segments
    mark_next(memory, sub)
    lose_head(memory)


@inlined
def enter_recovery(params: Any, memory: Any, sub: Any) -> None:
    """Note what is halved, and send the head again (``EnterRecovery``)."""
    mark_next(memory, sub)
    lose_head(memory)
    sub.lost_flight_bytes = pipe_bytes(params, memory, sub) + params.mss_bytes
    sub.recover = sub.high
    sub.in_recovery = 1
    sub.partial_acks = 0
    sub.resend = 1


def send(params: Any, own: Any, sub: Any, ring: Any, packet: Any, now_ps: int) -> int:
    """Send the head if it counts as lost, then what the window allows (``SendPendingData``)."""
    memory = own.subflow
    segment = sub.next_segment
    if sub.resend or (memory.head_lost and not memory.head_resent):
        segment = sub.una
    if segment >= sub.end:
        return 0
    if not sub.resend and sub.cwnd_bytes - pipe_bytes(params, memory, sub) < payload_bytes(params, sub, segment):
        return 0
    sub.resend = 0
    if segment == sub.una and memory.head_lost:
        memory.head_resent = 1
    memory.sent_ps[segment % HISTORY] = now_ps if segment >= sub.high else NONE
    sub.next_segment = max(sub.next_segment, segment + 1)
    return send_segment(params, sub, packet, segment, now_ps)


def on_ack(params: Any, own: Any, sub: Any, ring: Any, packet: Any, now_ps: int) -> int:
    """Take an acknowledgement (``ReceivedAck``)."""
    memory = own.subflow
    if packet.ack > sub.una:
        return take_new(params, memory, sub, ring, packet, now_ps)
    if packet.ack < sub.una or sub.una == sub.high or memory.timed_out:
        return 0
    sub.dup_acks += 1
    if sub.in_recovery:
        mark_next(memory, sub)
        return DUPLICATE
    if sub.dup_acks == sub.dup_ack_threshold or (memory.head_lost and memory.marked):
        enter_recovery(params, memory, sub)
        return DUPLICATE | LOST
    mark_next(memory, sub)
    return DUPLICATE


@inlined
def time_oldest(params: Any, memory: Any, sub: Any, ack: int, now_ps: int) -> None:
    """Take the round trip of the oldest segment, sent once and since the last timeout (``EstimateRtt``)."""
    oldest = max(sub.una, memory.timed_from)
    if oldest < ack and memory.sent_ps[oldest % HISTORY] != NONE:
        take_sample(sub, now_ps - memory.sent_ps[oldest % HISTORY])
    set_rto(params, sub)


@inlined
def take_new(params: Any, memory: Any, sub: Any, ring: Any, packet: Any, now_ps: int) -> int:
    """Take an acknowledgement of new data (``ProcessAck``)."""
    time_oldest(params, memory, sub, packet.ack, now_ps)
    segments = packet.ack - sub.una
    advance(params, sub, ring, packet.ack)
    discard(memory, sub, segments)
    signals, restart = ACKED | GROW, True
    sub.dup_acks = 0
    if sub.in_recovery and sub.una < sub.recover:
        lose_head(memory)
        sub.resend = 1
        restart = sub.partial_acks == 0
        sub.partial_acks += 1
        signals = ACKED
    elif sub.in_recovery:
        sub.in_recovery = 0
        sub.cwnd_bytes = sub.ssthresh_bytes
        memory.head_lost &= params.lost_at_full_ack
    elif memory.timed_out and sub.una >= sub.recover:
        memory.timed_out = 0
        if sub.una == sub.recover:
            signals = ACKED
    if sub.una == sub.next_segment:
        sub.timer_ps = NONE
    elif restart:
        start_timer(sub, now_ps)
    return signals


def on_timeout(params: Any, own: Any, sub: Any, ring: Any, now_ps: int) -> int:
    """Forget all marks and go back to the head (``ReTxTimeout``)."""
    memory = own.subflow
    sub.lost_flight_bytes = pipe_bytes(params, memory, sub)
    memory.marked = 0
    memory.head_lost = 0
    memory.head_resent = 0
    memory.timed_out = 1
    memory.timed_from = sub.high
    sub.recover = sub.high
    sub.in_recovery = 0
    sub.dup_acks = 0
    sub.resend = 0
    sub.next_segment = sub.una
    back_off(params, sub, now_ps)
    return EXPIRED


NEWRENO_AS_IN_NS3 = replace(
    NEWRENO,
    name="newreno_as_in_ns3",
    send=send,
    on_ack=on_ack,
    on_timeout=on_timeout,
    params=Ns3Params(),
    memory={
        "subflow": (
            ("marked", "i8"),
            ("head_lost", "i8"),
            ("head_resent", "i8"),
            ("timed_out", "i8"),
            ("timed_from", "i8"),
            ("sent_ps", f"({HISTORY},)i8"),
        )
    },
)


def react(params: Any, own: Any, flow: Any, sub: Any, subs: Any, signals: int, now_ps: int) -> int:
    """Answer as Reno; what slow start leaves of an acknowledgement opens the window once more (``IncreaseWindow``)."""
    slow = sub.cwnd_bytes < sub.ssthresh_bytes
    if signals & GROW:
        grow(sub)
        if slow and sub.cwnd_bytes >= sub.ssthresh_bytes and sub.newly_acked_bytes >= 2 * sub.mss_bytes:
            grow(sub)
    answer_loss(sub, signals)
    return 0


RENO_AS_IN_NS3 = replace(RENO, name="reno_as_in_ns3", react=react)


def newreno_as_in_ns3(scheme: Scheme, **params: Any) -> Scheme:
    """Return a scheme of NewReno with this one in its place."""
    same = {field.name: getattr(scheme.long.transport.params, field.name) for field in fields(TcpParams)}
    transport = replace(NEWRENO_AS_IN_NS3, params=Ns3Params(**same, **params))
    stack = replace(scheme.long, transport=transport, congestion=RENO_AS_IN_NS3)
    return replace(scheme, short=stack, long=stack)
