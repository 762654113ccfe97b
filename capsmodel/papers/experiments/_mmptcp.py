"""Shared by the experiments of MMPTCP: fat-tree, mix of long and short flows, names of schemes, small versions.

Chosen for all: connections open with a handshake, since the paper's subflows are opened one by one, and their first
packet waits for it. From the authors' public ns-3 code are the receive window of 65535 B of each subflow, the sizes of
ACKs and SYNs, the limit of 100 packets at the NICs of hosts as at all ports, and which links count: "core" are those
from core switches down, "access" those to hosts. Short flows start during 20 s; long ones then send for `DRAIN_S` more,
in which the last short ones end, and goodput, use and loss are over all of this time.
"""

from collections.abc import Iterable, Mapping, Sequence
from functools import partial
from typing import Any

import msgspec

from capsim import Batch, DrawnFault, Poisson, Scenario, load_scenario
from capsim.fabric.kinds import FatTree
from capsim.fabric.traffic import AnyTraffic
from capsim.study.measures import mmptcp_run
from capsmodel.papers.experiments import PublishedExperiment, _common
from capsmodel.papers.statements import Comparison, Statement, levels
from capsmodel.units import BITS_PER_BYTE

NAMES = {
    "MMPTCP": "mmptcp",
    "MMPTCP_LI": "mmptcp",
    "MMPTCP_FC": "mmptcp_fc",
    "MMPTCP_UC": "mmptcp_uc",
    "MMPTCP_LT": "mmptcp_lt",
    "MMPTCP_AS": "mmptcp_as",
    "MPTCP": "mptcp",
    "MPTCP_TCP": "mptcp_tcp",
    "PS": "ps",
    "PS_TCP": "ps_tcp",
    "TCP": "ecmp",
}
over = partial(_common.over, names=NAMES)
PAPER_RUNS = 20
"""Seeds of each experiment of the paper: its counts of flows are over all of them."""
LONG_SHARE = 0.33
"""Share of hosts with long flows: "one third", 33% in Section 3.5."""
SHORT_BYTES = 70_000
DRAIN_S = 2.0
CELLS = ("fct", "fctsd", "gp", "gpsd", "util", "loss")
"""Ends of the ids of the cells in a row of most tables."""
ACK_BYTES, SYN_BYTES = 42, 50
JOIN_GAP_S = 50e-6
HOT_PACKETS = 10
"""Buffer of each port of a core switch that is a hot spot (Section 3.4)."""
_PODS, _FEWER_PODS = 8, 4
_REDUCED_TIME, _SMALL_S = 4, 0.2


