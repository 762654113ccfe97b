r"""Load: which payload counts and which capacity it is measured against, defined here and nowhere else.

What a scenario asks for is a load over one capacity, ``load_of``:

================ ============================= ==================================== =======================
``load_of``      payload that counts           capacity                             load
================ ============================= ==================================== =======================
``host-links``   of all flows                  of all links from hosts              :math:`8 \lambda E[S]/C`
``leaf-uplinks`` of flows that leave their     of all links from leaves to other    :math:`8 q \lambda E[S]/C`
                 leaf, a share q               switches
================ ============================= ==================================== =======================

Headers, acknowledgements, replicas and repair packets are not counted: load is what the applications ask for, the same
for every scheme. The formula stands in :func:`capsmodel.metrics.offered_load`, its inverse beside it.

That load means another one for each layer of links (:func:`load_layers`): random pairs at 0.7 of the host links of 64
hosts, 16 on a leaf with 4 uplinks of the same rate, are 0.7 · 4 · 48/63 = 2.13 of the uplinks. *Expected* is what the
rate, the mean size and the pairs give, *offered* what the flows drawn have asked of the layer from the first start of
their entry to the last. Sizes with a heavy tail make the two differ: 2000 flows of data mining offer between 0.6 and
1.4 times what is expected. Counted are the entries with a rate (``poisson``); a batch or an incast has none.

============= ====== ============================ ==============
Quantity      Symbol Name                         Unit
============= ====== ============================ ==============
layers               :func:`load_layers`
capacity      C      ``LoadLayer.capacity_bps``   bit per second
links crossed        ``LoadLayer.links``          1
counted share q      :func:`counted_share`        1
offered load  ρ      :func:`offered`              1
============= ====== ============================ ==============
"""

from dataclasses import dataclass
from functools import cached_property
from typing import Any, Literal

import numpy as np
import numpy.typing as npt

from capsim.base.clock import PS_PER_S
from capsim.fabric.endpoints import Pairing
from capsim.fabric.flows import FlowList
from capsim.fabric.paths import next_switches
from capsim.fabric.topology import Bools, Fabric, Int32, layer_name
from capsmodel.checks import require
from capsmodel.metrics import offered_load

Floats = npt.NDArray[np.float64]

LoadOf = Literal["host-links", "leaf-uplinks"]
LOAD_DEFINITIONS: dict[LoadOf, str] = {
    "host-links": "payload bits per second of all flows over the capacity of all links from hosts",
    "leaf-uplinks": "payload bits per second of flows that leave their leaf over the capacity of all links from leaves "
    "to other switches",
}


HOSTS, UPLINKS = "hosts", "leaf uplinks"
_LAYER_OF: dict[LoadOf, str] = {"host-links": HOSTS, "leaf-uplinks": UPLINKS}


@dataclass(frozen=True)
class LoadLayer:
    """A layer of links whose load is measured.

    Attributes
    ----------
    name : str
        ``hosts``, ``leaf uplinks``, or the name of a further layer, such as ``agg>core``.
    fabric : Fabric
        As it is when all links are up.
    ports : ndarray of int32
        The links, in the direction from the hosts.
    """

    name: str
    fabric: Fabric
    ports: Int32

    @property
    def capacity_bps(self) -> float:
        """Return what all links of the layer carry, in bits per second."""
        return float(self.fabric.rate_bps[self.ports].sum())

    def links(self, src: npt.NDArray[Any], dst: npt.NDArray[Any]) -> Floats:
        """Return over flows from `src` to `dst` how many links of the layer each crosses, on average over its paths.

        All flows cross one of the hosts' links, and those that leave their leaf count once as crossing its uplinks.
        """
        if self.name == HOSTS:
            return np.ones(len(src))
        if self.name == UPLINKS:
            return np.where(self.fabric.leaf_of_host[src] == self.fabric.leaf_of_host[dst], 0.0, 1.0)
        crossed: Floats = self._between_leaves[self.fabric.leaf_number[src], self.fabric.leaf_number[dst]]
        return crossed

    def expected_links(self, pairing: Pairing) -> float:
        """Return the expectation of :meth:`links` over the flows of a `pairing`, if all hosts send alike."""
        if self.name == HOSTS:
            return 1.0
        if self.name == UPLINKS:
            return pairing.share_between_leaves(self.fabric)
        return float((self._between_leaves * pairing.shares(self.fabric)).sum())

    @cached_property
    def _between_leaves(self) -> Floats:
        """Return the links crossed from leaf (row) to leaf: switches spread what they forward over equal-cost ports."""
        leaves, n_switches = np.unique(self.fabric.leaf_of_host), self.fabric.n_switches
        crossed = np.empty((len(leaves), len(leaves)))
        for column, leaf in enumerate(leaves):
            start, port, end = next_switches(self.fabric, int(np.argmax(self.fabric.leaf_of_host == leaf)))
            share = 1 / np.bincount(start, minlength=n_switches)[start]
            farther = np.bincount(start, share * np.isin(port, self.ports), n_switches)
            total = farther.copy()
            while farther.any():  # what lies one hop farther in each round
                farther = np.bincount(start, share * farther[end], n_switches)
                total += farther
            crossed[:, column] = total[leaves]
        return crossed


