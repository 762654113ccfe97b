"""One subflow whose other end is the test: it writes the packets that come and reads those that leave.

No network runs. `Sender` and `Receiver` are the hosts of the engines (:mod:`capsim.engines.hosts.handlers`) with the
records of the reference engine, so that hooks are called as in a run; a test can state each acknowledgement and each
answer of an RFC by hand. Times are microseconds.
"""

from collections.abc import Iterable, Mapping, Sequence
from itertools import groupby
from types import SimpleNamespace
from typing import Any

from support.engine_setups import flow_list, record, setup_of

from capsim import Dumbbell, Scheme
from capsim.engines.hosts import handlers
from capsim.engines.hosts.primitives import on_sent
from capsim.engines.reference import Records
from capsim.engines.state import Setup
from capsim.records import ACK, DATA, NONE, PACKET, RETRANSMITTED, SYN_ACK

MSS = 1460
US = 10**6  # picoseconds
LEFT = {"flags": 0xFF, "bytes": 77, "priority": 7, "segment": 777, "ack": 777, "unit": 7, "sent_ps": 7}
PAIR = Dumbbell(hosts_per_side=1)

Blocks = Sequence[tuple[int, int]]


def new_packet(**values: Any) -> Any:
    """Return a packet with the given fields."""
    return record(PACKET, **values)


class Hosts(Records):
    """The end hosts of a set-up: what they send is kept in `sent`, and no event happens by itself.

    Packets were used before, as in an engine: what is left in them and in their options says nothing.
    """

    def __init__(self, setup: Setup):
        super().__init__(setup)
        self.sent: list[Any] = []
        self.port_objects = [SimpleNamespace(enqueue=self.send)] * setup.fabric.n_ports

    def send(self, packet: Any, now_ps: int) -> None:
        """Keep a packet, which the NIC takes at once."""
        self.sent.append(packet)
        if packet.kind == DATA and self.stacks[self.subs[packet.sub].stack].on_sent != 0:
            on_sent(self, packet.sub, packet.number, now_ps)

    def take_packet(self) -> int:
        """Return the number of a packet in which something is left."""
        number = super().take_packet()
        _set(self.packets[number], LEFT)
        for options in self.packet[number].values():
            _set(options, {name: _left_in(getattr(options, name)) for name in options.__slots__})
        return number

    def free_packet(self, number: int) -> None:
        """Take back a packet that does not leave."""
        self.unused.append(number)

    def arm(self, s: int) -> None:
        """Leave the timers of a subflow to the test."""

    def arm_flow(self, f: int) -> None:
        """Leave the timer of a flow to the test."""

    def arriving(self, s: int, **values: Any) -> Any:
        """Return a packet of subflow `s` that is about to be delivered; flags that are not given are 0."""
        packet = self.packets[self.take_packet()]
        _set(packet, {"flags": 0} | values | {"sub": s})
        return packet


class Endpoint:
    """A flow of `n_segments`, the last of them of `last_bytes`, with the stack that a scheme has for its size."""

    def __init__(
        self,
        name: str | Scheme = "ecmp",
        *,
        n_segments: int = 1000,
        last_bytes: int = MSS,
        congestion: Mapping[str, Any] | None = None,
        **transport: Any,
    ):
        flows = flow_list([(0, 1, (n_segments - 1) * MSS + last_bytes, 0.0)])
        setup = setup_of(PAIR, flows, name, transport=transport, congestion=congestion or {})
        self.hosts = Hosts(setup)
        handlers.start(self.hosts, 0, 0)
        self.sub = self.hosts.subs[0]

    def own(self, role: str) -> Any:
        """Return what the component of that role keeps for the subflow."""
        return self.hosts.subflow[self.sub.id][self.sub.stack, role]

    def options(self, packet: Any) -> Any:
        """Return what the transport has put into a packet as options."""
        return self.hosts.packet[packet.number][self.sub.stack, "transport"]

    @property
    def sack_blocks(self) -> int:
        """Return how many SACK blocks an acknowledgement has room for; 0 for a transport without them."""
        return getattr(self.hosts.stacks[self.sub.stack].transport, "sack_blocks", 0)


