"""Shared by all drawn traffic: sizes, senders and who sends to whom."""

import re
from math import inf
from typing import Annotated, Any, Literal, Self

import msgspec
import numpy as np
import numpy.typing as npt
from msgspec import Meta

from capsim.base import bounds
from capsim.base.bounds import FLOWS, FlowBytes, Flows, HostNumber, Period, Time, shortened
from capsim.base.seeds import EntrySeeds
from capsim.base.structs import KeyedStruct, checked_struct
from capsim.fabric.base import Part
from capsim.fabric.collectives import Collective
from capsim.fabric.endpoints import Ints, Pairing, Pairs, pods
from capsim.fabric.flows import DrawnFlows, FlowList, check_flows, check_hosts, flow_list
from capsim.fabric.listed import Listed
from capsim.fabric.load import LoadOf, carried_bytes, counted_share, layer_of
from capsim.fabric.topology import Bools, Fabric
from capsmodel.checks import ParameterError, require
from capsmodel.metrics import arrival_rate_per_s, offered_load
from capsmodel.queueing.settling import run_flows
from capsmodel.queueing.steady_flows import SteadyLoad, surroundings
from capsmodel.units import BITS_PER_BYTE
from capsmodel.workloads.catalogue import FlowSizes, load_workload
from capsmodel.workloads.files import MOST_POINTS

CdfPoint = tuple[Annotated[float, bounds.CDF_BYTES.meta], Annotated[float, bounds.CDF_PROB.meta]]
_ROUNDING = 0.002  # of a mean, by which whole bytes may be above the sizes of a distribution
_CDF_POINTS = Meta(min_length=1, max_length=MOST_POINTS)


class TrafficKind(KeyedStruct, frozen=True, kw_only=True, tag_field="kind"):
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

    def draw(self, fabric: Fabric, seeds: EntrySeeds) -> DrawnFlows:
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

    def size_distribution(self) -> FlowSizes:
        """Return the distribution of sizes, in bytes."""
        distribution = self._distribution()
        if distribution is not None:
            return distribution
        if self.flow_bytes is not None:
            return FlowSizes.fixed(self.flow_bytes)
        return FlowSizes.uniform(self.min_bytes or 1, self.max_bytes or 1)

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

    def excerpt(self, part: Part) -> Self:
        """Return this entry as it is among some blocks of its fabric, where a host keeps its share of near partners.

        Parameters
        ----------
        part : Part
            The blocks.

        Raises
        ------
        ParameterError
            If partners are fixed, or less than one flow falls to the blocks.
        """
        rule = "an excerpt moves partners, and here they are the question: run the whole"
        require(not self.common_partners, f"traffic.common_partners = true, but {rule}")
        fixed = self.pairs in ("permutation", "stride", "sides")
        require(not fixed, f"traffic.pairs = {self.pairs!r}, but {rule}")
        changes = self._among(part)
        if self.pairs == "random":
            edge_prob, pod_prob = part.near_probs
            changes |= {"pairs": "staggered", "edge_prob": edge_prob, "pod_prob": pod_prob}
        if self.hosts is not None:
            changes |= {"hosts": part.count(self.hosts, "hosts"), "skip_hosts": round(self.skip_hosts * part.share)}
        return msgspec.structs.replace(self, **changes)

    def _among(self, part: Part) -> dict[str, Any]:
        """Return what changes of this kind of entry among some blocks."""
        raise NotImplementedError

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


Floats = npt.NDArray[np.float64]
_HALF_WIDTH = re.compile(r"([0-9]{1,2}(?:\.[0-9]{1,6})?)%")


def half_width(text: str) -> float:
    """Return the half-width that a number of flows is to give, as a share of the mean.

    Raises
    ------
    ParameterError
        If the text is no percentage above 0 and below 100.

    Examples
    --------
    >>> half_width("5%")
    0.05
    """
    match = _HALF_WIDTH.fullmatch(text)
    width = float(match[1]) / 100 if match else 0.0
    rule = 'but it must be a number, or the half-width that the mean slowdown is to have, as in "5%"'
    require(width > 0, f"traffic.flows = {shortened(text)}, {rule}")
    return width


