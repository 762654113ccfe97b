"""A flow whose subflows share a coded stream, whose other end is the test (see :mod:`shared_sender`)."""

from dataclasses import dataclass, replace
from typing import Any

from support.engine_setups import ACCEPT, REFUSE, Queue
from support.shared_sender import Shared

from capsim import Scheme
from capsim.engines.hosts import handlers
from capsim.records import ACK, CODED, DATA, RETRANSMITTED

TWO = {"transport": {"initial_window_packets": 2}, "sharing": {"subflows": 2, "scheduler": "round_robin"}}


class Coded(Shared):
    """Sender and receiver of one coded flow."""

    @property
    def memory(self) -> Any:
        """Return what the layer keeps for the flow."""
        return self.hosts.flow[0][self.flow.stack, "layer"]

    def counted(self, name: str) -> int:
        """Return the sum of a counter of the layer over the subflows."""
        return sum(getattr(row[self.flow.stack, "layer"], name) for row in self.hosts.subflow)

    def option(self, packet: Any) -> Any:
        """Return what the layer has put into the header of a packet."""
        return self.hosts.packet[packet.number][self.flow.stack, "layer"]

    def mixed(self) -> list[tuple[int, list[int]]]:
        """Return (subflow, data segments in the order of mixing) of the coded packets sent so far."""
        coded = [packet for packet in self.hosts.sent if packet.kind == CODED]
        return [(packet.sub, self.option(packet).members[: self.option(packet).mixed]) for packet in coded]

    def combination(self, number: int, members: list[int], *, sub: int = 0) -> list[tuple[int, int, int]]:
        """Let a combination come; return (subflow, ack, data_ack) of the acknowledgements that leave for it."""
        packet = self.hosts.arriving(sub, kind=CODED, segment=min(members), stale=0)
        option = self.option(packet)
        option.number, option.mixed = number, len(members)
        option.members[: len(members)] = members
        return self.acks_for(packet)

    def of_block(self, unit: int, *, sub: int = 0, stale: int = 0) -> list[tuple[int, int, int]]:
        """Let a coded packet of a block come; return the acknowledgements that leave for it."""
        return self.acks_for(self.hosts.arriving(sub, kind=CODED, unit=unit, position=0, segment=0, stale=stale))

    def original(self, sub: int, segment: int, data: int, *, unit: int = 0) -> list[tuple[int, int, int]]:
        """Let a data packet come; return all acknowledgements that leave for it."""
        fields = {"segment": segment, "data": data, "bytes": 1500, "flags": 0, "unit": unit, "stale": 0}
        return self.acks_for(self.hosts.arriving(sub, kind=DATA, **fields))

    def acks_for(self, packet: Any) -> list[tuple[int, int, int]]:
        """Deliver a packet; return (subflow, ack, data_ack) of the acknowledgements that leave for it."""
        before = len(self.hosts.sent)
        handlers.deliver(self.hosts, packet.number, 0)
        return [(each.sub, each.ack, each.data_ack) for each in self.hosts.sent[before:] if each.kind == ACK]


@dataclass(frozen=True, kw_only=True)
class DataLosses:
    """Which data segments of a stream get lost the first time, at the links into `at_node`."""

    at_node: int
    first: int
    second: int = -1


def refuse_data(
    params: Any, own: Any, port: Any, packet: Any, queue_packets: int, queue_bytes: int, now_ps: int, u0: float
) -> int:
    """Refuse the packets listed."""
    listed = packet.kind == DATA and (packet.data == params.first or packet.data == params.second)
    return REFUSE if listed and port.to_node == params.at_node and not packet.flags & RETRANSMITTED else ACCEPT


def with_data_losses(base: Scheme, params: DataLosses) -> Scheme:
    """Return `base` with a queue that drops chosen data segments."""
    return replace(base, queue=Queue(name="refuse_data", admit=refuse_data, params=params))
