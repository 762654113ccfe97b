"""NewReno with the habits of the ns-3 code that the authors of MMPTCP published (mkheirkhah/mmptcp, 2019).

* The handshake gives no RTT sample: the RTO is 1.5 s until data have been measured. The SYN waits 3 s.
* The SYN of a further subflow is sent once: if it is lost, the subflow never opens.
* The receiver refuses a segment that it has buffered. If a repaired hole of a subflow lies behind a gap of the stream,
  what was buffered behind the hole is passed on only when the stream moves on, and nobody tells the sender: its copies
  get the same acknowledgement until then, one timeout after the other.
* There is no acknowledgement of the stream: a flow is over when each subflow has all of its own acknowledged.

* A third duplicate starts a fast retransmit even if what was outstanding at the last recovery or timeout is not
  acknowledged. A timeout leaves the count of duplicates and `recover` as they are. Copies that the receiver refuses
  bring duplicates in this way, and these the next copy; without that a subflow waits for one doubled RTO after another.
* Each partial acknowledgement starts the timer again. FlightSize goes up to the highest segment sent. A fast retransmit
  inflates the window by three segments whatever its threshold. Windows have no sign: if a partial acknowledgement takes
  more than there is, only the receiver's window limits. An acknowledgement that ends recovery opens the window too.

Not modelled: RTT gains of 0.1 in whole milliseconds; a reset by a FIN before a handshake is over; the FINs that follow
the last data segment on each subflow. The answer to a FIN tells the sender what the receiver has passed on. Where a
subflow has fewer than three segments behind one that was refused, the last RTO of a flow is missing in that code:
1.4 MB alone over a host link of 100 Mb/s with a queue of 100 packets take 131 ms there, 309 ms here.
"""

from dataclasses import dataclass
from typing import Annotated, Any

from capsim.base import bounds
from capsim.base.inlined import inlined
from capsim.protocols.transports.newreno import go_back, send_next, take_acknowledgement
from capsim.protocols.transports.receiver import (
    enter_segment,
    note_arrival,
    pass_received,
    turn_round,
)
from capsim.protocols.transports.tcp import (
    SsthreshFrom,
    TcpParams,
    expire_syn,
    flight_bytes,
    open_subflow,
    send_opening,
    send_segment,
    set_rto,
)
from capsim.records import DATA, ESTABLISHED, HANDSHAKE_ACK, NONE, RECEIVED, SYN_SENT
from capsim.roles.components import Transport
from capsim.roles.hooks import ACKED, LOST, OPENED

WINDOW_VALUES = 2**32  # the code's windows are unsigned numbers of 32 bits


