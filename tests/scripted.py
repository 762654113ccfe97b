"""One TCP connection whose other end is the test: it writes the packets that come and reads those that leave.

No engine runs. `Sender` and `Receiver` call the hooks of a transport on slotted records, as an engine would, so that a
test can state each acknowledgement and each answer of an RFC by hand. Times are microseconds.
"""

from collections.abc import Iterable, Sequence
from itertools import groupby
from typing import Any

import numpy as np
from engine_setups import flow_list, setup_of

from capsim import Dumbbell, Scheme
from capsim.records import ACK, DATA, MAX_SACK_BLOCKS, NONE, PACKET, RETRANSMITTED, SYN_ACK, slotted
from capsim.state import initial_state

MSS = 1460
US = 10**6  # picoseconds
LEFT = {"flags": 0xFF, "bytes": 77, "priority": 7, "segment": 777, "ack": 777, "unit": 7, "sent_ps": 7}
PAIR = Dumbbell(hosts_per_side=1)

Blocks = Sequence[tuple[int, int]]


def new_packet(**values: Any) -> Any:
    """Return a packet with the given fields."""
    packet = slotted(PACKET)(np.zeros((), PACKET))
    packet.sack_first, packet.sack_end = [0] * MAX_SACK_BLOCKS, [0] * MAX_SACK_BLOCKS
    for name, value in values.items():
        setattr(packet, name, value)
    return packet


class Endpoint:
    """A connection of `n_segments`, the last of them of `last_bytes`, and the hooks of a scheme's transport."""

    def __init__(self, name: str | Scheme = "ecmp", *, n_segments: int = 1000, last_bytes: int = MSS, **transport: Any):
        flow_bytes = (n_segments - 1) * MSS + last_bytes
        setup = setup_of(PAIR, flow_list([(0, 1, flow_bytes, 0.0)] * 2), name, transport=transport)
        state = initial_state(setup)
        self.hooks = setup.scheme.transport
        self.params = _row(state.params["transport"], 0)
        self.conn = _row(state.conns, 1)  # the flags of another connection come before its own
        self.segments = bytearray(len(state.segments))


class Sender(Endpoint):
    """The sending side; `packets` are all that it has sent, with their times in `times_us`."""

    def __init__(self, name: str | Scheme = "ecmp", **options: Any):
        super().__init__(name, **options)
        self.packets: list[Any] = []
        self.times_us: list[float] = []
        self.now_us: float = 0.0
        self.hooks.open(self.params, self.conn, 0)
        self._pump()

    def ack(
        self, ack: int, *, at_us: float | None = None, rtt_us: float = 100, blocks: Blocks = (), flags: int = 0
    ) -> list[int]:
        """Hear one acknowledgement, of a packet sent `rtt_us` ago; return the segments that leave for it."""
        return self._hear(ACK, at_us, rtt_us, flags, ack=ack, **_options(blocks))

    def acks(self, first: int, last: int) -> list[int]:
        """Hear one acknowledgement for each segment from `first` on, up to that with ack number `last`."""
        return [segment for ack in range(first, last + 1) for segment in self.ack(ack)]

    def duplicates(self, ack: int, count: int) -> list[list[int]]:
        """Hear `count` duplicate acknowledgements; return what leaves for each of them."""
        return [self.ack(ack) for _ in range(count)]

    def syn_ack(self, *, at_us: float, rtt_us: float, flags: int = 0) -> list[int]:
        """Take the SYN-ACK."""
        return self._hear(SYN_ACK, at_us, rtt_us, flags, ack=0)

    def expire(self) -> list[int]:
        """Go to the deadline of the retransmission timer and let it fire."""
        assert self.conn.timer_ps != NONE
        self.now_us = self.conn.timer_ps / US
        self.hooks.expire(self.params, self.conn, self.segments, self.conn.timer_ps)
        return self._pump()

    @property
    def cwnd(self) -> float:
        """Return the congestion window in segments."""
        return float(self.conn.cwnd_bytes / MSS)

    @property
    def ssthresh(self) -> float:
        """Return the slow-start threshold in segments."""
        return float(self.conn.ssthresh_bytes / MSS)

    @property
    def timer_us(self) -> float | None:
        """Return when the retransmission timer fires, None when it is off."""
        return None if self.conn.timer_ps == NONE else self.conn.timer_ps / US

    def _hear(self, kind: int, at_us: float | None, rtt_us: float, flags: int, **fields: Any) -> list[int]:
        self.now_us = self.now_us if at_us is None else at_us
        now_ps = round(self.now_us * US)
        packet = new_packet(kind=kind, flags=flags, sent_ps=now_ps - round(rtt_us * US), **fields)
        self.hooks.hear(self.params, self.conn, self.segments, packet, now_ps)
        return self._pump()

    def _pump(self) -> list[int]:
        """Send until the transport has nothing more to send; return the segments of the data packets.

        It gets packets that were used before, as from an engine: what is left in them says nothing.
        """
        before, packet = len(self.packets), new_packet(**LEFT)
        while self.hooks.send(self.params, self.conn, self.segments, packet, round(self.now_us * US)):
            self.packets.append(packet)
            self.times_us.append(self.now_us)
            packet = new_packet(**LEFT)
        return [packet.segment for packet in self.packets[before:] if packet.kind == DATA]


class Receiver(Endpoint):
    """The receiving side."""

    def take(self, segment: int, *, flags: int = 0) -> Any:
        """Take a data packet and return its acknowledgement."""
        return self.reply(DATA, segment=segment, bytes=MSS + 40, flags=flags)

    def reply(self, kind: int, **fields: Any) -> Any:
        """Take a packet of any kind and return the reply, None when there is none."""
        packet = new_packet(kind=kind, **fields)
        return packet if self.hooks.receive(self.params, self.conn, self.segments, packet, 0) else None


def blocks_of(packet: Any) -> list[tuple[int, int]]:
    """Return the SACK blocks [first, end) of an acknowledgement, in its order; unused ones are 0 and come last."""
    pairs = list(zip(packet.sack_first, packet.sack_end, strict=True))
    used = pairs.index((0, 0)) if (0, 0) in pairs else len(pairs)
    assert all(pair == (0, 0) for pair in pairs[used:])
    return pairs[:used]


def runs_above(received: Iterable[int], ack: int) -> list[tuple[int, int]]:
    """Return the maximal runs [first, end) of received segments above the cumulative acknowledgement."""
    above = sorted(segment for segment in received if segment > ack)
    groups = groupby(enumerate(above), key=lambda pair: pair[1] - pair[0])
    runs = [[segment for _, segment in group] for _, group in groups]
    return [(run[0], run[-1] + 1) for run in runs]


def resent(sender: Sender) -> list[int]:
    """Return the segments that were sent again, in order."""
    return [packet.segment for packet in sender.packets if packet.kind == DATA and packet.flags & RETRANSMITTED]


def _options(blocks: Blocks) -> dict[str, list[int]]:
    padded = [*blocks, *[(0, 0)] * MAX_SACK_BLOCKS][:MAX_SACK_BLOCKS]
    return {"sack_first": [first for first, _ in padded], "sack_end": [end for _, end in padded]}


def _row(table: Any, number: int) -> Any:
    return slotted(table.dtype)(table[number])