class Poisson(TrafficKind, frozen=True, kw_only=True, tag="poisson"):
    """Flows at the times of a Poisson process.

    Parameters
    ----------
    load : float, optional
        Load ρ (:mod:`capsim.fabric.load`); or `flows_per_s`, the arrival rate of the whole fabric.
    flows_per_s : float, optional
        Arrival rate λ, per second.
    load_of : str
        What the load is measured against: ``host-links`` or ``leaf-uplinks``.
    flows : int or str, optional
        Number of flows; or such as ``5%``, the half-width that the mean slowdown of long flows is to have, by which the
        number follows (:func:`capsmodel.queueing.settling.run_flows`, at the load of this entry alone); or
        `duration_s`, the time over which they arrive.
    duration_s : float, optional
        In seconds.
    exact_load : bool
        Whether the start times are scaled by one factor, so that what the flows drawn offer from the first start to the
        last is `load`; needs `load` and `flows`.
    start : str
        ``empty``: the network is empty at the beginning, a cold start. ``steady``: flows are in progress, and arrivals
        go on before and after the `flows` that are counted (:mod:`capsmodel.queueing.steady_flows`).
    slowdown : float, optional
        Of ``steady``: how many times as long as alone flows last, weighted by their sizes, which decides how many are
        in progress at the beginning; that of two links that share their rates when left out. A run says what it has
        found where that is much more (`kept_slowdown`, :mod:`capsim.results.load_record`).
    cool_down_s : float, optional
        Of ``steady``: for how long arrivals go on at most after the last one that is counted, in seconds; when left out
        until all counted flows are complete.

    Notes
    -----
    Without `exact_load` the arrivals are a Poisson process of the rate that gives `load` on average, as in the
    formulas, the papers and the generators of other simulators; what one run offers then differs from `load` by chance,
    for sizes with a heavy tail by tens of per cent. With it every run offers `load`, so that intervals over seeds do
    not mix the effect of a scheme with that of other loads. Sizes, ends and the order of starts are the same, and all
    schemes still see the same flows. But the times are no Poisson process any more: the rate of a run follows from the
    sizes that it happens to draw, a run with a huge flow has its other flows farther apart, and that part of the spread
    which belongs to long-run averages of the process is gone. So it is off unless asked for.
    """

    load: Annotated[float, bounds.LOAD.meta] | None = None
    flows_per_s: Annotated[float, bounds.RATE_PER_S.meta] | None = None
    load_of: LoadOf = "host-links"
    flows: Flows | str | None = None
    duration_s: Period | None = None
    exact_load: bool = False
    start: Literal["empty", "steady"] = "empty"
    slowdown: Annotated[float, bounds.SLOWDOWN.meta] | None = None
    cool_down_s: Time | None = None

    def rate_per_s(self, fabric: Fabric) -> float:
        """Return the arrival rate λ of the whole fabric, per second."""
        require((self.load is None) != (self.flows_per_s is None), "traffic: give one of load and flows_per_s")
        if self.flows_per_s is not None:
            return self.flows_per_s
        counted_bytes = self.mean_bytes() * counted_share(fabric, self.load_of, self.pairing)
        capacity_bps = layer_of(fabric, self.load_of).capacity_bps
        return float(arrival_rate_per_s(self.load or 0, mean_bytes=counted_bytes, rate_bps=capacity_bps))

    def expected_flows(self, fabric: Fabric) -> float:
        """Return about how many flows this entry counts, without making them."""
        if self.flows is not None:
            return self._count(fabric)
        return (self.duration_s or 0.0) * self.rate_per_s(fabric)

    def _count(self, fabric: Fabric) -> int:
        """Return the number of flows that `flows` says."""
        if not isinstance(self.flows, str):
            return self.flows or 0
        width, load, layer = half_width(self.flows), self.host_load(fabric), layer_of(fabric, "host-links")
        rule = f"traffic.flows = {self.flows!r}"
        require(0 < load < 1, f"{rule} needs a load of the links of hosts below 1, but it is {load:.2f}: give a number")
        count = run_flows(self.size_distribution(), load=load, hosts=len(layer.ports), half_width=width)
        require(count < inf, f"{rule} is about flows above 100 kB, but none is so long: give a number of flows")
        FLOWS.check(rule, count)
        return int(count)

    def draw(self, fabric: Fabric, seeds: EntrySeeds) -> DrawnFlows:
        """Return the flows of this entry."""
        rate_per_s = self.rate_per_s(fabric)
        require((self.flows is None) != (self.duration_s is None), "traffic: give one of flows and duration_s")
        if self.flows is not None:
            times = np.cumsum(seeds.arrivals.exponential(1 / rate_per_s, self._count(fabric)))
        else:
            duration_s = float(self.duration_s or 0)
            times = np.sort(seeds.arrivals.uniform(0, duration_s, seeds.arrivals.poisson(rate_per_s * duration_s)))
        drawn = _among_senders(self, fabric, seeds, times)
        return self._with_exact_load(drawn, times, fabric) if self.exact_load else drawn

    def _among(self, part: Part) -> dict[str, Any]:
        """Return the arrivals at the hosts of the blocks; their load is what it happens to be, as in the whole."""
        flows = part.count(self.flows, "flows") if isinstance(self.flows, int) else self.flows
        per_s = None if self.flows_per_s is None else self.flows_per_s * part.share
        return {"flows": flows, "flows_per_s": per_s, "exact_load": False}

    def host_load(self, fabric: Fabric) -> float:
        """Return the load that this entry is expected to ask of the links from hosts."""
        capacity_bps = layer_of(fabric, "host-links").capacity_bps
        return float(offered_load(self.rate_per_s(fabric), mean_bytes=self.mean_bytes(), rate_bps=capacity_bps))

    def steady_load(self, fabric: Fabric, host_load: float) -> SteadyLoad:
        """Return what a steady start rests on, where all entries ask links from hosts for `host_load`."""
        hosts = layer_of(fabric, "host-links")
        return SteadyLoad(self.rate_per_s(fabric), host_load, hosts.capacity_bps / len(hosts.ports), self.slowdown)

    def surrounded(self, drawn: DrawnFlows, fabric: Fabric, seeds: EntrySeeds, *, host_load: float) -> DrawnFlows:
        """Return the flows of this entry with those that a steady start adds, which are not counted.

        Parameters
        ----------
        drawn : Drawn
            From :meth:`draw`.
        fabric : Fabric
            The fabric whose hosts send.
        seeds : EntrySeeds
            Of this entry.
        host_load : float
            Load that all entries of the run ask of the links from hosts.
        """
        load = self.steady_load(fabric, host_load)
        beside = seeds.surroundings()
        around = surroundings(
            self.size_distribution(),
            (drawn.start_s - self.start_s, drawn.flow_bytes),
            load,
            cool_down_s=self.cool_down_s,
            rng=beside.arrivals,
        )
        senders = self.senders(fabric, beside.hosts)
        src = senders[beside.endpoints.integers(0, len(senders), len(around.start_s))]
        dst = self.pairing.receivers(fabric, src, seeds=beside, senders=senders)
        return DrawnFlows(
            np.concatenate([drawn.src, src]),
            np.concatenate([drawn.dst, dst]),
            np.concatenate([drawn.flow_bytes, around.flow_bytes]),
            np.concatenate([drawn.start_s + around.lead_s, self.start_s + around.start_s]),
            counted=np.arange(len(drawn.src) + len(src)) < len(drawn.src),
            whole_bytes=np.concatenate([drawn.flow_bytes, around.whole_bytes]),
        )

    def _with_exact_load(self, drawn: DrawnFlows, times: Floats, fabric: Fabric) -> DrawnFlows:
        """Return flows drawn at `times` with these scaled, so that from first to last they offer the load asked for."""
        rule = "traffic.exact_load scales the times of a number of flows to a load: give load and flows, at least 2"
        require(self.load is not None and self.flows is not None and len(times) > 1, rule)
        layer = layer_of(fabric, self.load_of)
        carried = carried_bytes(layer, drawn.src, drawn.dst, drawn.flow_bytes)
        require(carried > 0, "traffic.exact_load: no flow that was drawn counts for the load: give more flows")
        span_s = 1 / arrival_rate_per_s(self.load or 0, mean_bytes=carried, rate_bps=layer.capacity_bps)
        return msgspec.structs.replace(drawn, start_s=self.start_s + times * (span_s / np.ptp(times)))


