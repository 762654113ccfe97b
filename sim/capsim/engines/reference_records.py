"""The records of the reference engine: the same tables as plain objects, and back."""

from typing import Any

import numpy as np

from capsim import records
from capsim.records import fill, slotted
from capsim.state import RawRecords, Setup, tables


class Records:
    """All records of a run as objects with slots."""

    def __init__(self, setup: Setup):
        self.setup, self.made = setup, tables(setup)
        self.params = {name: slotted(record.dtype)(record[0]) for name, record in self.made.params.items()}
        self.conns = _objects(self.made.conns)
        self.flows = _objects(self.made.flows)
        self.estimators = _objects(self.made.estimators)
        self.switches = _objects(self.made.switches)
        self.balancer_state = _objects(self.made.balancer_state)
        self.port_records = _objects(self.made.ports)
        self.counters = _objects(self.made.counters)[0]
        self.segments = bytearray(len(self.made.segments))
        self.candidates = self.made.candidates.tolist()
        self.trace: list[tuple[int, ...]] = []
        self.probes: list[tuple[int, ...]] = []
        self.pool: list[Any] = []
        self.units: list[Any] = []
        self.unit_margin = int(self.made.conns["ring_mask"].max(initial=0)) + 2  # a window can close as many at once
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
        made, counters = self.made, self.counters
        made.units = np.zeros(counters.units, records.UNIT)
        counters.trace, counters.probes = len(self.trace), len(self.probes)
        fill(made.conns, self.conns)
        fill(made.flows, self.flows)
        fill(made.ports, self.port_records)
        fill(made.units, self.units[: counters.units])
        fill(made.counters, [counters])
        made.trace = np.array(self.trace, records.TRACE)
        made.probes = np.array(self.probes, records.PROBE)
        return made.finished()


def _objects(table: np.ndarray[Any, Any]) -> list[Any]:
    make = slotted(table.dtype)
    return [make(row) for row in table]
