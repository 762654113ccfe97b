"""A flow whose subflows share its stream, whose other end is the test (see :mod:`scripted`). Times are microseconds."""

from typing import Any

from support.engine_setups import flow_list, setup_of
from support.scripted import MSS, PAIR, US, Hosts

from capsim import Scheme
from capsim.engines.hosts import handlers
from capsim.records import ACK, DATA, RETRANSMITTED, SYN_ACK


class Shared:
    """Sender and receiver of one flow from the first host to the last; `n_segments` or `n_bytes` long."""

    def __init__(
        self,
        name: str | Scheme,
        *,
        n_segments: int = 1000,
        n_bytes: int = 0,
        kind: Any = PAIR,
        dst: int = -1,
        **parts: Any,
    ):
        target = kind.build().n_hosts - 1 if dst < 0 else dst
        self.hosts = Hosts(setup_of(kind, flow_list([(0, target, n_bytes or n_segments * MSS, 0.0)]), name, **parts))
        handlers.start(self.hosts, 0, 0)
        self.flow, self.now_us, self._read = self.hosts.flows[0], 0.0, 0

    @property
    def subs(self) -> Any:
        """Return the subflows that have been opened."""
        return self.hosts.subs

    def sent(self) -> list[tuple[int, int]]:
        """Return (subflow, data segment) of the data packets sent since the last call."""
        new = self.hosts.sent[self._read :]
        self._read = len(self.hosts.sent)
        return [(packet.sub, packet.data) for packet in new if packet.kind == DATA]

    def wake(self) -> float:
        """Go to the time at which further subflows are opened, open them, and return it."""
        self.now_us = self.flow.wake_ps / US
        handlers.wake(self.hosts, handlers.MANAGE, 0, self.flow.wake_ps)
        return self.now_us

    def ack(
        self, sub: int, ack: int, *, data_ack: int = 0, window: int = 0, at_us: float | None = None, rtt_us: float = 100
    ) -> list[tuple[int, int]]:
        """Take an acknowledgement; return what is sent for it."""
        return self._take(ACK, sub, at_us, rtt_us, ack=ack, data_ack=data_ack, window=window)

    def syn_ack(self, sub: int, *, at_us: float, rtt_us: float = 100) -> list[tuple[int, int]]:
        """Take a SYN-ACK."""
        return self._take(SYN_ACK, sub, at_us, rtt_us, ack=0, data_ack=0, window=0)

    def expire(self, sub: int) -> list[tuple[int, int]]:
        """Let the retransmission timer of a subflow fire."""
        deadline_ps = self.subs[sub].timer_ps
        self.now_us = deadline_ps / US
        handlers.wake(self.hosts, handlers.TIMEOUT, sub, deadline_ps)
        return self.sent()

    def data(self, sub: int, segment: int, data: int, *, again: bool = False) -> Any:
        """Let a data packet come to the receiver; return its reply, None if there is none."""
        before = len(self.hosts.sent)
        packet = self.hosts.arriving(
            sub, kind=DATA, segment=segment, data=data, bytes=MSS + 40, flags=RETRANSMITTED if again else 0
        )
        handlers.deliver(self.hosts, packet.number, round(self.now_us * US))
        return self.hosts.sent[before] if len(self.hosts.sent) > before else None

    def _take(self, kind: int, sub: int, at_us: float | None, rtt_us: float, **fields: int) -> list[tuple[int, int]]:
        self.now_us = self.now_us if at_us is None else at_us
        now_ps = round(self.now_us * US)
        packet = self.hosts.arriving(sub, kind=kind, flags=0, sent_ps=now_ps - round(rtt_us * US), **fields)
        handlers.deliver(self.hosts, packet.number, now_ps)
        return self.sent()