def _among_senders(entry: TrafficKind, fabric: Fabric, seeds: EntrySeeds, times: Floats) -> DrawnFlows:
    """Give each start time a sender drawn uniformly, a partner and a size."""
    senders = entry.senders(fabric, seeds.hosts)
    src = senders[seeds.endpoints.integers(0, len(senders), len(times))]
    return _to_partners(entry, fabric, seeds, times, senders, src)


def _to_partners(
    entry: TrafficKind, fabric: Fabric, seeds: EntrySeeds, times: Floats, senders: Ints, src: Ints
) -> DrawnFlows:
    """Give flows of known senders a partner and a size."""
    dst = entry.pairing.receivers(fabric, src, seeds=seeds, senders=senders)
    return DrawnFlows(src, dst, entry.sizes(len(times), seeds.sizes), entry.start_s + times)


class Batch(TrafficKind, frozen=True, kw_only=True, tag="batch"):
    """Flows that start together, or spread uniformly over `spread_s`; senders take turns.

    Parameters
    ----------
    flows : int, optional
        Number of flows; one for each sender when left out, which makes a matrix of ``pairs``.
    spread_s : float
        Starts are uniform over this time, in seconds; 0 starts all at once.
    """

    flows: Flows | None = None
    spread_s: Time = 0.0

    def expected_flows(self, fabric: Fabric) -> float:
        """Return about how many flows this entry makes, without making them."""
        return float(self.flows or fabric.n_hosts)

    def draw(self, fabric: Fabric, seeds: EntrySeeds) -> DrawnFlows:
        """Return the flows of this entry."""
        senders = self.senders(fabric, seeds.hosts)
        count = len(senders) if self.flows is None else self.flows
        src = senders[np.arange(count) % len(senders)]
        dst = self.pairing.receivers(fabric, src, seeds=seeds, senders=senders)
        starts = self.start_s + seeds.arrivals.uniform(0, self.spread_s, count)
        return DrawnFlows(src, dst, self.sizes(count, seeds.sizes), starts)

    def _among(self, part: Part) -> dict[str, Any]:
        """Return the share of the flows."""
        return {"flows": None if self.flows is None else part.count(self.flows, "flows")}


