"""Flows as given: the traffic entry ``list``, and its further columns in the results."""

import math
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from typing import Annotated, Any, Self

import msgspec
import numpy as np

from capsim.base import bounds, schema
from capsim.base.bounds import Nodes
from capsim.base.seeds import EntrySeeds
from capsim.base.structs import KeyedStruct
from capsim.fabric.base import Part
from capsim.fabric.dependencies import AFTER, AfterAt, pairs_of
from capsim.fabric.endpoints import Ints
from capsim.fabric.flows import DrawnFlows, FlowList, check_hosts
from capsim.fabric.paths import Paths
from capsim.fabric.topology import Fabric, Floats
from capsmodel.checks import ParameterError, require

PATH = "path"
_OVERLAP = 0.1  # of random pairs 0.01 where each host sends some tens of flows, of a permutation 1


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
    of_blocks, block_hosts : int, optional
        In an excerpt, how many leaves or pods the list is of, with how many hosts each. The flows are then those of as
        many of them as the fabric has, two of each class of load: classes have equally many leaves or pods, in the
        order of the bytes that these send and receive, the largest first. The seed of the run draws which two, so that
        each seed has others; theirs are the hosts 0 to ``2 block_hosts - 1``, those of the second class come next. An
        end in none of them moves to the same host of another one of its class.
    """

    flows: tuple[tuple[int, int, int, float], ...]
    after: tuple[str, ...] = ()
    after_at: AfterAt = "receiver"
    path: tuple[str, ...] = ()
    stack: str | None = None
    columns: dict[str, tuple[str, ...]] = msgspec.field(default_factory=dict)
    of_blocks: Nodes | None = None
    block_hosts: Annotated[int, bounds.HOSTS.meta] | None = None

    @property
    def texts(self) -> dict[str, tuple[str, ...]]:
        """Return what the flows table of the results takes from the list as it is, by name."""
        return self._keys | self.columns

    @property
    def _keys(self) -> dict[str, tuple[str, ...]]:
        """Return what is given for every flow as a key of its own, by name."""
        return {name: cells for name, cells in ((AFTER, self.after), (PATH, self.path)) if cells}

    def excerpt(self, part: Part) -> Self:
        """Return the list as that of a larger fabric, of whose leaves or pods each run draws some.

        Raises
        ------
        ParameterError
            If flows wait for others or have their path, or most have their sender or receiver for themselves.
        """
        rule = "an excerpt has not all hosts: run the whole"
        require(not self.after, f"traffic: flows of a list wait for others (after), and {rule}")
        require(not self.path, f"traffic: flows of a list have paths by name, and {rule}")
        numbered = part.of.word != "blocks"
        require(numbered, f"traffic: leaves of a list are told by the numbers of hosts, here by names, and {rule}")
        rule = f"two of each class of load are kept: give an even number of {part.of.word}"
        require(part.kept % 2 == 0, f"{part.of.word} = {part.kept} of a list of flows, but {rule}")
        src, dst, size, _ = self._arrays()
        for name, ends in (("src", src), ("dst", dst)):
            check_hosts(ends, part.of.hosts, where="traffic.flows", name=name)
        share = overlap(src, dst, size)
        rule = f"above {_OVERLAP} an excerpt, which moves ends, answers another question: run the whole"
        require(share <= _OVERLAP, f"traffic: {share:.2g} of what a flow of the list meets is of its own pair: {rule}")
        return msgspec.structs.replace(self, of_blocks=part.of.count, block_hosts=part.of.block_hosts)

    def expected_flows(self, fabric: Fabric) -> float:
        """Return about how many flows this entry makes, without making them."""
        return len(self.flows) * (1.0 if self._of is None else fabric.n_hosts / math.prod(self._of))

    @property
    def _of(self) -> tuple[int, int] | None:
        """Return how many blocks the list is of, and the hosts of each; None where it is of the fabric that runs."""
        both = f"of_blocks = {self.of_blocks} and block_hosts = {self.block_hosts}"
        together = (self.of_blocks is None) == (self.block_hosts is None)
        require(together, f"traffic: {both} of a list go together, as an excerpt has them")
        return None if self.of_blocks is None or self.block_hosts is None else (self.of_blocks, self.block_hosts)

    def _arrays(self) -> tuple[Ints, Ints, Ints, Floats]:
        """Return senders, receivers, bytes and starts."""
        require(len(self.flows) > 0, "traffic.flows is empty: list at least one flow")
        src, dst, size, start = zip(*self.flows, strict=True)
        return np.array(src), np.array(dst), np.array(size), np.array(start, np.float64)

    def draw(self, fabric: Fabric, seeds: EntrySeeds) -> DrawnFlows:
        """Return the flows of this entry."""
        src, dst, size, start = self._arrays()
        for name in (AFTER, PATH):
            require(name not in self.columns, f"traffic.columns: {name!r} is a key beside it: give the cells there")
        for name, cells in self.texts.items():
            require(name != "", "traffic.columns: a column has no name: give it one")
            require(name not in schema.FLOWS, f"traffic.columns: {name!r} is a column of the results: rename it")
            count = f"{len(cells)} cells for {len(self.flows)} flows"
            key = "" if name in self._keys else "columns: "
            require(len(cells) == len(self.flows), f"traffic.{key}{name!r} has {count}: give one for each")
        if self._of is not None:
            blocks, block_hosts = self._of
            numbers = (blocks, fabric.n_hosts // block_hosts)
            rows, src, dst = some_blocks(src, dst, size, blocks=numbers, block_hosts=block_hosts, rng=seeds.partners)
            return DrawnFlows(src, dst, size[rows], start[rows], rows=rows)
        return DrawnFlows(
            *(src, dst, size, start),
            after=pairs_of(self.after, "traffic.flows[{}]".format),
            after_sender=self.after_at == "sender",
        )


def overlap(src: Ints, dst: Ints, flow_bytes: Ints) -> float:
    """Return how much of what flows meet at their ends is of their own pair of hosts, as a mean by bytes, in [0, 1].

    That is, of a flow, the other bytes between its two hosts over the lesser of the other bytes that its sender sends
    and its receiver gets; 1 where there are none.

    Examples
    --------
    Of three flows the second meets those of other pairs, and the other two are alone at one of their ends:

    >>> round(overlap(np.array([0, 0, 1]), np.array([1, 2, 2]), np.array([10, 10, 10])), 2)
    0.67
    """
    _, pair = np.unique(src * (1 + int(dst.max())) + dst, return_inverse=True)
    of_pair, sent, received = (np.bincount(ends, flow_bytes)[ends] - flow_bytes for ends in (pair, src, dst))
    beside = np.minimum(sent, received)
    shares = np.divide(of_pair, beside, out=np.ones(len(src)), where=beside > 0)
    return float(np.average(shares, weights=flow_bytes))


def some_blocks(
    src: Ints, dst: Ints, flow_bytes: Ints, *, blocks: tuple[int, int], block_hosts: int, rng: np.random.Generator
) -> tuple[Ints, Ints, Ints]:
    """Return which flows the blocks send that are drawn, two of each class of load, and both ends of these.

    Parameters
    ----------
    src, dst, flow_bytes : ndarray of int
        All flows.
    blocks : tuple of int
        How many blocks these are of, and how many are drawn.
    block_hosts : int
        Hosts of a block.
    rng : Generator
        Draws the blocks, and to which of two an end goes.
    """
    count, kept = blocks
    from_block, to_block = src // block_hosts, dst // block_hosts
    load = sum(np.bincount(ends, flow_bytes, minlength=count) for ends in (from_block, to_block))
    classes = np.array_split(np.argsort(-load, kind="stable"), kept // 2)
    class_of, place_of = np.empty(count, np.int64), np.full(count, -1)
    for number, ours in enumerate(classes):
        class_of[ours] = number
        place_of[rng.choice(ours, 2, replace=False)] = 2 * number, 2 * number + 1
    rows = np.flatnonzero(place_of[from_block] >= 0)
    sender, receiver = place_of[from_block[rows]], place_of[to_block[rows]]
    first = 2 * class_of[to_block[rows]]
    other = np.where(sender // 2 == first // 2, sender ^ 1, first + rng.integers(0, 2, len(rows)))
    receiver = np.where(receiver >= 0, receiver, other)
    return rows, sender * block_hosts + src[rows] % block_hosts, receiver * block_hosts + dst[rows] % block_hosts


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
