"""Shared by the experiments of DC2-MTCP: rounds of flows on a fat-tree, names of schemes, small versions.

Chosen for all: the preset ``dc2mtcp-fat-tree``. A run is the paper's ten rounds, `ROUND_S` apart, in each of which
other hosts send the 30 flows and all send one in the background, all at once. The paper scales the sizes of its trace
and does not say by how much: by factors of 1 to 16 here, in the background too. In each round of the hot-spot pattern
some links to core switches fail, as in the preset ``dc2mtcp-hot-spot`` (Section VI-A).
"""

from collections.abc import Iterable, Mapping
from functools import partial
from typing import Any

import msgspec

from capsim import Batch, DrawnFault, Scenario, load_scenario
from capsim.study.measures import multipath_run
from capsmodel.papers.experiments import PublishedExperiment, _common
from capsmodel.workloads.catalogue import load_workload

DC2, SC, IETF = "dc2mtcp", "sc_mptcp", "ietf_mptcp"
NAMES = {
    **dict.fromkeys(("DC2-MTCP", "DC2-2", "DC2-4"), DC2),
    **dict.fromkeys(("SC-MPTCP", "SC-2", "SC-4"), SC),
    **dict.fromkeys(("IETF-MPTCP", "MPTCP-2", "MPTCP-4"), IETF),
}
over = partial(_common.over, names=NAMES)
FACTORS, SUBFLOWS = (1, 2, 4, 8, 16), (2, 4)
SAMPLED_FACTORS = (1, 4, 16)
WORKLOAD = "univ1_benson_pkts"
ROUNDS, ROUND_S, FLOWS = 10, 20.0, 30
HOT_BYTES = 100_000_000
_NEXT_HOSTS = 10
_HOSTS = 128
_FEWER_PODS, _FEWER_HOSTS, _FEW_ROUNDS = 4, 16, 2


def places(subflows: int, factors: Iterable[int] = FACTORS, *, hot: bool = False) -> list[str]:
    """Return the names of the places with so many subflows."""
    return [f"{'hot, ' if hot else ''}{factor} times, {subflows} subflows" for factor in factors]


def all_places(*, hot: bool = False) -> dict[str, dict[str, Any]]:
    """Return the places of a pattern, by name."""
    return {
        name: {"factor": factor, "subflows": subflows, "hot": hot}
        for subflows in SUBFLOWS
        for factor, name in zip(FACTORS, places(subflows, hot=hot), strict=True)
    }


def sampled(factors: Iterable[int] = SAMPLED_FACTORS, *, hot: bool = False) -> tuple[str, ...]:
    """Return where settings other than the text's are tried."""
    chosen = list(factors)
    return tuple(name for subflows in SUBFLOWS for name in places(subflows, chosen, hot=hot))


def scenario(place: Mapping[str, Any], settings: Mapping[str, Any]) -> Scenario:
    """Return ten rounds of flows of scaled sizes, with hot flows and failing links if the place has them."""
    base = load_scenario("dc2mtcp-fat-tree")
    known = load_workload(WORKLOAD)
    sizes = known.sizes * place["factor"] * settings["size_scale"]
    points = tuple(zip(sizes.tolist(), known.cdf_values.tolist(), strict=True))
    hot, failed = (settings["hot_flows"], settings["failed_links"]) if place["hot"] else (0, 0)
    entries = [entry for number in range(ROUNDS) for entry in _round(number, points, hot)]
    found = base.replace(traffic=tuple(entries), end_s=ROUNDS * ROUND_S + 1000.0, params={})
    return _with_failures(found, failed) if failed else found


def _with_failures(whole: Scenario, count: int) -> Scenario:
    """Return the scenario with other `count` links out of service in each round, for as long as in the preset."""
    preset = load_scenario("dc2mtcp-hot-spot").fabric
    (fault,) = preset.faults
    faults = tuple(_later(fault, number * ROUND_S, count) for number in range(ROUNDS))
    fabric = msgspec.structs.replace(whole.fabric, faults=faults, reroute_s=preset.reroute_s)
    return whole.replace(fabric=fabric)


def _later(fault: DrawnFault, start_s: float, count: int) -> DrawnFault:
    down_s, up_s = (start_s + float(at_s or 0.0) for at_s in (fault.down_s, fault.up_s))
    return msgspec.structs.replace(fault, count=count, down_s=down_s, up_s=up_s)


def _round(number: int, points: tuple[tuple[float, float], ...], hot: int) -> list[Batch]:
    """Return the flows over several subflows, the hot ones, and those in the background."""
    start_s, skip = number * ROUND_S, number * _NEXT_HOSTS
    found = [Batch(start_s=start_s, skip_hosts=skip, hosts=FLOWS, flow_bytes_cdf=points)]
    found += [Batch(start_s=start_s, skip_hosts=skip + FLOWS, hosts=hot, flow_bytes=HOT_BYTES)] if hot else []
    return [*found, Batch(start_s=start_s, flow_bytes_cdf=points, stack="ecmp")]


def parameters(place: Mapping[str, Any], settings: Mapping[str, Any], scheme: str) -> dict[str, Any]:
    """Return how many subflows a flow has, and its receive buffer."""
    return {"sharing.subflows": place["subflows"], "sharing.buffer_segments": settings["receive_buffer_packets"]}


def reduced(whole: Scenario) -> Scenario:
    """Return the same on 16 hosts: an eighth of the flows; of hot flows one, with an eighth of the bytes of all.

    It has an eighth of all links to core switches too, so an eighth as many fail, rounded up.
    """
    entries = tuple(_fewer(entry) for entry in whole.traffic if isinstance(entry, Batch))
    faults = tuple(msgspec.structs.replace(one, count=_eighth(one.count or 0)) for one in whole.fabric.faults)
    return whole.replace(fabric=msgspec.structs.replace(whole.fabric, pods=_FEWER_PODS, faults=faults), traffic=entries)


def _eighth(of_all: int) -> int:
    """Return an eighth of a number of the whole tree, rounded up."""
    return -(-of_all * _FEWER_HOSTS // _HOSTS)


def small(whole: Scenario) -> Scenario:
    """Return two rounds of that."""
    found = reduced(whole)
    begun = tuple(
        entry for entry in found.traffic if isinstance(entry, Batch) and entry.start_s < _FEW_ROUNDS * ROUND_S
    )
    return found.replace(traffic=begun)


def _fewer(entry: Batch) -> Batch:
    if entry.hosts is None:
        return entry
    hosts = _eighth(entry.hosts)
    changed = msgspec.structs.replace(entry, hosts=hosts, skip_hosts=entry.skip_hosts * _FEWER_HOSTS // _HOSTS)
    if entry.flow_bytes is None:
        return changed
    return msgspec.structs.replace(
        changed, flow_bytes=entry.flow_bytes * entry.hosts * _FEWER_HOSTS // (_HOSTS * hosts)
    )


experiment = partial(
    PublishedExperiment,
    scenario=scenario,
    reduced=reduced,
    small=small,
    measure=multipath_run,
    parameters=parameters,
)