class OnOff(TrafficKind, frozen=True, kw_only=True, tag="on-off"):
    """Bursts: exponential ON periods in which flows start, exponential OFF periods between.

    Parameters
    ----------
    bursts : int
        Number of ON periods.
    flows_per_burst : int
        Flows of each, their starts uniform over the ON period.
    mean_on_s, mean_off_s : float
        Mean lengths, in seconds; a `mean_on_s` of 0 makes bursts that arrive as a Poisson process.
    together : bool
        Whether all flows of an ON period start when it begins.
    distinct_senders : bool
        Whether the flows of an ON period have different senders, while there are enough.
    """

    bursts: Flows
    flows_per_burst: Flows
    mean_on_s: Time
    mean_off_s: Period
    together: bool = False
    distinct_senders: bool = False

    def expected_flows(self, fabric: Fabric) -> float:
        """Return about how many flows this entry makes, without making them."""
        return float(self.bursts * self.flows_per_burst)

    def draw(self, fabric: Fabric, seeds: EntrySeeds) -> DrawnFlows:
        """Return the flows of this entry."""
        on_s = seeds.arrivals.exponential(self.mean_on_s, self.bursts)
        off_s = seeds.arrivals.exponential(self.mean_off_s, self.bursts)
        begin_s = np.cumsum(on_s + off_s) - on_s
        within = 0.0 if self.together else seeds.arrivals.uniform(0, 1, (self.bursts, self.flows_per_burst))
        starts_s = np.broadcast_to(begin_s[:, None] + within * on_s[:, None], (self.bursts, self.flows_per_burst))
        if not self.distinct_senders:
            return _among_senders(self, fabric, seeds, starts_s.ravel())
        senders = self.senders(fabric, seeds.hosts)
        in_turn = seeds.endpoints.permuted(np.tile(senders, (self.bursts, 1)), axis=1)
        src = in_turn[:, np.arange(self.flows_per_burst) % len(senders)].ravel()
        return _to_partners(self, fabric, seeds, starts_s.ravel(), senders, src)

    def _among(self, part: Part) -> dict[str, Any]:
        """Return the share of the flows of each burst: all hosts of the fabric take part in one."""
        share = self.flows_per_burst * part.share
        rule = f"{share:.4g} of them fall to the excerpt, and it must be a whole number"
        require(share % 1 == 0 < share, f"traffic.flows_per_burst = {self.flows_per_burst}: {rule}: change one of them")
        return {"flows_per_burst": int(share)}