def load_layers(fabric: Fabric) -> dict[str, LoadLayer]:
    """Return the layers of links whose load is measured, by name.

    These are ``hosts``, ``leaf uplinks`` and, where there are more switches, the links between two that have no hosts,
    by the kinds of their ends. Links downwards are left out: they carry the flows that came up.

    Examples
    --------
    >>> from capsim import FatTree
    >>> {name: layer.capacity_bps for name, layer in load_layers(FatTree(pods=4, hosts_per_edge=8).build()).items()}
    {'hosts': 64000000000.0, 'leaf uplinks': 16000000000.0, 'agg>core': 16000000000.0}
    """
    between = (fabric.port_from >= fabric.n_hosts) & (fabric.port_to >= fabric.n_hosts)
    from_leaf, to_leaf = (
        np.isin(end - fabric.n_hosts, fabric.leaf_of_host) for end in (fabric.port_from, fabric.port_to)
    )
    ports = {HOSTS: fabric.host_port, UPLINKS: _numbers(from_leaf & between)}
    names, inner = np.array(fabric.port_layers), between & ~from_leaf & ~to_leaf
    for name in dict.fromkeys(names[inner].tolist()):
        start, end = name.split(">")
        if layer_name(end, start) not in ports:
            ports[name] = _numbers(inner & (names == name))
    return {name: LoadLayer(name, fabric, numbers) for name, numbers in ports.items()}


def _numbers(chosen: Bools) -> Int32:
    return np.flatnonzero(chosen).astype(np.int32)


def layer_of(fabric: Fabric, load_of: LoadOf) -> LoadLayer:
    """Return the layer of links that a load is measured against."""
    return load_layers(fabric)[_LAYER_OF[load_of]]


def counted_share(fabric: Fabric, load_of: LoadOf, pairing: Pairing) -> float:
    """Return the expected share of flows of a `pairing` whose payload counts.

    Raises
    ------
    ParameterError
        If there is none.
    """
    if load_of == "host-links":
        return 1.0
    share = pairing.share_between_leaves(fabric)
    require(share > 0, f"traffic.load_of = {load_of!r}, but no flow leaves its leaf here: use 'host-links'")
    return share


def offered(flows: FlowList, layer: LoadLayer, *, entry: int) -> tuple[float | None, float]:
    """Return the load that traffic entry `entry` offers a layer from its first start to its last, and that time in s.

    The load is None where all its flows start together, or some wait for others.
    """
    counted = (flows.tag == entry) & flows.counted
    if np.any(flows.waits_for[counted]):
        return None, 0.0
    span_s = float(np.ptp(flows.start_ps[counted])) / PS_PER_S
    if span_s == 0:
        return None, 0.0
    carried = carried_bytes(layer, flows.src[counted], flows.dst[counted], flows.flow_bytes[counted])
    return float(offered_load(1 / span_s, mean_bytes=carried, rate_bps=layer.capacity_bps)) if carried else 0.0, span_s


def carried_bytes(
    layer: LoadLayer, src: npt.NDArray[Any], dst: npt.NDArray[Any], flow_bytes: npt.NDArray[np.int64]
) -> float:
    """Return the payload that flows ask the links of a layer to carry, in bytes."""
    return float(layer.links(src, dst) @ flow_bytes)
