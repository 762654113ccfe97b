"""The decisions that protocols make, each a plain function with one fixed signature: a hook.

``HOOKS`` lists them: who decides, from what, and what the answer means. Types for the compiled engine, the code
that calls a hook and the documentation are made from that table.

A hook decides from what it is given and writes to the records that it is given. It knows no engine, no clock and no
generator: the time and a uniform number are arguments. It must stay within what Numba compiles without allocating:
numbers, records, ``if`` and loops, and module-level functions marked :func:`~capsim.base.inlined.inlined`.
Records have the fields of a NumPy dtype and no class, so an annotation of them would say nothing but Any.

================= =====================================================================================================
Argument          What it is
================= =====================================================================================================
``params``        parameters of the component as a record: the same names, except that a time ``rto_s`` is ``rto_ps``
``own``           the component's own state by scope (:mod:`capsim.roles.own`): ``own.subflow.alpha``
``flow, sub``     FLOW and SUBFLOW of :mod:`capsim.records`
``subs``          all subflows by number; those of a flow are ``flow.first_sub``, then ``sub.next_sub``, to NONE
``ring``          one byte of flags per segment in flight of a subflow, at ``ring[segment & sub.ring_mask]``
``maps``          of flows whose subflows share a stream: the data segment of each segment in flight, at
                  ``maps[sub.ring + (segment & sub.ring_mask)]``
``data``          of such flows: flags of each data segment in flight, at ``data[flow.data_ring + (segment &
                  flow.data_mask)]``
``packet``        PACKET; ``packets`` are all of them
``counters``      COUNTERS: a layer takes a new coding unit by ``counters.units``
``switch``        SWITCH; ``ports`` are all ports, ``candidates`` the numbers of those on a shortest path
``port``          PORT; its queue in ``queue_packets``, ``queue_bytes``
``signals``       what has happened: a sum of signals, of which ``signals & ACKED`` tests one
``now_ps``        the time, in picoseconds
``u0``            a uniform number on [0, 1) where the component says ``draws=True``, else 0. `admit` has one for each
                  packet that comes to a port: the same one when it is asked again after EVICT, TRIM or TRIM_LAST
================= =====================================================================================================

================= =====================================================================================================
Signal            What has happened
================= =====================================================================================================
ACKED             new data are acknowledged, so many bytes: ``sub.newly_acked_bytes``, which else is an old number
GROW              so, and no loss is being repaired: the window may open
DUPLICATE         an acknowledgement has come that acknowledges nothing new while data are in flight
LOST              a loss was found by duplicates, SACK blocks, time or a trimmed header; ``sub.lost_flight_bytes`` were
                  in flight
CERTAIN           beside LOST: the loss is no guess, so that what follows it cannot be in vain
EXPIRED           the retransmission timer has fired
EXPIRED_AGAIN     beside EXPIRED: for a segment for which it has fired before
MARKED            the acknowledgement echoes a mark (ECN)
HEADER            the acknowledgement answers the header of a packet that was trimmed
OPENED            the handshake is over
COMPLETE          the receiver has the whole stream
DATA_ACKED        new data of a shared stream are acknowledged
JOINED            the subflows that `note` asked for are being opened
================= =====================================================================================================

What happens at an end host::

    open, then send until it returns 0                                  when a subflow is opened
    on_ack, learn, react, send until 0      at the sender, when an ACK or SYN-ACK has come
    on_timeout, learn, react, send until 0  at the sender, when ``sub.timer_ps`` is reached
    on_data                                 at the receiver, when DATA or a SYN has come
    on_receive_timer                        at the receiver, when ``sub.receive_wake_ps`` is reached
    on_sent                                 at the sender, when its NIC begins to send a packet with data

A packet that waits in its host has left `send` and has not come to `on_sent`. One that the NIC drops, or that a layer
keeps, comes to `on_sent` then. The NIC may know the time before: ``now_ps`` of `on_sent` can be yet to come.

`learn` is given the acknowledgement; its ``packet.entropy`` is that of the packet that it answers, as `mark` wrote it.
At a timeout it is given a packet that says nothing, not even that. The answer to the header of a trimmed packet, for
which a transport gives the signal HEADER, says it too, unless the port of the receiver's own link has trimmed it, which
no other path leads around.

Of a packet that a port has trimmed only the header comes. One with data goes to `on_data` at once, past the layer, if
the transport says that it `reads_headers`; all others end there.

With a layer: each packet that `send` filled in is given to `accept`. It is then sent (PASS), kept by the layer
(KEEP), or sent with packets of the layer right behind it (FOLLOW: `emit` is called at once). When `send` has returned 0
(unless the layer says by ``emits_unasked`` that this is in vain), and when ``sub.send_wake_ps`` is reached, `emit` is
called until it returns 0. At the receiver a packet is given to `collect`: the layer has taken what it needs of it
(TAKE), it goes to `on_data` (DELIVER), or it is held (HOLD). Then, and when ``sub.receive_wake_ps`` is reached,
`release` is called until it returns 0; each packet that it fills in goes to `on_data`. After that `resume` is called
with the first of the held packets, in order of segments, as long as it returns 1 and there is one; these go to
`on_data`. A layer that knows that it has nothing ready answers DELIVER_ALONE instead of DELIVER: the packet goes to
`on_data`, and that is all.

Of subflows that share a stream, the layer sees the stream too. At the sender, `combine` is given each packet that
`send` filled in, and names the subflow on which coded packets leave behind it: `emit` is called for that. At the
receiver, after `release`, `recover` is called until it returns 0; each packet that it fills in carries a decoded data
segment. It goes to `on_data` of the subflow ``packet.sub`` that was to carry it, as ``packet.segment`` of that, and so
is acknowledged there; or, with ``packet.segment`` NONE, to the stream only.

Where a scenario says how long coding takes a host (``[hosts]``), each packet that leaves the sender is given to
`encodes`, and each that comes to the receiver to `decodes`. If the answer is 1, the packet first passes the processor
of its host, and is then given to the NIC or to `collect`.
"""

