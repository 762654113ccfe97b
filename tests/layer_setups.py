"""One end of a subflow, as the reference engine makes its records: the test writes each packet and reads what comes.

No event happens. A test calls the hooks through the callers of the engine (:mod:`capsim.engines.primitives`), so it
knows nothing of how an engine finds parameters, own memory and flags. At the end: own records of a finished run.
"""

from typing import Any

from engine_setups import flow_list, setup_of

from capsim import Dumbbell, Scheme
from capsim.engines import primitives
from capsim.engines.reference import Network
from capsim.engines.subflows import enter_subflow
from capsim.state import RawRecords

MSS = 1460
PAIR = Dumbbell(hosts_per_side=1)
LEFT = {"flags": 0xFF, "bytes": 77, "priority": 7, "segment": 777, "ack": 777, "unit": 7, "sent_ps": 7}


class LayerEnd:
    """A subflow of `n_segments` that is not opened yet, and the layer of its scheme.

    Another subflow comes before it, so that it has neither the first own memory nor the first flags.
    """

    def __init__(self, name: str | Scheme, *, n_segments: int, **changes: Any):
        setup = setup_of(PAIR, flow_list([(0, 1, n_segments * MSS, 0.0)] * 2), name, **changes)
        self.network = Network(setup)
        for flow in range(2):
            self.number = self.network.new_subflow(flow)
            enter_subflow(self.network, flow, self.number, 0)
            self.sub = self.network.subs[self.number]
            self.network.ring(self.sub)
        self.memory = self.network.subflow[self.number][self.sub.stack, "layer"]
        self.network.spare_units()
        self.units = self.network.units
        self.counters = self.network.counters[0]
        self.now_ps = 0

    def packet(self, **values: Any) -> Any:
        """Return a packet with these fields; in the others is what an earlier use of it has left."""
        packet = self.network.packets[self.network.take_packet()]
        for name, value in (LEFT | values).items():
            setattr(packet, name, value)
        return packet

    def call(self, hook: str, packet: Any) -> int:
        """Call a hook with a packet and return its answer."""
        return int(getattr(primitives, hook)(self.network, self.number, packet.number, self.now_ps))

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
