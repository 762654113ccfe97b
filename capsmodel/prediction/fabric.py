r"""A fabric as its layers of links: what of a leaf-spine or a fat-tree decides how long flows take.

==================== ======================================================= ====================== ====
Quantity             Symbol                                                  Name                   Unit
==================== ======================================================= ====================== ====
share of flows       :math:`q`, of random pairs that cross a layer           ``LinkLayer.share``    1
load of a layer      :math:`\rho_c=\rho\,qHC/(SC_c)`                         ``load_ratio`` times ρ 1
base round-trip time propagation, and sending a packet forth and an ACK back ``base_rtt_s``         s
least time of a flow packets back to back; switches store and forward        ``ideal_s``            s
==================== ======================================================= ====================== ====
"""

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from capsmodel.checks import FloatArray, non_negative, one_number, positive, require, whole
from capsmodel.units import BITS_PER_BYTE


@dataclass(frozen=True, kw_only=True)
class LinkLayer:
    """Links between switches that the flows of some hosts share, upwards; those downwards are alike.

    Parameters
    ----------
    name : str
        For messages.
    rate_bps : float
        Rate of one link, in bits per second, above 0.
    delay_s : float
        Propagation delay of one link, in seconds, at least 0.
    hosts : int
        Hosts whose flows share `links`, at least 1.
    links : int
        Parallel links, at least 1.
    share : float
        Share of all flows that cross the layer, in [0, 1].
    """

    name: str
    rate_bps: float
    delay_s: float
    hosts: int
    links: int
    share: float

    def __post_init__(self) -> None:
        one_number(positive, "rate_bps", self.rate_bps)
        one_number(non_negative, "delay_s", self.delay_s)
        for name in ("hosts", "links"):
            one_number(whole, name, getattr(self, name), minimum=1)
        require(0 <= self.share <= 1, f"share = {self.share:g}, but it must be in [0, 1]")