from collections.abc import Callable
from dataclasses import dataclass
from functools import cache
from typing import Any

from capsim.base.inlined import inlined
from capsim.records import NONE

Hook = Callable[..., int]

# Decisions of Queue.admit; after the last three it is asked again
ACCEPT, MARK, REFUSE, EVICT = 0, 1, 2, 3
TRIM, TRIM_LAST = 4, 5  # cut the arriving packet, or the last one with data that waits, down to its header


@inlined
def has_room(port: Any, packet: Any, queue_packets: int, queue_bytes: int) -> bool:
    """Return whether a packet fits into the queue of a port: all that a queue without `admit` asks (DropTail)."""
    fits_packets = port.limit_packets == NONE or queue_packets < port.limit_packets
    return fits_packets and (port.limit_bytes == NONE or queue_bytes + packet.bytes <= port.limit_bytes)


# Decisions of Layer.accept
PASS, KEEP, FOLLOW = 0, 1, 2

# Decisions of Layer.collect
TAKE, DELIVER, HOLD, DELIVER_ALONE = 0, 1, 2, 3

# Signals: what on_ack, on_timeout and the host report to Congestion.react and Sharing.note
ACKED, GROW, LOST, EXPIRED, EXPIRED_AGAIN, DUPLICATE, MARKED = 1, 2, 4, 8, 16, 32, 64
OPENED, COMPLETE, DATA_ACKED, JOINED, CERTAIN, HEADER = 128, 256, 512, 1024, 2048, 4096


@dataclass(frozen=True)
class Signature:
    """Who makes a decision, from what, and what the answer means."""

    role: str
    arguments: tuple[str, ...]
    returns: str


def _signature(role: str, arguments: str, returns: str) -> Signature:
    return Signature(role, tuple(arguments.split()), returns)


_PACKET = "params own sub ring packet now_ps"
_LAYER = "params own flow sub counters packet now_ps"
_DECODER = "params own flow sub ring packet now_ps"

