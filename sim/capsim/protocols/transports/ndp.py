"""NDP (Handley et al. 2017): a window at the rate of the link at once, then one packet for each PULL of the receiver.

============================ =========================================================== ==========================
Event                        What follows                                                Source
============================ =========================================================== ==========================
start                        `initial_window_packets` leave at once, no handshake        NDP, section 3.2
PULL                         one packet: the first of those of which only the header     the same; htsim,
                             has come, else a new one; with nothing to send it is kept   ``pull_packets``
NACK                         its packet is to be retransmitted, by a PULL                the same
ACK                          its packet has come; nothing is sent                        the same
no answer for an RTO         the packet is to be retransmitted, and one leaves at once   htsim, ``retransmit_packet``
nothing more is heard        one packet is sent without a PULL                           none: see below
============================ =========================================================== ==========================

There is no congestion control: what leaves is what the receiver asks for, at the rate of its link
(:mod:`~capsim.protocols.transports.ndp_receiver`). Headers tell what is missing, so that the timer is there for packets
and headers that are lost. PULLs can be lost too; they are counted, so the next one makes up for them, but not for the
last of a flow: where a sender waits for a PULL and has heard nothing for an RTO, it sends one packet without it. The
RTO follows the round trips of ACKs as in RFC 6298, above a least value, and does not double (htsim).

A packet counts as sent when it is handed to the NIC (htsim, ``NdpSrc::send_packet``, which stamps it and puts it into
the queue of the host). The wait there is a part of the round trips that the RTO follows.

Headers that find no room in a switch are lost: they do not return to their sender, which htsim leaves out too unless it
is asked for.
"""

from dataclasses import dataclass
from typing import Annotated, Any

from capsim.base import bounds
from capsim.base.inlined import inlined
from capsim.protocols.transports.answered import (
    PACKET,
    SEGMENT,
    SUBFLOW,
    first_missing,
    has_place,
    lose_late,
    send_one,
    set_earlier,
    take_answer,
)
from capsim.protocols.transports.ndp_receiver import HOST, PULLS, on_data, on_receive_timer
from capsim.protocols.transports.tcp import take_sample
from capsim.records import ESTABLISHED, NONE, RETRANSMITTED
from capsim.roles.components import SegmentParams, Transport
from capsim.roles.hooks import EXPIRED


@dataclass(frozen=True, kw_only=True)
class NdpParams(SegmentParams):
    """Parameters of NDP.

    Parameters
    ----------
    ack_bytes : int
        Size of an ACK, a NACK and a PULL, in bytes (htsim: 64).
    initial_window_packets : int
        Packets that leave at once (the paper: 30; htsim: 15). At least a bandwidth-delay product, or a flow alone does
        not fill its link.
    pull_share : float
        Rate of what PULLs ask for, as a share of the link's rate: a little less, so that queues drain (htsim: 0.99).
    min_rto_s : float
        The least RTO, in seconds (htsim: 5 ms).
    initial_rto_s : float
        RTO before the first ACK, in seconds (htsim: 20 ms).
    ecn : bool
        Whether data packets are ECN-capable; marks are of use to the marking of packets alone.
    mss_bytes, header_bytes, max_window_bytes : int
        As in :class:`~capsim.roles.components.SegmentParams`.
    """

    ack_bytes: Annotated[int, bounds.PACKET_BYTES] = 64
    initial_window_packets: Annotated[int, bounds.WINDOW_PACKETS] = 30
    pull_share: Annotated[float, bounds.PULL_SHARE] = 0.99
    min_rto_s: Annotated[float, bounds.RTO_S] = 0.005
    initial_rto_s: Annotated[float, bounds.RTO_S] = 0.02
    ecn: bool = False

    @property
    def receive_timer(self) -> bool:
        """Whether the receiver has a timer: for its PULLs."""
        return True


def open_(params: Any, own: Any, flow: Any, sub: Any, now_ps: int) -> int:
    """Open a subflow, which may send its first window."""
    sub.state = ESTABLISHED
    sub.max_window_bytes = max(params.max_window_bytes, params.mss_bytes)
    sub.cwnd_bytes = params.initial_window_packets * params.mss_bytes
    sub.rto_ps = params.initial_rto_ps
    own.subflow.heard_ps = now_ps
    return 0


def send(params: Any, own: Any, sub: Any, ring: Any, packet: Any, now_ps: int) -> int:
    """Send a packet of the first window, or one for a PULL: what is missing first."""
    memory, segment = own.subflow, sub.high
    is_pulled, begins = memory.pulled > memory.spent, memory.begun < params.initial_window_packets
    if sub.state != ESTABLISHED or not (is_pulled or begins):
        return 0
    if is_pulled and memory.missing:
        segment = first_missing(memory, sub, ring)
        begins = False
    elif not has_place(params, sub, segment):
        return 0
    elif segment >= sub.end:
        sub.ready = not sub.final
        return 0
    memory.begun += 1 if begins else 0
    memory.spent += 0 if begins else 1
    return send_one(params, own, sub, ring, packet, segment, now_ps)


@inlined
def measure(params: Any, sub: Any, packet: Any, now_ps: int) -> None:
    """Take a round trip for the RTO; a timer that was set with a longer one moves to the front."""
    take_sample(sub, now_ps - packet.sent_ps)
    sub.rto_ps = max(params.min_rto_ps, sub.srtt_ps + 4 * sub.rttvar_ps)
    if sub.timer_ps != NONE:
        sub.timer_ps = min(sub.timer_ps, now_ps + sub.rto_ps)


def on_ack(params: Any, own: Any, sub: Any, ring: Any, packet: Any, now_ps: int) -> int:
    """Take an ACK, a NACK or a PULL, all of which say what has come in order and how many PULLs have left."""
    memory = own.subflow
    memory.heard_ps = now_ps
    if not packet.flags & RETRANSMITTED:
        measure(params, sub, packet, now_ps)
    if own.packet.pulls > memory.told:
        memory.pulled += own.packet.pulls - memory.told
        memory.told = own.packet.pulls
    return take_answer(params, own, sub, ring, packet, now_ps)


def on_timeout(params: Any, own: Any, sub: Any, ring: Any, now_ps: int) -> int:
    """Send a packet for each that got no answer, without a PULL, or one where none has come for long."""
    memory = own.subflow
    expired = lose_late(params, own, sub, ring, now_ps)
    if expired == 0 and (memory.missing or (sub.una == sub.high and sub.high < sub.end)):
        due_ps = memory.heard_ps + sub.rto_ps
        if due_ps <= now_ps:
            memory.heard_ps = now_ps
            expired = 1
        else:
            set_earlier(sub, due_ps)
    memory.pulled += expired
    sub.timeouts += 1 if expired else 0
    return EXPIRED if expired else 0


NDP = Transport(
    name="ndp",
    open=open_,
    send=send,
    on_data=on_data,
    on_ack=on_ack,
    on_timeout=on_timeout,
    on_receive_timer=on_receive_timer,
    params=NdpParams(),
    memory={
        "subflow": (
            *PULLS,
            *SUBFLOW,
            ("begun", "i8"),  # packets of the first window that have left
            ("told", "i8"),  # the most PULLs that an acknowledgement has told of
            ("pulled", "i8"),  # packets that may leave: by PULLs and the timer
            ("spent", "i8"),  # those that have
            ("heard_ps", "i8"),  # when the receiver was heard last
        ),
        "host": HOST,
        "segment": SEGMENT,
        "packet": (*PACKET, ("pulls", "i8")),
    },
    reads_headers=True,
)
