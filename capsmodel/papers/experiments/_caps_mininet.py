"""Shared by the Mininet experiments of CAPS (Section VIII-A): fabric, flows, times of schemes, and a small version.

Two leaves and 20 spines with links of 20 Mbps and 1 ms each way, so that a round trip takes 8 ms; senders are under one
leaf, receivers under the other, and each host sends short flows or long ones.
"""

from collections.abc import Mapping
from functools import partial
from typing import Any

import msgspec

from capsim import Batch, LeafSpine, OnOff, Poisson, Scenario
from capsim.fabric.traffic import AnyTraffic
from capsmodel.papers.experiments import PublishedExperiment
from capsmodel.papers.experiments._caps import LONG_BYTES, SHORT_BYTES, adapted

PATHS, RATE_BPS, DELAY_S, BUFFER_PACKETS = 20, 20e6, 1e-3, 256
SPREAD_S = 1e-4
FLOWS_PER_S = 20.0
"""Of the setting with Poisson arrivals: what Section VIII-B has there, over the ratio of both link rates."""
SLOWER = 50
"""How many times as long a packet takes as on 1 Gbps."""
_PRINTED_S = {"layer.sampling_s": 200e-6, "balancer.mode_period_s": 500e-6}
_DEADLINE_S = 100e-6
_SMALL_PATHS, _SMALL_SHORT, _SMALL_BURSTS, _SMALL_LONG_BYTES = 4, 12, 2, 300_000


def fabric(senders: int, settings: Mapping[str, Any]) -> LeafSpine:
    """Return the fabric, with a host under the first leaf for each sender, or with 20."""
    hosts = PATHS if settings["leaf_hosts"] == "twenty" else senders
    return LeafSpine(
        leaves=2,
        hosts_per_leaf=hosts,
        spines=PATHS,
        rate_bps=RATE_BPS,
        delay_s=DELAY_S,
        buffer_packets=BUFFER_PACKETS,
    )


def long_flows(count: int, hosts: int) -> Batch:
    """Return long flows from the last `count` of `hosts` hosts of a leaf."""
    return Batch(pairs="sides", skip_hosts=hosts - count, flows=count, flow_bytes=LONG_BYTES, spread_s=SPREAD_S)


def scenario(place: Mapping[str, Any], settings: Mapping[str, Any]) -> Scenario:
    """Return short flows beside long ones.

    Parameters
    ----------
    place : mapping
        `short_flows` and `long_flows`, their numbers.
    settings : mapping
        `leaf_hosts` and `arrivals`.
    """
    short, long = place["short_flows"], place["long_flows"]
    links = fabric(short + long, settings)
    common: dict[str, Any] = {"pairs": "sides", "hosts": links.hosts_per_leaf - long, "flows": short} | SHORT_BYTES
    entry: AnyTraffic = Batch(spread_s=SPREAD_S, **common)
    if settings["arrivals"] == "poisson":
        entry = Poisson(flows_per_s=FLOWS_PER_S, **common)
    return Scenario(fabric=links, traffic=(entry, long_flows(long, links.hosts_per_leaf)), end_s=1000.0)


def parameters(place: Mapping[str, Any], settings: Mapping[str, Any], scheme: str) -> dict[str, Any]:
    """Return CAPS's times as printed, or as many packets as on 1 Gbps, and Freeway's deadline in as many packets."""
    factor = {"as printed": 1, "in packets": SLOWER}[settings["sender_times"]]
    return {name: factor * time_s for name, time_s in _PRINTED_S.items()} | {
        "balancer.deadline_s": SLOWER * _DEADLINE_S
    }


def small(whole: Scenario) -> Scenario:
    """Return the same with a dozen short flows and long ones of 300 KB, over four paths."""
    return whole.replace(
        fabric=msgspec.structs.replace(whole.fabric, spines=_SMALL_PATHS),
        traffic=tuple(map(_small, whole.traffic)),
    )


def _small(entry: AnyTraffic) -> AnyTraffic:
    if isinstance(entry, OnOff):
        return msgspec.structs.replace(entry, bursts=_SMALL_BURSTS, flows_per_burst=_SMALL_SHORT)
    if isinstance(entry, Batch | Poisson) and entry.flow_bytes is None:
        return msgspec.structs.replace(entry, flows=_SMALL_SHORT)
    return msgspec.structs.replace(entry, flow_bytes=_SMALL_LONG_BYTES)


experiment = partial(PublishedExperiment, small=small, parameters=parameters, adapted=adapted)
