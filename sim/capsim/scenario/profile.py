"""Defaults that fit the rate of the links: the key ``profile`` of a scenario, ``"100g"``, and what it fills in.

Timers, windows and thresholds of 1 Gbps are kept at any rate unless somebody sets them: a retransmission timeout of
200 ms is then the time of millions of packets. A profile sets those that the scenario leaves out, each by a rule:

============================== =====================================================================================
What                           Rule
============================== =====================================================================================
``fabric.rate_bps``            the rate that the profile is named for
``fabric.delay_s``             1 us on each link
``transport.mss_bytes``        packets of 1500 bytes, at 100 and 400 Gbps of 4150 bytes as in Ultra Ethernet's htsim
base RTT                       of the longest shortest path: a packet forth, a frame of 64 bytes back
BDP                            rate of a host times base RTT, in whole packets
``fabric.buffer_packets``      5 BDP
``queue.threshold_packets``    K of the queue ``ecn``: max(15, 0.2 BDP), above the least of RFC 8257, C RTT / 7
``queue.limit_bytes``          of the queue ``trim``: BDP (Ultra Ethernet), 5 BDP where it drops; the default is 8
                               packets of 1500 bytes
``transport.max_window_bytes`` 2 (BDP + queue), 1 GiB at most, since TCP has no larger window
``transport.min_rto_s``        1 ms where it is longer
``transport.initial_rtt_s``    the base RTT, where it is longer than that timer: else each flow begins with a timeout
``initial_window_packets``     of the transport ``ndp``, whose first window leaves at once: BDP
``congestion.rate_bps``        of ``nscc``: the rate; ``base_rtt_s``: the base RTT. With it ``transport.min_rto_s`` is
                               15 us and the time of six full queues, as in Ultra Ethernet's htsim
``queue.mark_low_bytes``       of a queue ``trim`` that marks: 0.2 BDP in whole packets, ``mark_high_bytes``: 0.8 BDP
``balancer.gap_s``             of ``letflow`` and ``conga``: the time in which a full queue drains
============================== =====================================================================================

Rate and delay are filled in where tables are read (a file, the command line); a fabric that is made in Python has its
own. The rest depends on the scheme, and is written into the scenario that is run: results keep the numbers, and a later
run of them needs no rule.
"""

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, fields
from math import ceil
from typing import Any

from capsim.base.bounds import WINDOW_BYTES
from capsim.base.clock import PS_PER_S, serialisation_ps
from capsim.fabric.topology import Fabric
from capsim.protocols.balancers.letflow import LetflowParams
from capsim.protocols.queues.ecn import EcnParams
from capsim.protocols.transports.tcp import TcpParams
from capsim.roles.components import Component, Scheme
from capsim.scenario.entry_stacks import scheme_of_run
from capsim.scenario.scenario import PROFILE_RATES_BPS, Scenario, from_dict
from capsmodel.checks import require

_PACKET_BYTES = {"10g": 1500, "25g": 1500, "100g": 4150, "400g": 4150}
_FRAME_BYTES = 64  # the smallest of Ethernet: an acknowledgement
_QUEUE_BDP, _LEAST_K, _K_BDP, _MIN_RTO_S = 5, 15, 0.2, 1e-3
_HIGH_BDP, _UET_RTO_S = 0.8, 15e-6
_SEARCHED = 32  # switches with hosts from which the longest path is looked for

_OLD_RATE_BPS = 1e9
"""The rate that these defaults of components were published for."""
_OLD_K, _OLD_GAP_S, _OLD_RTO_S = EcnParams().threshold_packets, LetflowParams().gap_s, TcpParams().min_rto_s


