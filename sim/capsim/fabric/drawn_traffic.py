"""What all drawn traffic shares: sizes, senders and who sends to whom."""

from typing import Annotated

import msgspec
import numpy as np
from msgspec import Meta

from capsim import bounds
from capsim.bounds import FlowBytes, Time
from capsim.fabric.endpoints import Ints, Pairing, Pairs
from capsim.fabric.flows import Drawn
from capsim.fabric.topology import Fabric
from capsim.seeds import EntrySeeds
from capsmodel.checks import require
from capsmodel.workloads.catalogue import FlowSizes, load_workload
from capsmodel.workloads.files import MOST_POINTS

CdfPoint = tuple[Annotated[float, bounds.CDF_BYTES.meta], Annotated[float, bounds.CDF_PROB.meta]]
_ROUNDING = 0.002  # of a mean, by which whole bytes may be above the sizes of a distribution
_CDF_POINTS = Meta(min_length=1, max_length=MOST_POINTS)


class TrafficKind(
    msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True, tag_field="kind", omit_defaults=True
):
    """What all drawn traffic shares: sizes, senders and who sends to whom.

    Parameters
    ----------
    workload : str, optional
        Name of a flow-size distribution of :mod:`capsmodel.workloads.catalogue`, or in a scenario's file the name of a
        CSV file (:mod:`capsmodel.workloads.files`), whose points become `flow_bytes_cdf`. One of `workload`,
        `flow_bytes`, `flow_bytes_cdf` and the pair `min_bytes`, `max_bytes` must be given.
    flow_bytes : int, optional
        One size for all, in bytes.
    flow_bytes_cdf : tuple of (float, float), optional
        Points (size in bytes, F) of a distribution function, linear between them.
    min_bytes, max_bytes : int, optional
        Sizes uniform over the whole numbers between, both included, in bytes.
    pairs : str
        ``random`` (any two hosts), ``other-leaf``, ``other-pod``, ``staggered`` (with given probabilities under the
        same edge switch, in the same pod, or in another), ``sides`` (host i of the first leaf to host i of the last),
        ``permutation`` (each sender to one host of its own, nobody to itself) or ``stride`` (host x to x + stride).
    stride_hosts : int
        Of ``stride``: the stride, in hosts.
    edge_prob, pod_prob : float
        Of ``staggered``: probability that a partner is under the same edge switch, and that it is in the same pod but
        under another; otherwise it is in another pod. Uniform among the hosts there.
    common_partners : bool
        Each host of the fabric has one partner, drawn from the seed once for all entries of the run that say so,
        instead of one for each entry (``permutation``) or each flow. Of such entries with ``permutation``, those that
        skip each other's hosts share neither senders nor receivers, as in MMPTCP.
    skip_hosts, hosts : int
        Senders are `hosts` of the hosts (all when left out) in an order drawn from the seed, after the first
        `skip_hosts`; entries that skip each other's hosts have disjoint senders.
    start_s : float
        When the entry begins, in seconds.
    stack : str, optional
        Scheme whose host side (transport, congestion control, sharing, layer, marking) the flows of this entry run, on
        the switches of the scenario's scheme; that of the scenario's scheme when left out.
    """

    workload: str | None = None
    flow_bytes: FlowBytes | None = None
    flow_bytes_cdf: Annotated[tuple[CdfPoint, ...], _CDF_POINTS] | None = None
    min_bytes: FlowBytes | None = None
    max_bytes: FlowBytes | None = None
    pairs: Pairs = "random"
    stride_hosts: Annotated[int, bounds.HOSTS.meta] = 1
    edge_prob: Annotated[float, bounds.RATIO.meta] = 0.0
    pod_prob: Annotated[float, bounds.RATIO.meta] = 0.0
    common_partners: bool = False
    skip_hosts: Annotated[int, bounds.SKIP_HOSTS.meta] = 0
    hosts: Annotated[int, bounds.HOSTS.meta] | None = None
    start_s: Time = 0.0
    stack: str | None = None

    def expected_flows(self, fabric: Fabric) -> float:
        """Return about how many flows this entry makes, without making them."""
        raise NotImplementedError

    def draw(self, fabric: Fabric, seeds: EntrySeeds) -> Drawn:
        """Return the flows of this entry."""
        raise NotImplementedError

    def sizes(self, count: int, rng: np.random.Generator) -> Ints:
        """Return `count` flow sizes in bytes."""
        distribution = self._distribution()
        if distribution is not None:
            return distribution.sample(count, rng=rng, whole=True)
        if self.flow_bytes is not None:
            return np.full(count, self.flow_bytes, np.int64)
        return rng.integers(self.min_bytes or 1, self.max_bytes, count, endpoint=True)

    def mean_bytes(self) -> float:
        """Return the mean flow size in bytes.

        Sizes are drawn as whole bytes, rounded up. Where that adds more than 0.2% to the mean, for sizes of some
        hundred bytes and less, it is the mean of the rounded ones. Elsewhere, in all published tables, it is that of
        the distribution: the difference is far below what the sizes of a run vary by, and loads are those of the
        formulas.
        """
        distribution = self._distribution()
        if distribution is not None:
            whole = distribution.mean_of_whole()
            return whole if whole > (1 + _ROUNDING) * distribution.mean_bytes else float(distribution.mean_bytes)
        return float(self.flow_bytes or ((self.min_bytes or 0) + (self.max_bytes or 0)) / 2)

    def _distribution(self) -> FlowSizes | None:
        """Return the distribution of sizes; None where all are equal or uniform."""
        self._check_size()
        if self.flow_bytes_cdf is not None:
            points = np.array(self.flow_bytes_cdf, np.float64)
            return FlowSizes(points[:, 0], points[:, 1], name="flow_bytes_cdf")
        return None if self.workload is None else load_workload(self.workload)

    def _check_size(self) -> None:
        bounds = (self.min_bytes, self.max_bytes)
        one_of = (self.workload, self.flow_bytes, self.flow_bytes_cdf)
        given = sum(way is not None for way in one_of) + (bounds != (None, None))
        require(given == 1, "traffic: give one of workload, flow_bytes, flow_bytes_cdf, or min_bytes with max_bytes")
        if bounds != (None, None):
            low, high = bounds
            require(low is not None and high is not None, "traffic: min_bytes and max_bytes go together")
            require((low or 0) <= (high or 0), f"traffic.max_bytes = {high}, but it must be at least min_bytes = {low}")

    @property
    def pairing(self) -> Pairing:
        """Return who sends to whom."""
        return Pairing(self.pairs, self.stride_hosts, self.edge_prob, self.pod_prob, self.common_partners)

    def senders(self, fabric: Fabric, rng: np.random.Generator) -> Ints:
        """Return the hosts that send, in the order of their numbers."""
        order = rng.permutation(fabric.n_hosts)
        if self.pairs == "sides":
            order = order[fabric.leaf_of_host[order] == fabric.leaf_of_host.min()]
        last = len(order) if self.hosts is None else self.skip_hosts + self.hosts
        require(
            self.skip_hosts < last <= len(order),
            f"traffic: only {len(order)} hosts can send here, but skip_hosts = {self.skip_hosts} and hosts want more",
        )
        return np.sort(order[self.skip_hosts : last])