class Incast(TrafficKind, frozen=True, kw_only=True, tag="incast"):
    """Many senders, one receiver, in rounds.

    Parameters
    ----------
    senders_per_round : int
        Flows of a round; each from another host while there are enough hosts.
    receiver : int, optional
        Host number; drawn for each round when left out.
    pairs : str
        ``staggered``: a sender is under the receiver's edge switch with probability `edge_prob`, elsewhere in its pod
        with `pod_prob`. Otherwise all other hosts are alike.
    rounds : int
        Number of rounds.
    period_s : float
        Time between the beginnings of two rounds, in seconds; or `load`.
    load : float, optional
        Share ρ of the capacity C of the link to the receiver that the rounds ask for: the next one begins
        8 · `senders_per_round` · E[S] / (ρC) later, where E[S] is the mean size.
    poisson : bool
        Whether rounds begin at the times of a Poisson process, that time being the mean between two.
    spread_s : float
        Starts within a round are uniform over this time, in seconds.
    same_ends : bool
        Whether senders and receiver are drawn once for all rounds, instead of for each.
    """

    senders_per_round: Flows
    receiver: HostNumber | None = None
    rounds: Annotated[int, bounds.ROUNDS.meta] = 1
    period_s: Time = 0.0
    load: Annotated[float, bounds.LOAD.meta] | None = None
    poisson: bool = False
    spread_s: Time = 0.0
    same_ends: bool = False

    def expected_flows(self, fabric: Fabric) -> float:
        """Return about how many flows this entry makes, without making them."""
        return float(self.rounds * self.senders_per_round)

    def draw(self, fabric: Fabric, seeds: EntrySeeds) -> DrawnFlows:
        """Return the flows of this entry."""
        receivers = seeds.partners.integers(0, fabric.n_hosts, self.rounds)
        if self.receiver is not None:
            receivers[:] = self.receiver
        hosts = self.senders(fabric, seeds.hosts)  # the same in each round
        if self.same_ends:
            receivers[:] = receivers[0]
            senders = [self._round(fabric, receivers[0], hosts, seeds)] * self.rounds
        else:
            senders = [self._round(fabric, receiver, hosts, seeds) for receiver in receivers]
        count = self.senders_per_round
        period_s = self._periods_s(fabric, receivers)
        rounds_s = np.arange(self.rounds) * self.period_s if self.load is None else np.cumsum(period_s) - period_s
        if self.poisson:
            rounds_s = np.cumsum(seeds.arrivals.exponential(period_s, self.rounds))
        begin_s = self.start_s + np.repeat(rounds_s, count)
        return DrawnFlows(
            np.concatenate(senders),
            np.repeat(receivers, count),
            self.sizes(self.rounds * count, seeds.sizes),
            begin_s + seeds.arrivals.uniform(0, self.spread_s, self.rounds * count),
        )

    def _periods_s(self, fabric: Fabric, receivers: Ints) -> Floats:
        """Return over rounds the mean time until the next one begins."""
        if self.load is None:
            return np.full(self.rounds, self.period_s)
        require(self.period_s == 0, "traffic: an incast has load or period_s, not both: leave one of them out")
        known = [int(receiver) for receiver in np.unique(receivers) if receiver < fabric.n_hosts]
        downlinks = {host: int(fabric.routes.ports(int(fabric.leaf_of_host[host]), host)[0]) for host in known}
        capacity_bps = np.array([fabric.rate_bps[downlinks.get(host, 0)] for host in receivers.tolist()])
        return BITS_PER_BYTE * self.senders_per_round * self.mean_bytes() / (self.load * capacity_bps)

    def _round(self, fabric: Fabric, receiver: int, hosts: Ints, seeds: EntrySeeds) -> Ints:
        others = hosts[hosts != receiver]
        require(len(others) > 0, "traffic: the receiver is the only sender of this incast: give it more hosts")
        in_turn = seeds.endpoints.permutation(others)
        if self.pairs == "staggered":
            in_turn = self._by_distance(fabric, receiver, in_turn, seeds)
        return in_turn[np.arange(self.senders_per_round) % len(in_turn)]

    def _by_distance(self, fabric: Fabric, receiver: int, others: Ints, seeds: EntrySeeds) -> Ints:
        """Return the senders of a round: how many are near is drawn, and each group gives its first ones in turn."""
        total = self.edge_prob + self.pod_prob
        require(total <= 1, f"traffic.edge_prob + traffic.pod_prob = {total:g}, but they must be at most 1 together")
        pod, leaf = pods(fabric), fabric.leaf_of_host
        near = np.where(leaf[others] == leaf[receiver], 0, np.where(pod[others] == pod[receiver], 1, 2))
        counts = seeds.endpoints.multinomial(self.senders_per_round, [self.edge_prob, self.pod_prob, 1 - total])
        groups = [others[near == distance] for distance in range(3)]
        for group, count, where in zip(groups, counts, ("under its edge switch", "in its pod", "beyond"), strict=True):
            require(len(group) or not count, f"traffic.pairs = 'staggered', but a receiver has no sender {where}")
        return np.concatenate([np.resize(group, count) for group, count in zip(groups, counts, strict=True)])

    def _among(self, part: Part) -> dict[str, Any]:
        """Return the share of the rounds, farther apart; each has as many senders as in the whole."""
        ends = self.receiver is not None or self.same_ends
        require(not ends, "traffic: an incast with one receiver: an excerpt has none to stand for it: run the whole")
        hosts, most = part.kept * part.of.block_hosts, part.kept * part.of.block_hosts // 2
        rule = f"an excerpt of {hosts} hosts takes at most {most}: more {part.of.word} would fit"
        require(self.senders_per_round <= most, f"traffic.senders_per_round = {self.senders_per_round}, but {rule}")
        load = None if self.load is None else self.load * part.share
        return {"rounds": part.count(self.rounds, "rounds"), "load": load, "period_s": self.period_s / part.share}