HOOKS = {
    "open": _signature("transport", "params own flow sub now_ps", "0"),
    "send": _signature("transport", _PACKET, "1: `packet` is filled in"),
    "on_data": _signature("transport", _PACKET, "1: `packet` is the reply"),
    "on_ack": _signature("transport", _PACKET, "signals"),
    "on_timeout": _signature("transport", "params own sub ring now_ps", "signals"),
    "on_receive_timer": _signature("transport", _PACKET, "1: `packet` is an acknowledgement that leaves now"),
    "on_sent": _signature("transport", _PACKET, "0"),
    "react": _signature("congestion", "params own flow sub subs signals now_ps", "0"),
    "begin": _signature(
        "sharing", "params own flow now_ps", "how many subflows to open now; ``flow.to_open`` more at ``flow.wake_ps``"
    ),
    "schedule": _signature(
        "sharing", "params own flow subs maps data now_ps", "the subflow that was granted a data segment, or NONE"
    ),
    "note": _signature(
        "sharing",
        "params own flow sub subs maps data signals now_ps u0",
        "how many further subflows to open at ``flow.wake_ps``",
    ),
    "accept": _signature("layer", _LAYER, "PASS, KEEP, FOLLOW"),
    "combine": _signature(
        "layer",
        "params own flow sub subs maps data counters packet now_ps",
        "the subflow on which coded packets are to follow, or NONE",
    ),
    "emit": _signature("layer", _LAYER, "1: `packet` is filled in"),
    "collect": _signature("layer", _DECODER, "TAKE, DELIVER, HOLD, DELIVER_ALONE"),
    "release": _signature("layer", _DECODER, "1: `packet` is filled in and goes to the transport"),
    "recover": _signature(
        "layer",
        "params own flow sub subs maps data packet now_ps",
        "1: `packet` is filled in with a data segment that was decoded",
    ),
    "resume": _signature("layer", _DECODER, "1: the held `packet` goes to the transport"),
    "observe": _signature("layer", "params own flow sub packet now_ps", "0"),
    "encodes": _signature("layer", "params own flow sub packet", "1: its host computes `packet` before it leaves"),
    "decodes": _signature("layer", "params own flow sub ring packet", "1: the decoder computes with `packet`"),
    "mark": _signature(
        "marking", "params own flow sub packet u0", "the hash of the packet's addresses and port numbers"
    ),
    "learn": _signature("marking", "params own flow sub packet signals now_ps", "0"),
    "choose": _signature("balancer", "params own switch sub packet ports candidates now_ps u0", "index of a candidate"),
    "see": _signature("balancer", "params own switch sub packet port now_ps", "0"),
    "admit": _signature(
        "queue",
        "params own port packet queue_packets queue_bytes now_ps u0",
        "ACCEPT, MARK, REFUSE, EVICT, TRIM, TRIM_LAST",
    ),
    "take": _signature("queue", "params own port packets now_ps", "number of the waiting packet to send"),
    "leave": _signature("queue", "params own port packet now_ps", "MARK, or ACCEPT: without one"),
    "evict": _signature(
        "queue", "params own port packets packet now_ps", "number of the waiting packet to lose, or NONE: `packet`"
    ),
    "rank": _signature("nic", "params own port packet now_ps", "a number: of all that wait the smallest leaves first"),
}

HOST_ROLES = ("transport", "congestion", "sharing", "layer", "marking")
NETWORK_ROLES = ("balancer", "queue", "nic")
ROLES = HOST_ROLES + NETWORK_ROLES


@cache
def hooks_of(role: str) -> tuple[str, ...]:
    """Return the names of the hooks of a role.

    Examples
    --------
    >>> hooks_of("congestion")
    ('react',)
    """
    return tuple(name for name, hook in HOOKS.items() if hook.role == role)


def is_own(function: Callable[..., Any]) -> bool:
    """Return whether a hook or a function that it calls is a user's: not one of this package."""
    return function.__module__.partition(".")[0] not in ("capsim", "capsmodel")