@dataclass(frozen=True, kw_only=True)
class FabricModel:
    """Hosts with one link each, and the layers of links between switches from the hosts upwards.

    Parameters
    ----------
    rate_bps : float
        Rate of the link of a host, in bits per second, above 0.
    delay_s : float
        Propagation delay of that link, in seconds, at least 0.
    layers : tuple of LinkLayer
        A flow that crosses one crosses those below, up and down; shares never rise.

    Raises
    ------
    ParameterError
        If an argument leaves its range.

    Examples
    --------
    >>> fabric = FabricModel.leaf_spine(leaves=4, hosts_per_leaf=4, spines=4, rate_bps=100e9, delay_s=1e-6)
    >>> [(layer.name, layer.share) for layer in fabric.layers]
    [('leaf uplinks', 0.8)]
    >>> round(fabric.load_ratio(fabric.layers[0]), 3)
    0.8
    """

    rate_bps: float
    delay_s: float
    layers: tuple[LinkLayer, ...]

    def __post_init__(self) -> None:
        one_number(positive, "rate_bps", self.rate_bps)
        one_number(non_negative, "delay_s", self.delay_s)
        shares = [1.0, *(layer.share for layer in self.layers)]
        require(bool(np.all(np.diff(shares) <= 0)), f"shares of layers rise: {shares[1:]}, but they never do upwards")

    @classmethod
    def leaf_spine(
        cls,
        *,
        leaves: int,
        hosts_per_leaf: int,
        spines: int,
        rate_bps: float,
        delay_s: float,
        spine_rate_bps: float | None = None,
        spine_delay_s: float | None = None,
    ) -> "FabricModel":
        """Return leaves with hosts, each linked to every spine; links to spines are as those of hosts when left out.

        Parameters
        ----------
        leaves, hosts_per_leaf, spines : int
            Counts, at least 1; two hosts or more.
        rate_bps, spine_rate_bps : float
            Rates of links of hosts and to spines, in bits per second, above 0.
        delay_s, spine_delay_s : float
            Their propagation delays, in seconds, at least 0.

        Raises
        ------
        ParameterError
            If an argument leaves its range.
        """
        hosts, n_leaves = one_number(whole, "hosts_per_leaf", hosts_per_leaf, minimum=1), _count("leaves", leaves)
        total = int(hosts) * n_leaves
        require(total >= 2, f"leaves = {leaves} and hosts_per_leaf = {hosts_per_leaf}: flows need two hosts")
        uplinks = LinkLayer(
            name="leaf uplinks",
            rate_bps=rate_bps if spine_rate_bps is None else spine_rate_bps,
            delay_s=delay_s if spine_delay_s is None else spine_delay_s,
            hosts=hosts_per_leaf,
            links=_count("spines", spines),
            share=(total - hosts_per_leaf) / (total - 1),
        )
        return cls(rate_bps=rate_bps, delay_s=delay_s, layers=(uplinks,))

    @classmethod
    def fat_tree(
        cls,
        *,
        pods: int,
        hosts_per_edge: int | None = None,
        rate_bps: float,
        delay_s: float,
        inner_rate_bps: float | None = None,
        inner_delay_s: float | None = None,
    ) -> "FabricModel":
        """Return k pods of k/2 edge and k/2 aggregation switches, and (k/2)² cores.

        Parameters
        ----------
        pods : int
            k, even, at least 2.
        hosts_per_edge : int, optional
            Hosts of an edge switch, at least 1; k/2 when left out.
        rate_bps, inner_rate_bps : float
            Rates of links of hosts and between switches (as those of hosts when left out), in bits per second, above 0.
        delay_s, inner_delay_s : float
            Their propagation delays, in seconds, at least 0.

        Raises
        ------
        ParameterError
            If an argument leaves its range.
        """
        require(_count("pods", pods) % 2 == 0, f"pods = {pods}, but a k-ary fat-tree needs an even number")
        half = pods // 2
        hosts = half if hosts_per_edge is None else _count("hosts_per_edge", hosts_per_edge)
        total = pods * half * hosts
        require(total >= 2, f"pods = {pods} and hosts_per_edge = {hosts_per_edge}: flows need two hosts")
        links = {
            "rate_bps": rate_bps if inner_rate_bps is None else inner_rate_bps,
            "delay_s": delay_s if inner_delay_s is None else inner_delay_s,
        }
        edges = LinkLayer(name="leaf uplinks", hosts=hosts, links=half, share=(total - hosts) / (total - 1), **links)
        of_pod = half * hosts
        cores = LinkLayer(
            name="agg>core", hosts=of_pod, links=half * half, share=(total - of_pod) / (total - 1), **links
        )
        return cls(rate_bps=rate_bps, delay_s=delay_s, layers=(edges, cores))

    def load_ratio(self, layer: LinkLayer) -> float:
        r"""Return the load of a layer over that of the links of hosts, :math:`qHC/(SC_c)`."""
        return layer.share * layer.hosts * self.rate_bps / (layer.links * layer.rate_bps)

    def kinds(self) -> Iterator[tuple[float, tuple[LinkLayer, ...]]]:
        """Yield the kinds of pairs: their share of all flows, and the layers that they cross; none of share 0."""
        shares = [1.0, *(layer.share for layer in self.layers), 0.0]
        for crossed in range(len(self.layers) + 1):
            share = shares[crossed] - shares[crossed + 1]
            if share > 0:
                yield share, self.layers[:crossed]

    @property
    def longest(self) -> tuple[LinkLayer, ...]:
        """Return the layers that flows between the hosts farthest apart cross."""
        return tuple(layer for layer in self.layers if layer.share > 0)

    def base_rtt_s(self, packet_bytes: int, ack_bytes: int, crossed: tuple[LinkLayer, ...] | None = None) -> float:
        """Return the round-trip time of an idle path, in seconds; of the longest when `crossed` is left out."""
        hops = self._hops(self.longest if crossed is None else crossed)
        return sum(2 * delay_s + BITS_PER_BYTE * (packet_bytes + ack_bytes) / rate_bps for rate_bps, delay_s in hops)

    def ideal_s(
        self, flow_bytes: FloatArray, *, payload_bytes: int, header_bytes: int, crossed: tuple[LinkLayer, ...]
    ) -> FloatArray:
        r"""Return the least time of flows between hosts that cross some layers, in seconds.

        Notes
        -----
        The first of N packets takes :math:`\sum_h f_h` over the hops, the others follow at the time f of the slowest
        one, the last of them in its own time l: :math:`d+\sum_hf_h+(N-2)f+l`, and :math:`d+\sum_hl_h` for N = 1. With
        one rate it is :func:`capsmodel.metrics.ideal_fct_s`.
        """
        hops = self._hops(crossed)
        packets = np.maximum(np.ceil(flow_bytes / payload_bytes), 1.0)
        last_bytes = flow_bytes - (packets - 1) * payload_bytes + header_bytes
        per_byte_s = [BITS_PER_BYTE / rate_bps for rate_bps, _ in hops]
        full_bytes = payload_bytes + header_bytes
        whole_s = sum(per_byte_s) * np.where(packets > 1, full_bytes, last_bytes)
        behind_s = max(per_byte_s) * np.where(packets > 1, (packets - 2) * full_bytes + last_bytes, 0.0)
        return np.asarray(sum(delay_s for _, delay_s in hops) + whole_s + behind_s)

    def _hops(self, crossed: tuple[LinkLayer, ...]) -> list[tuple[float, float]]:
        """Return rate and delay of each link of a way."""
        up = [(self.rate_bps, self.delay_s), *((layer.rate_bps, layer.delay_s) for layer in crossed)]
        return [*up, *up[::-1]]


def _count(name: str, value: int) -> int:
    return int(one_number(whole, name, value, minimum=1))


__all__ = ["FabricModel", "LinkLayer"]
