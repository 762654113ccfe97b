"""Defaults that fit the rate of the links: the key ``profile`` of a scenario, ``"800g"``, and what it fills in.

Timers, windows and thresholds of 1 Gbps are kept at any rate unless somebody sets them: a retransmission timeout of
200 ms is then the time of millions of packets. A profile sets those that the scenario leaves out, each by a rule:

============================== =====================================================================================
What                           Rule
============================== =====================================================================================
``fabric.rate_bps``            the rate that the profile is named for
``fabric.delay_s``             1 us on each link
``transport.mss_bytes``        packets of 1500 bytes, from 100 Gbps on of 4150 bytes as in Ultra Ethernet's htsim
base RTT                       of the longest shortest path: a packet forth, a frame of 64 bytes back
BDP                            rate of a host times base RTT, in whole packets
``fabric.buffer_packets``      5 BDP
``queue.threshold_packets``    K of the queue ``ecn``: max(15, 0.2 BDP), above the least of RFC 8257, C RTT / 7
``queue.limit_bytes``          of the queue ``trim``: BDP (Ultra Ethernet), 5 BDP where it drops; the default is 8
                               packets of 1500 bytes
``transport.max_window_bytes`` 2 (BDP + queue), 1 GiB at most, since TCP has no larger window
``transport.min_rto_s``        1 ms where it is longer
``transport.initial_rtt_s``    the base RTT, where it is longer than that timer: else each flow begins with a timeout
``initial_window_packets``     of the transport ``ndp``, whose first window leaves at once, and of ``pfabric``: BDP; so
                               ``most_window_packets`` of ``pfabric``
``transport.rto_s``            of ``pfabric``: 3 base RTT; ``queue.buffer_bytes`` of its ports: 2 BDP (the paper: a
                               window of 12 packets, 45 us and 36 KB at 10 Gbps and 14.6 us)
``congestion.rate_bps``        of ``nscc``: the rate; ``base_rtt_s``: the base RTT. With it ``transport.min_rto_s`` is
                               15 us and the time of six full queues, as in Ultra Ethernet's htsim
``queue.mark_low_bytes``       of a queue ``trim`` that marks: 0.2 BDP in whole packets, ``mark_high_bytes``: 0.8 BDP
``balancer.gap_s``             of ``letflow`` and ``conga``: the time in which a full queue drains
============================== =====================================================================================

A queue of 5 BDP is no switch's where the round trip has milliseconds. The profile ``sites`` is for such links: the
buffer of the ports has to be given, rate and delay are those of the fabric, and two rules are others:

============================== =====================================================================================
What                           Rule of ``sites``
============================== =====================================================================================
queue                          the buffer that is given, in whole packets, in place of 5 BDP and of BDP; K and the
                               marks of a queue ``trim`` are shares of it where it is smaller than the BDP
``transport.min_rto_s``        1.5 base RTT and the time in which a full queue drains
============================== =====================================================================================

What a scheme has by a paper for its own network stays as it is: timers and thresholds of CAPS' coding unit, of its
switches and of CONGA's, Freeway's and Presto's, the pause of PLB, the gap between MPTCP's joins.

Rate and delay are filled in where tables are read (a file, the command line); a fabric that is made in Python has its
own. The rest depends on the scheme, and is written into the scenario that is run: results keep the numbers, and a later
run of them needs no rule.
"""

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from math import ceil
from typing import Any

import numpy as np

from capsim.base.bounds import WINDOW_BYTES
from capsim.base.clock import PS_PER_S, serialisation_ps
from capsim.fabric.paths import pair_classes
from capsim.fabric.topology import Fabric
from capsim.protocols.balancers.letflow import LetflowParams
from capsim.protocols.queues.ecn import EcnParams
from capsim.protocols.transports.pfabric import PfabricParams
from capsim.protocols.transports.tcp import TcpParams
from capsim.roles.components import Component, Scheme, Transport
from capsim.scenario.entry_stacks import scheme_of_run, unread_params
from capsim.scenario.scenario import SITES, Scenario, from_dict, profile_rate_bps
from capsmodel.checks import ParameterError, require
from capsmodel.experiments.number_texts import size_text