AnyTraffic = Poisson | Batch | OnOff | Incast | Collective | Listed


def draw_flows(entries: tuple[AnyTraffic, ...], fabric: Fabric, *, seed: int, short_bytes: int) -> FlowList:
    """Return the flows of all traffic entries, merged in start order.

    Parameters
    ----------
    entries : tuple
        Traffic entries; an entry's draws depend on the seed and its position only.
    fabric : Fabric
        The fabric whose hosts send.
    seed : int
        Seed of the run.
    short_bytes : int
        Largest size of a short flow, in bytes.

    Raises
    ------
    ParameterError
        If an entry cannot be drawn; the text names the key.

    Examples
    --------
    >>> from capsim.fabric.kinds import Dumbbell
    >>> entries = (Batch(flows=3, flow_bytes=1000, pairs="sides"),)
    >>> len(draw_flows(entries, Dumbbell(hosts_per_side=2).build(), seed=1, short_bytes=100_000))
    3
    """
    require(len(entries) > 0, "traffic is empty: give at least one [[traffic]] entry")
    check_workloads(entries)
    for position, entry in enumerate(entries):
        checked_struct(entry, where=f"traffic[{position}]")
    drawn = [entry.draw(fabric, EntrySeeds(seed, position)) for position, entry in enumerate(entries)]
    drawn = _surrounded(entries, drawn, fabric, seed)
    for position, flows in enumerate(drawn):
        _check_drawn(flows, fabric, where=f"traffic[{position}].flows")
    src, dst = (np.concatenate([getattr(flows, end) for flows in drawn]) for end in ("src", "dst"))
    if len(src) == 0:
        raise ParameterError("traffic: no flow arrived within duration_s: make it longer or the rate higher")
    counts = np.array([len(flows.src) for flows in drawn])
    firsts = np.cumsum(counts) - counts
    return flow_list(
        src,
        dst,
        flow_bytes=np.concatenate([flows.flow_bytes for flows in drawn]),
        start_s=np.concatenate([flows.start_s for flows in drawn]),
        short_bytes=short_bytes,
        tag=np.repeat(np.arange(len(drawn)), counts),
        input_row=np.concatenate([np.arange(len(flows.src)) if flows.rows is None else flows.rows for flows in drawn]),
        after=np.concatenate([flows.after + first for flows, first in zip(drawn, firsts, strict=True)]),
        after_sender=_over_flows(drawn, "after_sender"),
        counted=_over_flows(drawn, "counted"),
        whole_bytes=np.concatenate(
            [flows.flow_bytes if flows.whole_bytes is None else flows.whole_bytes for flows in drawn]
        ),
    )