class Sender(Endpoint):
    """The sending side; `packets` are all that it has sent, with their times in `times_us`."""

    def __init__(self, name: str | Scheme = "ecmp", **options: Any):
        super().__init__(name, **options)
        self.packets = self.hosts.sent
        self.times_us: list[float] = []
        self.now_us: float = 0.0
        self._new_segments()

    def ack(
        self,
        ack: int,
        *,
        at_us: float | None = None,
        rtt_us: float = 100,
        blocks: Blocks = (),
        flags: int = 0,
        twice: int | None = None,
        trimmed: int | None = None,
    ) -> list[int]:
        """Take one acknowledgement, of a packet sent `rtt_us` ago; return the segments that leave for it.

        `twice` is the segment that it reports as received once more, `trimmed` one of which only the header came.
        """
        return self._take(ACK, at_us, rtt_us, flags, ack=ack, blocks=blocks, twice=twice, trimmed=trimmed)

    def acks(self, first: int, last: int) -> list[int]:
        """Take one acknowledgement for each segment from `first` on, up to that with ack number `last`."""
        return [segment for ack in range(first, last + 1) for segment in self.ack(ack)]

    def duplicates(self, ack: int, count: int) -> list[list[int]]:
        """Take `count` duplicate acknowledgements; return what leaves for each of them."""
        return [self.ack(ack) for _ in range(count)]

    def syn_ack(self, *, at_us: float, rtt_us: float, flags: int = 0) -> list[int]:
        """Take the SYN-ACK."""
        return self._take(SYN_ACK, at_us, rtt_us, flags, ack=0)

    def expire(self) -> list[int]:
        """Go to the deadline of the retransmission timer and let it fire."""
        assert self.sub.timer_ps != NONE
        self.now_us = self.sub.timer_ps / US
        handlers.wake(self.hosts, handlers.TIMEOUT, self.sub.id, self.sub.timer_ps)
        return self._new_segments()

    @property
    def cwnd(self) -> float:
        """Return the window in force in segments: the congestion window, and what recovery has added to it."""
        return float((self.sub.cwnd_bytes + self.sub.inflation_bytes) / MSS)

    @property
    def ssthresh(self) -> float:
        """Return the slow-start threshold in segments."""
        return float(self.sub.ssthresh_bytes / MSS)

    @property
    def timer_us(self) -> float | None:
        """Return when the retransmission timer fires, None when it is off."""
        return None if self.sub.timer_ps == NONE else self.sub.timer_ps / US

    def _take(
        self,
        kind: int,
        at_us: float | None,
        rtt_us: float,
        flags: int,
        *,
        ack: int,
        blocks: Blocks = (),
        twice: int | None = None,
        trimmed: int | None = None,
    ) -> list[int]:
        self.now_us = self.now_us if at_us is None else at_us
        now_ps = round(self.now_us * US)
        sent_ps = now_ps - round(rtt_us * US)
        packet = self.hosts.arriving(self.sub.id, kind=kind, flags=flags, sent_ps=sent_ps, ack=ack)
        assert len(blocks) <= self.sack_blocks
        if hasattr(self.options(packet), "duplicate"):
            self.options(packet).duplicate = 0 if twice is None else twice + 1
            self.options(packet).trimmed = 0 if trimmed is None else trimmed + 1
        for index in range(self.sack_blocks):
            block = blocks[index] if index < len(blocks) else (0, 0)
            self.options(packet).sack_first[index], self.options(packet).sack_end[index] = block
        handlers.deliver(self.hosts, packet.number, now_ps)
        return self._new_segments()

    def _new_segments(self) -> list[int]:
        """Note the time of what has been sent since the last call; return the segments of the data packets."""
        new = self.packets[len(self.times_us) :]
        self.times_us += [self.now_us] * len(new)
        return [packet.segment for packet in new if packet.kind == DATA]


class Receiver(Endpoint):
    """The receiving side."""

    def take(self, segment: int, *, flags: int = 0) -> Any:
        """Take a data packet and return its acknowledgement."""
        return self.reply(DATA, segment=segment, bytes=MSS + 40, flags=flags)

    def reply(self, kind: int, **fields: Any) -> Any:
        """Take a packet of any kind and return the reply, None when there is none."""
        before, packet = len(self.hosts.sent), self.hosts.arriving(self.sub.id, kind=kind, **fields)
        handlers.deliver(self.hosts, packet.number, 0)
        return self.hosts.sent[before] if len(self.hosts.sent) > before else None

    def blocks(self, packet: Any) -> list[tuple[int, int]]:
        """Return the SACK blocks [first, end) of an acknowledgement, in its order; unused ones are 0 and come last."""
        options = self.options(packet)
        pairs = list(zip(options.sack_first, options.sack_end, strict=True))[: self.sack_blocks]
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


def _left_in(field: Any) -> Any:
    return [LEFT["segment"]] * len(field) if isinstance(field, list) else LEFT["segment"]


def _set(target: Any, values: Mapping[str, Any]) -> None:
    for name, value in values.items():
        setattr(target, name, value)