_PACKET_BYTES, _LARGE_PACKET_BYTES, _LARGE_FROM_BPS = 1500, 4150, 100e9
_FRAME_BYTES = 64  # the smallest of Ethernet: an acknowledgement
_QUEUE_BDP, _LEAST_K, _K_BDP, _MIN_RTO_S = 5, 15, 0.2, 1e-3
_HIGH_BDP, _UET_RTO_S = 0.8, 15e-6
_PFABRIC_QUEUE_BDP, _PFABRIC_RTO_RTT = 2, 3
_SITES_RTO_RTT = 1.5
MOST_BUFFER_BYTES = 64e6
"""What the ports of a whole switch share at most, about: a port with more is looked at."""
_SEARCHED = 32  # switches with hosts from which the longest path is looked for

_OLD_RATE_BPS = 1e9
"""The rate that these defaults of components were published for."""
_OLD_K, _OLD_GAP_S, _OLD_RTO_S = EcnParams().threshold_packets, LetflowParams().gap_s, TcpParams().min_rto_s
_PFABRIC_RTO_S = PfabricParams().rto_s


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
    buffer_packets : int, optional
        What a port between sites has, in packets.
    """

    rate_bps: int
    rtt_s: float
    packet_bytes: int
    bdp_packets: int
    buffer_packets: int | None = None

    @property
    def queue_packets(self) -> int:
        """Return the queue limit of a port that drops, in packets."""
        return self.buffer_packets or _QUEUE_BDP * self.bdp_packets

    @property
    def trim_packets(self) -> int:
        """Return the queue limit of a port that trims, in packets."""
        return self.buffer_packets or self.bdp_packets

    @property
    def marked_packets(self) -> int:
        """Return what thresholds of marks are shares of, in packets."""
        return min(self.bdp_packets, self.queue_packets)

    @property
    def threshold_packets(self) -> int:
        """Return the marking threshold K, in packets."""
        return max(_LEAST_K, ceil(_K_BDP * self.marked_packets))

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
    pairs = np.array([(src, dst) for src in ends[:_SEARCHED] for dst in ends if src != dst] or [(0, 1)])
    _, examples = np.unique(pair_classes(fabric, *pairs.T), return_index=True)
    sizes = {"packet_bytes": packet_bytes, "ack_bytes": _FRAME_BYTES}
    rtt_ps = max(fabric.base_rtt_ps(src, dst, **sizes) for src, dst in pairs[examples].tolist())
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
    transport = own.long.transport.params
    packet_bytes = transport.mss_bytes + transport.header_bytes
    if "mss_bytes" not in scenario.params.get("transport", {}):
        packet_bytes = _LARGE_PACKET_BYTES if _host_rate_bps(fabric) >= _LARGE_FROM_BPS else _PACKET_BYTES
    sizes = sizes_of(fabric, packet_bytes)
    if scenario.profile == SITES:
        sizes = replace(sizes, buffer_packets=_given_packets(scenario, packet_bytes))
    values = {name: one for name, one in _values(own, sizes).items() if not _has(scenario, name)}
    if scenario.fabric.buffer_packets is None and scenario.fabric.buffer_bytes is None:
        values = {"fabric.buffer_packets": sizes.queue_packets, **values}
    return Filled(_with(scenario, values), scheme, values, sizes)


def _host_rate_bps(fabric: Fabric) -> int:
    """Return the rate of the fastest host."""
    return int(fabric.rate_bps[fabric.host_port].max())


def _given_packets(scenario: Scenario, packet_bytes: int) -> int:
    """Return the buffer that a scenario gives its ports, in whole packets."""
    fabric = scenario.fabric
    if fabric.buffer_packets is None and fabric.buffer_bytes is None:
        rule = "which no rule knows, as in fabric.buffer_bytes = '16MB'"
        raise ParameterError(f"profile = {SITES!r}: give the buffer of a port, {rule}")
    return max(1, fabric.buffer_packets or (fabric.buffer_bytes or 0) // packet_bytes)


def _check_rate(profile: str, fabric: Fabric) -> None:
    rate_bps = profile_rate_bps(profile)
    if rate_bps is None:
        return
    rates = {int(rate) for rate in fabric.rate_bps[fabric.host_port]}
    listed = ", ".join(f"{rate / 1e9:g}" for rate in sorted(rates))
    remedy = "set fabric.rate_bps, or leave the profile out"
    text = f"profile = {profile!r} is for hosts of {rate_bps / 1e9:g} Gbps, but theirs is {listed} Gbps: {remedy}"
    require(rates == {int(rate_bps)}, text)


def _values(scheme: Scheme, sizes: Sizes) -> dict[str, Any]:
    """Return what the rules say for the components of a scheme, by the name of the setting."""
    values = _windows(scheme.long.transport, sizes) | _timers(scheme, sizes)
    if _has_param(scheme.long.congestion, "base_rtt_s"):
        values["congestion.rate_bps"], values["congestion.base_rtt_s"] = sizes.rate_bps, sizes.rtt_s
    values |= _ports(scheme, sizes)
    if _has_param(scheme.balancer, "gap_s"):
        values["balancer.gap_s"] = sizes.drain_s
    return values


def _windows(transport: Transport, sizes: Sizes) -> dict[str, Any]:
    values: dict[str, Any] = {}
    if transport.reliable:
        mss_bytes = sizes.packet_bytes - transport.params.header_bytes
        values["transport.mss_bytes"] = mss_bytes
        values["transport.max_window_bytes"] = min(sizes.window_packets * mss_bytes, int(WINDOW_BYTES.largest))
    if begins_at_full_rate(transport):
        values["transport.initial_window_packets"] = sizes.bdp_packets
    if _has_param(transport, "most_window_packets"):
        values["transport.most_window_packets"] = sizes.bdp_packets
        values["transport.rto_s"] = _PFABRIC_RTO_RTT * sizes.rtt_s
    return values


def _ports(scheme: Scheme, sizes: Sizes) -> dict[str, Any]:
    values: dict[str, Any] = {}
    if getattr(scheme.queue.params, "mark_high_bytes", 0):
        for name, share in (("queue.mark_low_bytes", _K_BDP), ("queue.mark_high_bytes", _HIGH_BDP)):
            values[name] = ceil(share * sizes.marked_packets) * sizes.packet_bytes
    if _has_param(scheme.queue, "threshold_packets"):
        values["queue.threshold_packets"] = sizes.threshold_packets
    if _has_param(scheme.queue, "trim_bytes"):
        values["queue.limit_bytes"] = _trim_packets(scheme, sizes) * sizes.packet_bytes
    if _has_param(scheme.queue, "buffer_bytes"):
        packets = sizes.buffer_packets or _PFABRIC_QUEUE_BDP * sizes.bdp_packets
        values["queue.buffer_bytes"] = packets * sizes.packet_bytes
    return values


def begins_at_full_rate(transport: Component) -> bool:
    """Return whether a transport sends a bandwidth-delay product at once, which its first window has to hold."""
    return _has_param(transport, "pull_share") or _has_param(transport, "most_window_packets")


def _trim_packets(scheme: Scheme, sizes: Sizes) -> int:
    """Return the room of a port that trims, in packets, or of one that would but has nothing left."""
    return sizes.trim_packets if getattr(scheme.queue.params, "trim_bytes", 1) else sizes.queue_packets


def _timers(scheme: Scheme, sizes: Sizes) -> dict[str, float]:
    having = [stack.transport for stack in scheme.stacks if _has_param(stack.transport, "min_rto_s")]
    if sizes.buffer_packets is not None:
        first = {"transport.initial_rtt_s": sizes.rtt_s} if _has_param(scheme.long.transport, "initial_rtt_s") else {}
        least = {"transport.min_rto_s": _SITES_RTO_RTT * sizes.rtt_s + sizes.drain_s} if having else {}
        return first | least
    if _has_param(scheme.long.congestion, "base_rtt_s"):
        queues_s = 6 * 8 * _trim_packets(scheme, sizes) * sizes.packet_bytes / sizes.rate_bps
        return {"transport.min_rto_s": _UET_RTO_S + queues_s}
    values = {}
    if any(transport.params.min_rto_s > _MIN_RTO_S for transport in having):
        values["transport.min_rto_s"] = _MIN_RTO_S
    if sizes.rtt_s >= _MIN_RTO_S and _has_param(scheme.long.transport, "initial_rtt_s"):
        values["transport.initial_rtt_s"] = sizes.rtt_s
    return values


def _has_param(component: Component, name: str) -> bool:
    return name in component.settable


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


def setting_remarks(runs: Iterable[tuple[Scenario, Scheme]]) -> list[str]:
    """Return what a reader of some runs must know of their settings, a line each.

    Parameters
    ----------
    runs : iterable of (Scenario, Scheme)
        What is run, and compared.

    Returns
    -------
    list of str
        A warm-up that the run does not outlast; defaults of 1 Gbps (:func:`rate_remarks`); ports with a buffer that no
        switch has; parameters that a scheme has and does not read; that hosts of some schemes send round robin and
        those of others first in, first out.

    Examples
    --------
    >>> from capsim import Batch, LeafSpine, scheme
    >>> fabric = LeafSpine(leaves=2, hosts_per_leaf=2, spines=2)
    >>> asked = Scenario(fabric=fabric, traffic=(Batch(flow_bytes=10**6),), params={"transport": {"min_rto_s": 0.01}})
    >>> for line in setting_remarks([(asked, scheme("pfabric")), (asked, scheme("uet")), (asked, scheme("dctcp"))]):
    ...     print(line)
    transport.min_rto_s has no effect on pfabric
    hosts of uet send flows round robin, those of dctcp first in, first out: nic = "round_robin" is for all
    """
    known = list(runs)
    of_ports = _buffer_remarks(known)
    return [*_warm_up_remarks(known), *rate_remarks(known), *of_ports, *_unread_remarks(known), *_nic_remarks(known)]


def _warm_up_remarks(runs: Iterable[tuple[Scenario, Scheme]]) -> Iterator[str]:
    """Yield a line for each run that ends before its warm-up does, of whose flows none counts."""
    for warm_up_s, end_s in dict.fromkeys((scenario.warm_up_s, scenario.end_s) for scenario, _ in runs):
        if warm_up_s >= end_s:
            yield f"no flow counts: the warm-up lasts {warm_up_s:g} s, and the run ends at {end_s:g} s"


def _buffer_remarks(runs: Iterable[tuple[Scenario, Scheme]]) -> list[str]:
    """Return a line on the schemes whose ports have a buffer that no switch has, if some have."""
    schemes_of: dict[str, float] = {}
    for scenario, scheme in runs:
        of_run = scheme_of_run(scenario, scheme)
        size_bytes = _port_bytes(scenario, of_run)
        if size_bytes > MOST_BUFFER_BYTES:
            schemes_of[scheme.name] = max(schemes_of.get(scheme.name, 0.0), size_bytes)
    if not schemes_of:
        return []
    most = size_text(max(schemes_of.values()))
    rule = f"the ports of a switch share {size_text(MOST_BUFFER_BYTES)} or less"
    remedy = f'give fabric.buffer_bytes, with profile = "{SITES}" between sites'
    return [f"a port of {_few(schemes_of)} has a buffer of {most}, but {rule}: {remedy}"]


def _port_bytes(scenario: Scenario, scheme: Scheme) -> float:
    """Return the buffer of a port of a switch, in bytes; 0 where the fabric does not limit it."""
    own = getattr(scheme.queue.params, "limit_bytes", 0) or getattr(scheme.queue.params, "buffer_bytes", 0)
    fabric, transport = scenario.fabric, scheme.long.transport.params
    in_packets = (fabric.buffer_packets or 0) * (transport.mss_bytes + transport.header_bytes)
    return float(own or fabric.buffer_bytes or in_packets)


def _unread_remarks(runs: Iterable[tuple[Scenario, Scheme]]) -> Iterator[str]:
    """Yield a line for each parameter that schemes do not read."""
    schemes_of: dict[str, dict[str, None]] = {}
    for scenario, scheme in runs:
        for setting in unread_params(scenario, scheme):
            schemes_of.setdefault(setting, {})[scheme.name] = None
    for setting, names in schemes_of.items():
        yield f"{setting} has no effect on {_few(names)}"


def _nic_remarks(runs: Iterable[tuple[Scenario, Scheme]]) -> Iterator[str]:
    """Yield a line where hosts of some schemes send round robin, others in order; a queue by priority has its own."""
    turns: dict[str, None] = {}
    in_order: dict[str, None] = {}
    for scenario, scheme in runs:
        if not scheme.queue.by_priority:
            of_run = scheme_of_run(scenario, scheme)
            (in_order if of_run.nic.rank is None else turns)[scheme.name] = None
    if turns.keys() & in_order.keys():
        return  # the order is what is varied
    if turns and in_order:
        listed = f"hosts of {_few(turns)} send flows round robin, those of {_few(in_order)} first in, first out"
        yield f'{listed}: nic = "round_robin" is for all'


def _few(names: Iterable[str], most: int = 3) -> str:
    """Return names as text, at most so many."""
    listed = list(names)
    return ", ".join(listed[:most]) + (f" and {len(listed) - most} more" if len(listed) > most else "")


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
    remarks: dict[str, None] = {}
    rates: set[float] = set()
    for scenario, scheme in runs:
        rate_bps = 0.0 if scenario.profile else _fastest_bps(scenario)
        if rate_bps > _OLD_RATE_BPS and (kept := list(_old_defaults(scenario, scheme))):
            remarks |= dict.fromkeys(kept)
            rates.add(rate_bps)
    if not remarks:
        return []
    remedy = f"profile {max(rates) / 1e9:g}g fits" if len(rates) == 1 else "set what fits"
    listed = " and ".join(f"{rate / 1e9:g}" for rate in sorted(rates))
    return [f"defaults of 1 Gbps where hosts have {listed} Gbps: {', '.join(remarks)}; {remedy}"]


def _fastest_bps(scenario: Scenario) -> float:
    """Return the rate of the fastest host."""
    if hasattr(scenario.fabric, "edge_rate_bps"):
        return float(scenario.fabric.edge_rate_bps)
    fabric = scenario.fabric.build(seed=scenario.seed)
    return float(fabric.rate_bps[fabric.host_port].max())


def _old_defaults(scenario: Scenario, scheme: Scheme) -> Iterator[str]:
    """Yield the defaults that a run has, in words."""
    transport = scheme.long.transport.params
    for name, old_s, words in (("min_rto_s", _OLD_RTO_S, "minimum RTO"), ("rto_s", _PFABRIC_RTO_S, "RTO")):
        has = _has_param(scheme.long.transport, name) and getattr(transport, name) == old_s
        if has and not _has(scenario, f"transport.{name}"):
            yield f"{words} {old_s * 1e3:g} ms"
    if scheme.long.transport.reliable:
        fabric = scenario.fabric.build(seed=scenario.seed)
        sizes = sizes_of(fabric, transport.mss_bytes + transport.header_bytes)
        is_small = transport.max_window_bytes < sizes.bdp_packets * transport.mss_bytes
        if is_small and not _has(scenario, "transport.max_window_bytes"):
            yield f"window {transport.max_window_bytes / 1e6:.3g} MB below rate x RTT"
        full_rate = begins_at_full_rate(scheme.long.transport)
        begins = transport.initial_window_packets if full_rate else sizes.bdp_packets
        if begins < sizes.bdp_packets and not _has(scenario, "transport.initial_window_packets"):
            yield f"first window of {begins} packets below rate x RTT"
    if hasattr(scheme.long.congestion.params, "base_rtt_s") and not _has(scenario, "congestion.base_rtt_s"):
        yield "base RTT of 1 Gbps for NSCC"
    if getattr(scheme.queue.params, "threshold_packets", 0) == _OLD_K and not _has(scenario, "queue.threshold_packets"):
        yield f"K = {_OLD_K} packets"
    if getattr(scheme.balancer.params, "gap_s", 0.0) == _OLD_GAP_S and not _has(scenario, "balancer.gap_s"):
        yield f"flowlet gap {_OLD_GAP_S * 1e6:g} us"
