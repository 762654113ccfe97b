"""Flows as given: the traffic entry ``list``, and its further columns in the results."""

from collections.abc import Iterable
from typing import Any

import msgspec
import numpy as np

from capsim import schema
from capsim.fabric.flows import Drawn, FlowList
from capsim.fabric.topology import Fabric
from capsim.seeds import EntrySeeds
from capsmodel.checks import require


class Listed(
    msgspec.Struct,
    frozen=True,
    kw_only=True,
    forbid_unknown_fields=True,
    tag_field="kind",
    tag="list",
    omit_defaults=True,
):
    """Flows as given.

    Parameters
    ----------
    flows : tuple of (src, dst, bytes, start_s)
        One row a flow: two host numbers, payload bytes, start in seconds.
    columns : dict
        Further columns by name, each with a text for every flow: they become columns of the flows table of the results.
    """

    flows: tuple[tuple[int, int, int, float], ...]
    columns: dict[str, tuple[str, ...]] = {}

    def expected_flows(self, fabric: Fabric) -> float:
        """Return about how many flows this entry makes, without making them."""
        return float(len(self.flows))

    def draw(self, fabric: Fabric, seeds: EntrySeeds) -> Drawn:
        """Return the flows of this entry."""
        require(len(self.flows) > 0, "traffic.flows is empty: list at least one flow")
        for name, cells in self.columns.items():
            require(name != "", "traffic.columns: a column has no name: give it one")
            require(name not in schema.FLOWS, f"traffic.columns: {name!r} is a column of the results: rename it")
            count = f"{len(cells)} cells for {len(self.flows)} flows"
            require(len(cells) == len(self.flows), f"traffic.columns: {name!r} has {count}: give one for each")
        src, dst, size, start = zip(*self.flows, strict=True)
        return Drawn(np.array(src), np.array(dst), np.array(size), np.array(start, np.float64))


def listed_names(entries: Iterable[Any]) -> tuple[str, ...]:
    """Return the names of the further columns of all listed flows, in the order in which they first come."""
    return tuple(dict.fromkeys(name for entry in entries if isinstance(entry, Listed) for name in entry.columns))


def listed_columns(entries: Iterable[Any], flows: FlowList) -> dict[str, list[str | None]]:
    """Return the further columns of listed flows over `flows`, which they became; None for all other flows."""
    found = {}
    for name in listed_names(entries):
        cells = np.full(len(flows), None, object)
        for tag, entry in enumerate(entries):
            if isinstance(entry, Listed) and name in entry.columns:
                mine = flows.tag == tag
                cells[mine] = np.array(entry.columns[name], object)[flows.input_row[mine]]
        found[name] = cells.tolist()
    return found