@dataclass(frozen=True, kw_only=True)
class Ns3Params(TcpParams):
    """Parameters of NewReno, with the defaults of the authors' code: sizes with the PPP header, windows, timers.

    Parameters
    ----------
    mss_bytes, header_bytes, ack_bytes, syn_bytes, initial_window_packets, initial_ssthresh_bytes
        As in :class:`~capsim.protocols.transports.tcp.TcpParams`.
    max_window_bytes : int
        The advertised window, of each subflow by itself.
    max_rto_s, keep_backoff, limited_transmit, handshake
        As in :class:`~capsim.protocols.transports.tcp.TcpParams`.
    initial_rto_s : float
        RTO of data before the first sample, in seconds.
    syn_rto_s : float
        RTO of the first SYN, doubled with each repetition, in seconds.
    sample_handshake : bool
        Whether the handshake gives an RTT sample (RFC 6298: yes).
    repeat_join_syns : bool
        Whether the SYN of a further subflow has a timer (RFC 8684: yes).
    refuse_buffered : bool
        Whether the receiver refuses a segment that it has buffered (RFC 5681: no).
    data_acks : bool
        Whether acknowledgements say what has come of the stream (RFC 8684: yes).
    careful : bool
        Whether a fast retransmit waits until what was outstanding at the last recovery or timeout is acknowledged
        (RFC 6582, section 3.2 step 2: yes).
    forget_at_timeout : bool
        Whether a timeout clears the count of duplicates and moves `recover` on (RFC 6582, section 3.2 step 4: yes).
        Without it the count begins anew at each acknowledgement of new data, also in recovery.
    impatient : bool
        Whether only the first partial acknowledgement starts the timer again (RFC 6582, section 3.2 step 3: yes).
    flight_to_highest : bool
        Whether FlightSize goes up to the highest segment sent when the sender has gone back after a timeout.
    inflate_by_three : bool
        Whether a fast retransmit inflates the window by three segments, or by as many as its threshold.
    wrap_window : bool
        Whether an inflated window below zero becomes one close to 2**32 bytes (RFC 6582 leaves one segment).
    grow_at_full_ack : bool
        Whether an acknowledgement that ends recovery opens the window too, after it was set to the smaller of ssthresh
        and one segment more than was outstanding before (RFC 6582, section 3.2 step 3: no).
    """

    mss_bytes: Annotated[int, bounds.PACKET_BYTES] = 1400
    header_bytes: Annotated[int, bounds.HEADER_BYTES] = 62
    max_window_bytes: Annotated[int, bounds.WINDOW_BYTES] = 65_535
    ack_bytes: Annotated[int, bounds.PACKET_BYTES] = 42
    syn_bytes: Annotated[int, bounds.PACKET_BYTES] = 50
    initial_window_packets: Annotated[int, bounds.WINDOW_PACKETS] = 1
    initial_ssthresh_bytes: Annotated[int, bounds.SSTHRESH_BYTES] = 65_535
    max_rto_s: Annotated[float, bounds.RTO_S] = 96.0
    initial_rto_s: Annotated[float, bounds.RTO_OR_NONE_S] = 1.5
    keep_backoff: bool = True
    limited_transmit: bool = False
    handshake: bool = True
    syn_rto_s: Annotated[float, bounds.RTO_S] = 3.0
    sample_handshake: bool = False
    repeat_join_syns: bool = False
    refuse_buffered: bool = True
    data_acks: bool = False
    careful: bool = False
    impatient: bool = False
    forget_at_timeout: bool = False
    flight_to_highest: bool = True
    inflate_by_three: bool = True
    wrap_window: bool = True
    grow_at_full_ack: bool = True


def open_(params: Any, own: Any, flow: Any, sub: Any, now_ps: int) -> int:
    """Open a subflow; its SYN has an RTO of its own."""
    open_subflow(params, sub, now_ps)
    if sub.state == SYN_SENT:
        sub.rto_ps = params.syn_rto_ps
    return 0


def send(params: Any, own: Any, sub: Any, ring: Any, packet: Any, now_ps: int) -> int:
    """Send as NewReno, but leave the SYN of a further subflow without a timer."""
    if sub.state != ESTABLISHED:
        filled = send_opening(params, sub, packet, now_ps)
        if sub.state == SYN_SENT and sub.number and not params.repeat_join_syns:
            sub.timer_ps = NONE
        return filled
    if sub.resend:
        sub.resend = 0
        return send_segment(params, sub, packet, sub.una, now_ps)
    return send_next(params, sub, packet, 0, now_ps)


@inlined
def sent_bytes(params: Any, sub: Any) -> int:
    """Return what is not acknowledged up to the highest segment sent, also after a timeout."""
    last = params.mss_bytes - sub.short_bytes if sub.una <= sub.short_segment < sub.high else 0
    return int((sub.high - sub.una) * params.mss_bytes - last)


@inlined
def note_flight(params: Any, sub: Any, flight: int) -> None:
    """Let the congestion control halve what was outstanding up to the highest segment sent."""
    if params.flight_to_highest and params.ssthresh_from == SsthreshFrom.FLIGHT:
        sub.lost_flight_bytes = flight


