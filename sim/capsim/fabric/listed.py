"""Flows as given: the traffic entry ``list``, and its further columns in the results."""

from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from typing import Any, Self

import msgspec
import numpy as np

from capsim.base import schema
from capsim.base.seeds import EntrySeeds
from capsim.base.structs import KeyedStruct
from capsim.fabric.base import Part
from capsim.fabric.dependencies import AFTER, AfterAt, pairs_of
from capsim.fabric.flows import DrawnFlows, FlowList
from capsim.fabric.paths import Paths
from capsim.fabric.topology import Fabric
from capsmodel.checks import ParameterError, require

PATH = "path"


class Listed(KeyedStruct, frozen=True, kw_only=True, tag_field="kind", tag="list"):
    """Flows as given.

    Parameters
    ----------
    flows : tuple of (src, dst, bytes, start_s)
        One row a flow: two host numbers, payload bytes, start in seconds.
    after : tuple of str, optional
        For every flow the rows of this list, counted from 0 and separated by spaces, that must be complete before it
        begins (:mod:`capsim.fabric.dependencies`); its `start_s` is how long after the last of them. A flow never
        begins if one of them does not end: its `start_s` in the results is infinite.
    after_at : str
        Where those are complete: at the ``receiver``, which has all bytes, or at the ``sender``, which has the last
        acknowledgement.
    path : tuple of str, optional
        For every flow the path that all its packets take whatever the balancer, and its acknowledgements back: a number
        or the names of the switches (:mod:`capsim.fabric.paths`); an empty text leaves it to the balancer.
    stack : str, optional
        As of drawn traffic: the scheme whose host side these flows run.
    columns : dict
        Further columns by name, each with a text for every flow: they become columns of the flows table of the results.
    """

    flows: tuple[tuple[int, int, int, float], ...]
    after: tuple[str, ...] = ()
    after_at: AfterAt = "receiver"
    path: tuple[str, ...] = ()
    stack: str | None = None
    columns: dict[str, tuple[str, ...]] = msgspec.field(default_factory=dict)

    @property
    def texts(self) -> dict[str, tuple[str, ...]]:
        """Return what the flows table of the results takes from the list as it is, by name."""
        return self._keys | self.columns

    @property
    def _keys(self) -> dict[str, tuple[str, ...]]:
        """Return what is given for every flow as a key of its own, by name."""
        return {name: cells for name, cells in ((AFTER, self.after), (PATH, self.path)) if cells}

    def excerpt(self, part: Part) -> Self:
        """Refuse an excerpt: each flow has its own two ends."""
        raise ParameterError(
            f"traffic: a list of flows has both ends of each in {part.of.count} {part.of.word}, but an excerpt has "
            f"{part.kept}: run the whole, or draw flows of its sizes (flow_bytes_cdf)"
        )

    def expected_flows(self, fabric: Fabric) -> float:
        """Return about how many flows this entry makes, without making them."""
        return float(len(self.flows))

    def draw(self, fabric: Fabric, seeds: EntrySeeds) -> DrawnFlows:
        """Return the flows of this entry."""
        require(len(self.flows) > 0, "traffic.flows is empty: list at least one flow")
        for name in (AFTER, PATH):
            require(name not in self.columns, f"traffic.columns: {name!r} is a key beside it: give the cells there")
        for name, cells in self.texts.items():
            require(name != "", "traffic.columns: a column has no name: give it one")
            require(name not in schema.FLOWS, f"traffic.columns: {name!r} is a column of the results: rename it")
            count = f"{len(cells)} cells for {len(self.flows)} flows"
            key = "" if name in self._keys else "columns: "
            require(len(cells) == len(self.flows), f"traffic.{key}{name!r} has {count}: give one for each")
        src, dst, size, start = zip(*self.flows, strict=True)
        return DrawnFlows(
            *(np.array(src), np.array(dst), np.array(size), np.array(start, np.float64)),
            after=pairs_of(self.after, "traffic.flows[{}]".format),
            after_sender=self.after_at == "sender",
        )


def listed_names(entries: Iterable[Any]) -> tuple[str, ...]:
    """Return the names of the further columns of all listed flows, in the order in which they first come."""
    return tuple(dict.fromkeys(name for entry in entries if isinstance(entry, Listed) for name in entry.texts))


def listed_columns(entries: Iterable[Any], flows: FlowList) -> dict[str, list[str | None]]:
    """Return the further columns of listed flows over `flows`, which they became; None for all other flows."""
    columns = {}
    for name in listed_names(entries):
        cells = np.full(len(flows), None, object)
        for tag, entry in enumerate(entries):
            if isinstance(entry, Listed) and name in entry.texts:
                mine = flows.tag == tag
                cells[mine] = np.array(entry.texts[name], object)[flows.input_row[mine]]
        columns[name] = cells.tolist()
    return columns


def pinned_paths(entries: Iterable[Any], flows: FlowList, fabric: Fabric) -> dict[int, tuple[int, ...]]:
    """Return the ports of the path of each flow that has one, by the number of the flow.

    Raises
    ------
    ParameterError
        If there is no such path; the text names the entry and the flow.
    """
    paths, path_of = Paths(fabric), {}
    for tag, entry in enumerate(entries):
        if not isinstance(entry, Listed) or not any(entry.path):
            continue
        for flow in np.flatnonzero(flows.tag == tag).tolist():
            row = int(flows.input_row[flow])
            if text := entry.path[row].strip():
                with naming(f"traffic[{tag}].flows[{row}]"):
                    path_of[flow] = paths.named(text, int(flows.src[flow]), int(flows.dst[flow]))
    return path_of


@contextmanager
def naming(place: str) -> Iterator[None]:
    """Put `place` before the text of a :class:`ParameterError`."""
    try:
        yield
    except ParameterError as error:
        raise ParameterError(f"{place}: {error}") from None
