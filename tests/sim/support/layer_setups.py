"""The layer of one subflow, packet by packet; and what layers kept in a finished run."""

from typing import Any

from support.engine_setups import flow_list, setup_of
from support.scripted import MSS, PAIR, Hosts

from capsim import Scheme
from capsim.engines.hosts import primitives
from capsim.engines.hosts.subflows import enter_subflow
from capsim.engines.state import RawRecords


class LayerEnd:
    """A subflow of `n_segments` that is not opened yet, and the layer of its scheme.

    Another subflow comes before it, so that it has neither the first own memory nor the first flags.
    """

    def __init__(self, name: str | Scheme, *, n_segments: int, **changes: Any):
        self.hosts = Hosts(setup_of(PAIR, flow_list([(0, 1, n_segments * MSS, 0.0)] * 2), name, **changes))
        for flow in range(2):
            self.number = self.hosts.new_subflow(flow)
            enter_subflow(self.hosts, flow, self.number, 0)
            self.sub = self.hosts.subs[self.number]
        self.memory = self.hosts.subflow[self.number][self.sub.stack, "layer"]
        self.units, self.counters = self.hosts.units, self.hosts.counters[0]
        self.now_ps = 0

    def packet(self, **values: Any) -> Any:
        """Return a packet with these fields; in the others is what an earlier use of it has left."""
        return self.hosts.arriving(self.number, **values)

    def call(self, hook: str, packet: Any) -> int:
        """Call a hook with a packet and return its answer."""
        return int(getattr(primitives, hook)(self.hosts, self.number, packet.number, self.now_ps))

    def all_of(self, hook: str) -> list[Any]:
        """Return the packets that a hook fills in until it returns 0."""
        found, packet = [], self.packet()
        while self.call(hook, packet):
            found.append(packet)
            packet = self.packet()
        return found


def layer_memory(records: RawRecords) -> Any:
    """Return what the layer of short flows kept, by subflow."""
    return records.own.records("subflow", (0, "layer"))


def units_of(records: RawRecords) -> Any:
    """Return the coding units."""
    return records.own.records("unit", (0, "layer"))