@inlined
def deflate(params: Any, sub: Any, window_bytes: int) -> None:
    """Take what a partial acknowledgement acknowledges from a window that holds no negative numbers."""
    sub.inflation_bytes = (window_bytes - sub.newly_acked_bytes + params.mss_bytes) % WINDOW_VALUES - sub.cwnd_bytes


@inlined
def adjust(params: Any, sub: Any, signals: int, recovering: int, window_bytes: int, flight: int) -> None:
    """Adjust what NewReno has done with an acknowledgement, by window and flight before it."""
    if signals & LOST:
        note_flight(params, sub, flight)
        if params.inflate_by_three:
            sub.inflation_bytes = 3 * params.mss_bytes
    if not signals & ACKED:
        return
    if not params.forget_at_timeout:
        sub.dup_acks = 0
    if sub.in_recovery and params.wrap_window:
        deflate(params, sub, window_bytes)
    if recovering and not sub.in_recovery and params.grow_at_full_ack:
        sub.cwnd_bytes = min(sub.ssthresh_bytes, flight + params.mss_bytes)


def on_ack(params: Any, own: Any, sub: Any, ring: Any, packet: Any, now_ps: int) -> int:
    """Take an acknowledgement; forget the sample of the handshake."""
    recovering, window_bytes, flight = sub.in_recovery, sub.cwnd_bytes + sub.inflation_bytes, sent_bytes(params, sub)
    signals = take_acknowledgement(params, sub, ring, packet, now_ps, params.careful, params.impatient)
    if signals & OPENED and not params.sample_handshake:
        sub.rtt_ps, sub.srtt_ps, sub.rttvar_ps = 0, 0, 0
        set_rto(params, sub)
    adjust(params, sub, signals, recovering, window_bytes, flight)
    return signals


def on_timeout(params: Any, own: Any, sub: Any, ring: Any, now_ps: int) -> int:
    """Go back to the first unacknowledged segment."""
    if sub.state == SYN_SENT:
        return expire_syn(params, sub, now_ps)
    recover, dup_acks, flight = sub.recover, sub.dup_acks, sent_bytes(params, sub)
    signals = go_back(params, sub, flight_bytes(params, sub) - sub.dup_acks * params.mss_bytes, now_ps)
    if not params.forget_at_timeout:
        sub.recover, sub.dup_acks = recover, dup_acks
    note_flight(params, sub, flight)
    return signals


@inlined
def take_or_refuse(memory: Any, sub: Any, ring: Any, packet: Any) -> None:
    """Enter a data packet; buffered ones count as received only while the stream moves on."""
    if min(packet.data, packet.data_ack) > memory.stream_next:  # it has moved since the last packet of this subflow
        pass_received(sub, ring)
    memory.stream_next = packet.data_ack
    if not enter_segment(sub, ring, packet) or packet.segment > sub.receive_next:
        return
    if packet.data < packet.data_ack:  # in order in the stream too
        pass_received(sub, ring)
    else:
        ring[packet.segment & sub.ring_mask] &= ~RECEIVED
        sub.receive_next += 1


def on_data(params: Any, own: Any, sub: Any, ring: Any, packet: Any, now_ps: int) -> int:
    """Acknowledge each packet at once with the next segment expected of its subflow."""
    if packet.kind == HANDSHAKE_ACK:
        return 0
    if packet.kind == DATA and sub.shared and params.refuse_buffered:
        take_or_refuse(own.subflow, sub, ring, packet)
    elif packet.kind == DATA:
        note_arrival(sub, ring, packet)
    if sub.shared and not params.data_acks:
        packet.data_ack = 0
    return turn_round(params, sub, packet)


NEWRENO_NS3 = Transport(
    name="newreno_ns3",
    open=open_,
    send=send,
    on_data=on_data,
    on_ack=on_ack,
    on_timeout=on_timeout,
    params=Ns3Params(),
    memory={"subflow": (("stream_next", "i8"),)},  # data segment that the stream expected at the last packet
)
