"""The records of the reference engine: the same tables as plain objects, and back."""

from typing import Any

import numpy as np

from capsim import records
from capsim.records import fill, slotted
from capsim.state import RawRecords, Setup, initial_state


class Records:
    """All records of a run as objects with slots."""

    def __init__(self, setup: Setup):
        self.setup, self.state = setup, initial_state(setup)
        self.params = {name: slotted(record.dtype)(record[0]) for name, record in self.state.params.items()}
        self.conns = _objects(self.state.conns)
        self.flows = _objects(self.state.flows)
        self.estimators = _objects(self.state.estimators)
        self.switches = _objects(self.state.switches)
        self.balancer_state = _objects(self.state.balancer_state)
        self.port_records = _objects(self.state.ports)
        self.counters = _objects(self.state.counters)[0]
        self.segments = bytearray(len(self.state.segments))
        self.candidates = self.state.candidates.tolist()
        self.trace: list[tuple[int, ...]] = []
        self.probes: list[tuple[int, ...]] = []
        self.pool: list[Any] = []
        self.units: list[Any] = []
        self.unit_margin = int(self.state.conns["ring_mask"].max(initial=0)) + 2  # a window can close as many at once
        self._packet, self._unit = slotted(records.PACKET), slotted(records.UNIT)
        self.spare_units()

    def new_packet(self) -> Any:
        """Return a packet that is not in the network."""
        return self.pool.pop() if self.pool else self._packet(np.zeros((), records.PACKET))

    def spare_units(self) -> None:
        """Keep unused coding units at hand."""
        while len(self.units) < self.counters.units + self.unit_margin:
            self.units.append(self._unit(np.zeros((), records.UNIT)))

    def finished(self) -> RawRecords:
        """Return the records as arrays."""
        state, counters = self.state, self.counters
        state.units = np.zeros(counters.units, records.UNIT)
        counters.trace, counters.probes = len(self.trace), len(self.probes)
        fill(state.conns, self.conns)
        fill(state.flows, self.flows)
        fill(state.ports, self.port_records)
        fill(state.units, self.units[: counters.units])
        fill(state.counters, [counters])
        state.trace = np.array(self.trace, records.TRACE)
        state.probes = np.array(self.probes, records.PROBE)
        return state.finished()


def _objects(table: np.ndarray[Any, Any]) -> list[Any]:
    make = slotted(table.dtype)
    return [make(row) for row in table]