def tree(oversubscription: int, *, pods: int = _PODS, rate_bps: float = 100e6) -> FatTree:
    """Return the fat-tree whose edge switches have so many times more hosts than uplinks."""
    base = load_scenario("mmptcp-fat-tree").fabric
    assert isinstance(base, FatTree)
    return msgspec.structs.replace(base, pods=pods, hosts_per_edge=oversubscription * pods // 2, rate_bps=rate_bps)


def with_hot_spots(fabric: FatTree, share: float) -> FatTree:
    """Return the tree with short queues at a share of its core switches, rounded down."""
    hot = DrawnFault(nodes="core*", share=share, buffer_packets=HOT_PACKETS)
    return msgspec.structs.replace(fabric, faults=(hot,) if share else ())


def on_tree(fabric: FatTree, traffic: tuple[AnyTraffic, ...], *, end_s: float, short_bytes: int = 100_000) -> Scenario:
    """Return traffic on a tree, with the transport of the paper."""
    base = load_scenario("mmptcp-fat-tree")
    sizes = {"handshake": True, "ack_bytes": ACK_BYTES, "syn_bytes": SYN_BYTES}
    params = {"transport": base.params["transport"] | sizes}
    return base.replace(fabric=fabric, traffic=traffic, end_s=end_s, params=params, short_bytes=short_bytes)


def endless_bytes(fabric: FatTree, end_s: float) -> int:
    """Return a size that no flow ends before the run does."""
    return int(fabric.edge_rate_bps * end_s / BITS_PER_BYTE)


def mix(
    fabric: FatTree,
    *,
    flows_per_s: float,
    run_s: float,
    long_share: float = LONG_SHARE,
    pairs: str = "permutation",
    **sizes: Any,
) -> Scenario:
    """Return long flows of a share of the hosts, and short ones of the others that a central scheduler starts.

    Parameters
    ----------
    fabric : FatTree
        The tree.
    flows_per_s : float
        Short flows that start in the whole tree, per second.
    run_s : float
        Time in which they start, in seconds.
    long_share : float
        Share of the hosts that send a long flow each.
    pairs : str
        ``"permutation"``: one matrix for long and short flows; or ``"random"``.
    **sizes
        Sizes of short flows other than 70 KB, as in an entry of traffic, and `short_bytes`, the largest.
    """
    hosts, end_s = fabric.size().hosts, run_s + DRAIN_S
    ends: dict[str, Any] = {"pairs": pairs, "common_partners": pairs == "permutation"}
    long_hosts, short_bytes = int(long_share * hosts), sizes.pop("short_bytes", 100_000)
    long = Batch(**ends, hosts=long_hosts, flow_bytes=endless_bytes(fabric, end_s))
    drawn = sizes or {"flow_bytes": SHORT_BYTES}
    short = Poisson(**ends, skip_hosts=long_hosts, flows_per_s=flows_per_s, duration_s=run_s, **drawn)
    return on_tree(fabric, (long, short), end_s=end_s, short_bytes=short_bytes)


def parameters(place: Mapping[str, Any], settings: Mapping[str, Any], scheme: str) -> dict[str, Any]:
    """Return what the schemes have beside the transport: only MMPTCP_LT limited transmit, and how subflows open.

    Times at the receiver are those of a run that is not asked for others. Schemes with the habits of the authors' code
    have fast retransmits that are not careful.
    """
    at_sender = settings.get("completion_time") == "sender"
    return {
        "completion_time": "sender" if at_sender else None,
        "transport.limited_transmit": scheme == "mmptcp_lt",
        "transport.careful": False,
        "congestion.capped": settings["coupling"] == "lia",
        "sharing.join_after_first": True,
        "sharing.join_gap_s": JOIN_GAP_S,
    }


def adapted(statement: Statement, settings: Mapping[str, Any]) -> Statement:
    """Return the statement about the schemes that the authors' code has where a setting says so."""
    names = {scheme: f"{scheme}_ns3" for scheme in ("mptcp", "mmptcp") if settings.get("subflows_as_in_ns3")}
    if settings.get("short_subflows") == 1:
        names["mptcp"] = "mptcp_tcp"
    if settings.get("short_dup_ack_threshold") == "topology":
        names["ps_tcp"] = "ps_tcp_ns3"
    return _common.with_schemes(statement, names)


def fewer_hosts(whole: Scenario) -> Scenario:
    """Return the same on a 4-ary tree with the same oversubscription, and as many flows for each host."""
    old = whole.fabric
    assert isinstance(old, FatTree)
    assert old.hosts_per_edge is not None
    fabric = msgspec.structs.replace(old, pods=_FEWER_PODS, hosts_per_edge=old.hosts_per_edge * _FEWER_PODS // old.pods)
    share = fabric.size().hosts / old.size().hosts
    return whole.replace(fabric=fabric, traffic=tuple(_scaled(entry, share) for entry in whole.traffic))


def _scaled(entry: AnyTraffic, share: float) -> AnyTraffic:
    """Return an entry of traffic for a share of the hosts."""
    counts = {name: round(share * count) for name in ("hosts", "skip_hosts") if (count := getattr(entry, name))}
    rate = {"flows_per_s": share * entry.flows_per_s} if isinstance(entry, Poisson) and entry.flows_per_s else {}
    return msgspec.structs.replace(entry, **counts, **rate)


def shorter(whole: Scenario, run_s: float) -> Scenario:
    """Return the same with short flows that start during another time."""
    entries = tuple(
        msgspec.structs.replace(entry, duration_s=run_s) if isinstance(entry, Poisson) else entry
        for entry in whole.traffic
    )
    return whole.replace(traffic=entries, end_s=run_s + DRAIN_S)


def reduced(whole: Scenario) -> Scenario:
    """Return a mix on an eighth of the hosts, for a quarter of the time."""
    return shorter(fewer_hosts(whole), _run_s(whole) / _REDUCED_TIME)


def small(whole: Scenario) -> Scenario:
    """Return a mix on an eighth of the hosts, for a moment."""
    return shorter(fewer_hosts(whole), _SMALL_S)


def _run_s(whole: Scenario) -> float:
    return whole.end_s - DRAIN_S


def cells(table: str, schemes: Iterable[str], ends: Sequence[str], place: str) -> dict[str, Statement]:
    """Return the statements of the cells of a table: their ids are table, scheme and quantity."""
    return {f"{table}-{one.lower()}-{end}": levels([NAMES[one]], [place]) for one in schemes for end in ends}


def each_over(subjects: Iterable[str], others: Sequence[str], at: Sequence[str], **more: Any) -> Statement:
    """Return the comparison of several schemes with each of several others, at some places."""
    return Statement(
        comparisons=tuple(
            Comparison(f"{one} over {other}, {place}", ((1, (NAMES[one], place)), (-1, (NAMES[other], place))))
            for one in subjects
            for other in others
            for place in at
        ),
        **more,
    )


experiment = partial(
    PublishedExperiment, measure=mmptcp_run, small=small, reduced=reduced, parameters=parameters, adapted=adapted
)  # what most of them have