def _surrounded(
    entries: tuple[AnyTraffic, ...], drawn: list[DrawnFlows], fabric: Fabric, seed: int
) -> list[DrawnFlows]:
    """Return the flows of all entries with those that steady starts add."""
    host_load = sum(entry.host_load(fabric) for entry in entries if isinstance(entry, Poisson))
    return [
        entry.surrounded(flows, fabric, EntrySeeds(seed, position), host_load=host_load)
        if isinstance(entry, Poisson) and entry.start == "steady"
        else flows
        for position, (entry, flows) in enumerate(zip(entries, drawn, strict=True))
    ]


def _over_flows(drawn: list[DrawnFlows], name: str) -> Bools:
    """Return over all flows a field that is one value for all of an entry, or one for each."""
    return np.concatenate([np.broadcast_to(getattr(flows, name), len(flows.src)) for flows in drawn])


def check_workloads(entries: tuple[AnyTraffic, ...]) -> None:
    """Refuse a distribution in place of its name, which a struct made in Python may hold and no file can."""
    kind = type(entries).__name__
    rule = "but it must be a tuple of entries, as in traffic=(Poisson(...),)"
    require(isinstance(entries, tuple | list), f"traffic is a {kind}, {rule}")
    for position, entry in enumerate(entries):
        given = isinstance(getattr(entry, "workload", None), FlowSizes)
        rule = "it must be a name or a file; give the points of a FlowSizes as flow_bytes_cdf"
        require(not given, f"traffic[{position}].workload is a FlowSizes, but {rule}")


def _check_drawn(flows: DrawnFlows, fabric: Fabric, *, where: str) -> None:
    check_flows(flows.src, flows.dst, flow_bytes=flows.flow_bytes, start_s=flows.start_s, where=where)
    for name in ("src", "dst"):
        check_hosts(getattr(flows, name), fabric.n_hosts, where=where, name=name)
