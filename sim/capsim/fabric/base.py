"""Shared by all kinds of fabric: buffers, links that differ or fail, and how a fabric is built."""

from dataclasses import dataclass
from functools import lru_cache
from typing import Annotated, Self

import numpy as np
from msgspec import Meta

from capsim.base import bounds
from capsim.base.bounds import BufferBytes, BufferPackets, Period, Time
from capsim.base.structs import KeyedStruct, checked_struct
from capsim.fabric.faults import DrawnFault, draw_faults
from capsim.fabric.topology import Fabric
from capsim.fabric.wiring import UNLIMITED, LinkChange, Wiring
from capsmodel.checks import ParameterError, require


@dataclass(frozen=True)
class FabricSize:
    """Numbers of hosts, switches, switches with hosts, and links between switches."""

    hosts: int
    switches: int
    leaves: int
    inner_links: int

    @property
    def ports(self) -> int:
        """Return the number of directed links."""
        return 2 * (self.hosts + self.inner_links)


@dataclass(frozen=True)
class Blocks:
    """What a fabric falls into without its top tier: leaves, pods, parts of a graph; all alike.

    Attributes
    ----------
    word : str
        What a block is called: ``leaves``, ``pods`` or ``blocks``.
    count : int
        How many there are.
    leaf_hosts, block_hosts : int
        Hosts at a switch, and in a block.
    """

    word: str
    count: int
    leaf_hosts: int
    block_hosts: int

    @property
    def hosts(self) -> int:
        """Return the number of hosts of the fabric."""
        return self.count * self.block_hosts


@dataclass(frozen=True)
class Part:
    """Some of the blocks of a fabric, from which its traffic follows (:func:`capsim.excerpt`)."""

    of: Blocks
    kept: int

    @property
    def share(self) -> float:
        """Return the share of the hosts."""
        return self.kept / self.of.count

    @property
    def near_probs(self) -> tuple[float, float]:
        """Return the probabilities that a random partner in the whole is at the same switch, elsewhere in the block."""
        others = self.of.hosts - 1
        return (self.of.leaf_hosts - 1) / others, (self.of.block_hosts - self.of.leaf_hosts) / others

    def count(self, of_whole: int, what: str) -> int:
        """Return the number of flows, hosts or rounds that fall to the blocks, of so many in the whole.

        Raises
        ------
        ParameterError
            If that is less than one.
        """
        count = of_whole * self.share
        remedy = f"give more, or an excerpt of more {self.of.word}"
        require(count >= 1, f"traffic.{what} = {of_whole}: {count:.2g} of them fall to the excerpt: {remedy}")
        return round(count)


class FabricKind(KeyedStruct, frozen=True, kw_only=True, tag_field="kind"):
    """What all fabrics share.

    Parameters
    ----------
    buffer_packets, buffer_bytes : int, optional
        Queue limit of a switch port; one of the two. 256 packets when neither is given (CAPS Section III).
    host_buffer_packets, host_buffer_bytes : int, optional
        Queue limit of a host NIC; unlimited when neither is given.
    loss_prob : float
        Share of packets that are lost on a link, for each link; `links` may differ.
    loss_burst_packets : float, optional
        Mean length of a loss burst in packets, for each link that loses any; independent losses when left out.
    loss_burst_s : float, optional
        The same as a time, in seconds (:class:`LinkChange`): one of the two.
    reroute_s : float
        How long after a failure or return the routes follow, in seconds.
    links : tuple of LinkChange
        Links that differ, applied in order.
    faults : tuple of DrawnFault
        Links that differ, of switches or between nodes that are drawn from the seed; applied after `links`.
    """

    buffer_packets: BufferPackets | None = None
    buffer_bytes: BufferBytes | None = None
    host_buffer_packets: BufferPackets | None = None
    host_buffer_bytes: BufferBytes | None = None
    loss_prob: Annotated[float, bounds.LOSS_PROB.meta] = 0.0
    loss_burst_packets: Annotated[float, bounds.LOSS_BURST.meta] | None = None
    loss_burst_s: Period | None = None
    reroute_s: Time = 0.0
    links: Annotated[tuple[LinkChange, ...], Meta(max_length=int(bounds.LINK_CHANGES.largest))] = ()
    faults: Annotated[tuple[DrawnFault, ...], Meta(max_length=int(bounds.LINK_CHANGES.largest))] = ()

    def build(self, *, seed: int = 1) -> Fabric:
        """Return the fabric as arrays; `seed`, of the run, decides what `faults` draw and nothing else.

        Equal fabrics are built once, as runs with other seeds or schemes need them again.
        """
        return _built(checked_struct(self, where="fabric"), seed if self.faults else 0)

    def wire(self, wiring: Wiring) -> None:
        """Add nodes and links to `wiring`."""
        raise NotImplementedError

    def size(self) -> FabricSize:
        """Return how large the fabric is, without building anything."""
        raise NotImplementedError

    def node_counts(self) -> tuple[int, int]:
        """Return the numbers of hosts and switches, without building anything."""
        return self.size().hosts, self.size().switches

    def blocks(self) -> Blocks:
        """Return what the fabric falls into without its top tier.

        Raises
        ------
        ParameterError
            If it has no such parts, or they are not alike.
        """
        raise ParameterError(f"a {self.kind} has no leaves or pods that are alike, as an excerpt needs: run the whole")

    def block_names(self) -> list[tuple[str, ...]]:
        """Return over blocks the names of their hosts and switches, in the same order in each."""
        raise NotImplementedError

    def excerpt(self, blocks: int) -> Self:
        """Return the fabric of the first `blocks` blocks, with the whole of its top tier."""
        raise NotImplementedError

    @property
    def kind(self) -> str:
        """Return the name of the kind, as the key ``kind`` of a scenario gives it."""
        return str(self.__struct_config__.tag)

    def switch_limits(self) -> tuple[int, int]:
        """Return the queue limits of a switch port, in packets and bytes."""
        if self.buffer_packets is None and self.buffer_bytes is None:
            return 256, UNLIMITED
        return limit(self.buffer_packets), limit(self.buffer_bytes)

    def nic_limits(self) -> tuple[int, int]:
        """Return the queue limits of a host NIC, in packets and bytes."""
        return limit(self.host_buffer_packets), limit(self.host_buffer_bytes)


def limit(value: int | None) -> int:
    """Return a queue limit as the fabric's arrays hold it."""
    return UNLIMITED if value is None else value


@lru_cache(maxsize=4)
def _built(kind: FabricKind, seed: int) -> Fabric:
    wiring = Wiring()
    kind.wire(wiring)
    require(len(wiring.hosts) >= 2, "fabric: one host only, but a flow needs two: add hosts")
    drawn = draw_faults(kind.faults, wiring, seed=seed)
    changes = (*kind.links, *(change for each in drawn for change in each.changes))
    names = tuple(each.names for each in drawn)
    fabric = wiring.fabric(
        changes,
        reroute_s=kind.reroute_s,
        loss_prob=kind.loss_prob,
        loss_burst_packets=kind.loss_burst_packets,
        loss_burst_s=kind.loss_burst_s,
        drawn=names,
    )
    for part in (fabric, fabric.routes, *fabric.epochs, *(epoch.routes for epoch in fabric.epochs)):
        for array in vars(part).values():
            if isinstance(array, np.ndarray):
                array.setflags(write=False)  # who asks next is given the same arrays
    return fabric