@dataclass(frozen=True)
class Sizes:
    """What the rules start from.

    Attributes
    ----------
    rate_bps : int
        Of the fastest host.
    rtt_s : float
        Base RTT, in seconds.
    packet_bytes, bdp_packets : int
        A full packet with its headers, and how many of them the rate times the RTT holds.
    """

    rate_bps: int
    rtt_s: float
    packet_bytes: int
    bdp_packets: int

    @property
    def queue_packets(self) -> int:
        """Return the queue limit of a port that drops, in packets."""
        return _QUEUE_BDP * self.bdp_packets

    @property
    def threshold_packets(self) -> int:
        """Return the marking threshold K, in packets."""
        return max(_LEAST_K, ceil(_K_BDP * self.bdp_packets))

    @property
    def window_packets(self) -> int:
        """Return the receive window, in packets."""
        return 2 * (self.bdp_packets + self.queue_packets)

    @property
    def drain_s(self) -> float:
        """Return the time in which a full queue drains, in seconds."""
        return self.queue_packets * serialisation_ps(self.packet_bytes, self.rate_bps) / PS_PER_S


def sizes_of(fabric: Fabric, packet_bytes: int) -> Sizes:
    """Return rate, base RTT and BDP of an intact fabric for packets of a size.

    Examples
    --------
    >>> from capsim import FatTree
    >>> fabric = FatTree(pods=4, rate_bps=100e9, delay_s=1e-6).build()
    >>> found = sizes_of(fabric, 4150)
    >>> round(found.rtt_s * 1e6, 2), found.bdp_packets, found.queue_packets, found.window_packets
    (14.02, 43, 215, 516)
    """
    rate_bps = int(fabric.rate_bps[fabric.host_port].max())
    hosts = {int(leaf): host for host, leaf in enumerate(fabric.leaf_of_host)}
    ends = list(hosts.values())
    pairs = [(src, dst) for src in ends[:_SEARCHED] for dst in ends if src != dst] or [(0, 1)]
    sizes = {"packet_bytes": packet_bytes, "ack_bytes": _FRAME_BYTES}
    rtt_ps = max(fabric.base_rtt_ps(src, dst, **sizes) for src, dst in pairs)
    return Sizes(rate_bps, rtt_ps / PS_PER_S, packet_bytes, -(-rtt_ps * rate_bps // (8 * packet_bytes * PS_PER_S)))


@dataclass(frozen=True)
class Filled:
    """A scenario whose profile has become numbers.

    Attributes
    ----------
    scenario, scheme : Scenario, Scheme
        What is run; the scenario has no profile.
    values : mapping
        What was filled in, by the name of the setting (:mod:`capsim.scenario.settings`).
    sizes : Sizes, optional
        What the rules started from; None where the scenario has no profile.
    """

    scenario: Scenario
    scheme: Scheme
    values: Mapping[str, Any]
    sizes: Sizes | None = None


def filled(scenario: Scenario, scheme: Scheme) -> Filled:
    """Return a scenario with what its profile says for a scheme; the scenario as it is if it has none.

    Raises
    ------
    ParameterError
        If hosts have another rate than the profile is for, or the scenario names parameters that the scheme lacks.

    Examples
    --------
    >>> from capsim import Batch, FatTree, scheme
    >>> fabric = FatTree(pods=4, rate_bps=100e9, delay_s=1e-6)
    >>> asked = Scenario(fabric=fabric, traffic=(Batch(flow_bytes=10**6),), profile="100g")
    >>> filled(asked, scheme("dctcp")).scenario.params["queue"]
    {'threshold_packets': 15}
    """
    if not scenario.profile:
        return Filled(scenario, scheme, {})
    fabric = scenario.fabric.build(seed=scenario.seed)
    _check_rate(scenario.profile, fabric)
    own = scheme_of_run(scenario, scheme)
    packet_bytes = _PACKET_BYTES[scenario.profile]
    transport = own.long.transport.params
    if "mss_bytes" in scenario.params.get("transport", {}):
        packet_bytes = transport.mss_bytes + transport.header_bytes
    sizes = sizes_of(fabric, packet_bytes)
    values = {name: one for name, one in _values(own, sizes).items() if not _has(scenario, name)}
    if scenario.fabric.buffer_packets is None and scenario.fabric.buffer_bytes is None:
        values = {"fabric.buffer_packets": sizes.queue_packets, **values}
    return Filled(_with(scenario, values), scheme, values, sizes)


def _check_rate(profile: str, fabric: Fabric) -> None:
    found = {int(rate) for rate in fabric.rate_bps[fabric.host_port]}
    listed = ", ".join(f"{rate / 1e9:g}" for rate in sorted(found))
    remedy = "set fabric.rate_bps, or leave the profile out"
    text = f"profile = {profile!r} is for hosts of {profile[:-1]} Gbps, but theirs is {listed} Gbps: {remedy}"
    require(found == {int(PROFILE_RATES_BPS[profile])}, text)


def _values(scheme: Scheme, sizes: Sizes) -> dict[str, Any]:
    """Return what the rules say for the components of a scheme, by the name of the setting."""
    transport = scheme.long.transport
    found: dict[str, Any] = {}
    if transport.reliable:
        mss_bytes = sizes.packet_bytes - transport.params.header_bytes
        found["transport.mss_bytes"] = mss_bytes
        found["transport.max_window_bytes"] = min(sizes.window_packets * mss_bytes, int(WINDOW_BYTES.largest))
    if _has_param(transport, "pull_share"):
        found["transport.initial_window_packets"] = sizes.bdp_packets
    found |= _timers(scheme, sizes)
    if _has_param(scheme.long.congestion, "base_rtt_s"):
        found["congestion.rate_bps"], found["congestion.base_rtt_s"] = sizes.rate_bps, sizes.rtt_s
    if getattr(scheme.queue.params, "mark_high_bytes", 0):
        for name, share in (("queue.mark_low_bytes", _K_BDP), ("queue.mark_high_bytes", _HIGH_BDP)):
            found[name] = ceil(share * sizes.bdp_packets) * sizes.packet_bytes
    if _has_param(scheme.queue, "threshold_packets"):
        found["queue.threshold_packets"] = sizes.threshold_packets
    if _has_param(scheme.queue, "trim_bytes"):
        found["queue.limit_bytes"] = _trim_packets(scheme, sizes) * sizes.packet_bytes
    if _has_param(scheme.balancer, "gap_s"):
        found["balancer.gap_s"] = sizes.drain_s
    return found


def _trim_packets(scheme: Scheme, sizes: Sizes) -> int:
    """Return the room of a port that trims, in packets, or of one that would but has nothing left."""
    return sizes.bdp_packets if getattr(scheme.queue.params, "trim_bytes", 1) else sizes.queue_packets


def _timers(scheme: Scheme, sizes: Sizes) -> dict[str, float]:
    if _has_param(scheme.long.congestion, "base_rtt_s"):
        queues_s = 6 * 8 * _trim_packets(scheme, sizes) * sizes.packet_bytes / sizes.rate_bps
        return {"transport.min_rto_s": _UET_RTO_S + queues_s}
    found = {}
    if any(getattr(stack.transport.params, "min_rto_s", 0.0) > _MIN_RTO_S for stack in scheme.stacks):
        found["transport.min_rto_s"] = _MIN_RTO_S
    if sizes.rtt_s >= _MIN_RTO_S and _has_param(scheme.long.transport, "initial_rtt_s"):
        found["transport.initial_rtt_s"] = sizes.rtt_s
    return found


def _has_param(component: Component, name: str) -> bool:
    return name in {each.name for each in fields(component.params)}


def _has(scenario: Scenario, setting: str) -> bool:
    role, _, name = setting.partition(".")
    return name in scenario.params.get(role, {})


def _with(scenario: Scenario, values: Mapping[str, Any]) -> Scenario:
    tables = scenario.to_dict()
    del tables["profile"]
    for setting, value in values.items():
        first, _, name = setting.partition(".")
        table = tables["fabric"] if first == "fabric" else tables.setdefault("params", {}).setdefault(first, {})
        table[name] = value
    return from_dict(tables)


def rate_remarks(runs: Iterable[tuple[Scenario, Scheme]]) -> list[str]:
    """Return a line on the defaults of 1 Gbps that runs with faster hosts have, if they have any.

    Parameters
    ----------
    runs : iterable of (Scenario, Scheme)
        What is run; what a scenario sets is no default.

    Examples
    --------
    >>> from capsim import Batch, LeafSpine, scheme
    >>> fabric = LeafSpine(leaves=2, hosts_per_leaf=2, spines=2, rate_bps=100e9)
    >>> asked = Scenario(fabric=fabric, traffic=(Batch(flow_bytes=10**6),), params={"transport": {"min_rto_s": 0.01}})
    >>> for line in rate_remarks([(asked, scheme("dctcp"))]):
    ...     print(line)
    defaults of 1 Gbps where hosts have 100 Gbps: window 1 MB below rate x RTT, K = 20 packets; profile 100g fits
    """
    found: dict[str, None] = {}
    rates: set[float] = set()
    for scenario, scheme in runs:
        rate_bps = 0.0 if scenario.profile else _fastest_bps(scenario)
        if rate_bps > _OLD_RATE_BPS and (kept := list(_old_defaults(scenario, scheme))):
            found |= dict.fromkeys(kept)
            rates.add(rate_bps)
    if not found:
        return []
    known = [name for name, one in PROFILE_RATES_BPS.items() if rates == {one}]
    remedy = f"profile {known[0]} fits" if known else "set what fits"
    listed = " and ".join(f"{rate / 1e9:g}" for rate in sorted(rates))
    return [f"defaults of 1 Gbps where hosts have {listed} Gbps: {', '.join(found)}; {remedy}"]


def _fastest_bps(scenario: Scenario) -> float:
    """Return the rate of the fastest host."""
    if hasattr(scenario.fabric, "edge_rate_bps"):
        return float(scenario.fabric.edge_rate_bps)
    fabric = scenario.fabric.build(seed=scenario.seed)
    return float(fabric.rate_bps[fabric.host_port].max())


def _old_defaults(scenario: Scenario, scheme: Scheme) -> Iterator[str]:
    """Yield the defaults that a run has, in words."""
    transport = scheme.long.transport.params
    if getattr(transport, "min_rto_s", 0.0) == _OLD_RTO_S and not _has(scenario, "transport.min_rto_s"):
        yield f"minimum RTO {_OLD_RTO_S * 1e3:g} ms"
    if scheme.long.transport.reliable:
        fabric = scenario.fabric.build(seed=scenario.seed)
        sizes = sizes_of(fabric, transport.mss_bytes + transport.header_bytes)
        is_small = transport.max_window_bytes < sizes.bdp_packets * transport.mss_bytes
        if is_small and not _has(scenario, "transport.max_window_bytes"):
            yield f"window {transport.max_window_bytes / 1e6:.3g} MB below rate x RTT"
        begins = transport.initial_window_packets if hasattr(transport, "pull_share") else sizes.bdp_packets
        if begins < sizes.bdp_packets and not _has(scenario, "transport.initial_window_packets"):
            yield f"first window of {begins} packets below rate x RTT"
    if hasattr(scheme.long.congestion.params, "base_rtt_s") and not _has(scenario, "congestion.base_rtt_s"):
        yield "base RTT of 1 Gbps for NSCC"
    if getattr(scheme.queue.params, "threshold_packets", 0) == _OLD_K and not _has(scenario, "queue.threshold_packets"):
        yield f"K = {_OLD_K} packets"
    if getattr(scheme.balancer.params, "gap_s", 0.0) == _OLD_GAP_S and not _has(scenario, "balancer.gap_s"):
        yield f"flowlet gap {_OLD_GAP_S * 1e6:g} us"
