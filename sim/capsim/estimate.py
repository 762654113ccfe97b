"""Estimates what a run will need before it starts: memory, and the size of a packet trace."""

import math
import os
from dataclasses import dataclass
from pathlib import Path

from capsim import records
from capsim.fabric.flows import FlowList
from capsim.fabric.topology import Fabric
from capsim.hooks import Scheme
from capsim.scenario import Scenario
from capsim.state import TRACE_OFF, TRACE_PACKETS
from capsmodel.checks import ParameterError

BYTES_PER_DRAWN_FLOW = 200  # while sizes, ends and starts are drawn and sorted
ROUTE_BYTES = 8  # first and count, int32 each
TRACE_LEVELS = {"off": TRACE_OFF, "drops": TRACE_OFF + 1, "packets": TRACE_PACKETS}


@dataclass(frozen=True)
class Estimate:
    """Expected needs of a run, in bytes; `trace_bytes` is the part that the packet trace takes."""

    memory_bytes: int
    trace_bytes: int


def estimate(scenario: Scenario, fabric: Fabric, flows: FlowList, scheme: Scheme) -> Estimate:
    """Return what the engine will need for these flows, an upper estimate to within a factor of about two.

    The packet pool is bounded by windows and buffers, not by the simulated time.
    """
    params = scheme.transport.params
    segments = -(-flows.flow_bytes // params.mss_bytes)
    window = max(1, params.max_window_bytes // params.mss_bytes)
    copies = max(1, scheme.replication.copies_of_short)
    rings = 2 * int(segments.clip(max=window).sum()) * copies
    queued = int(abs(fabric.buffer_packets).clip(max=1024).sum())
    packets = min(rings, queued + 64 * fabric.n_ports)
    units = int(segments.sum()) if scheme.coding.coded != "none" else 0
    rows = len(flows.src) * (copies * records.CONNECTION.itemsize + records.FLOW.itemsize)
    trace_bytes = trace_size_bytes(scenario, fabric, flows, mss_bytes=params.mss_bytes) * copies
    total = rows + rings + packets * records.PACKET.itemsize + units * records.UNIT.itemsize // 4
    return Estimate(total + trace_bytes, trace_bytes)


def trace_size_bytes(scenario: Scenario, fabric: Fabric, flows: FlowList, *, mss_bytes: int) -> int:
    """Return the expected size of the packet trace in memory, in bytes: two lines a packet and hop, both ways."""
    if TRACE_LEVELS[scenario.trace] < TRACE_PACKETS:
        return 0
    hops = 2 * (int(fabric.switch_tier.max()) + 1) + 1
    packets = int((-(-flows.flow_bytes // mss_bytes)).sum())
    return 2 * 2 * packets * hops * records.TRACE.itemsize


def check_fabric(scenario: Scenario) -> None:
    """Refuse a fabric whose arrays alone would not fit.

    Raises
    ------
    ParameterError
        One line with the size, before anything of that size is made.
    """
    hosts, switches = scenario.fabric.node_counts()
    epochs = 1 + 2 * len(scenario.fabric.links)
    check_fits(hosts * switches * ROUTE_BYTES * epochs, f"routes of {switches} switches for {hosts} hosts")


def check_traffic(scenario: Scenario, fabric: Fabric) -> None:
    """Refuse traffic whose arrays alone would not fit.

    Raises
    ------
    ParameterError
        One line with the size, before anything of that size is made.
    """
    flows = math.ceil(sum(entry.expected_flows(fabric) for entry in scenario.traffic))
    check_fits(flows * BYTES_PER_DRAWN_FLOW, f"{flows} flows")


def check_fits(needed_bytes: int, what: str) -> None:
    """Raise :class:`ParameterError` when `needed_bytes` exceed the memory that is free now."""
    free_bytes = available_bytes()
    if needed_bytes > free_bytes:
        raise ParameterError(
            f"{what} would not fit in memory: {needed_bytes / 1e9:.1f} GB needed, {free_bytes / 1e9:.1f} GB free"
        )


def available_bytes() -> int:
    """Return the memory that is free now, in bytes; 2**62 where the system does not tell."""
    try:
        text = Path("/proc/meminfo").read_text(encoding="ascii")
        lines = dict(line.split(":", 1) for line in text.splitlines())
        return int(lines["MemAvailable"].split()[0]) * 1024
    except (OSError, KeyError):
        names = getattr(os, "sysconf_names", {})
        known = "SC_AVPHYS_PAGES" in names
        return os.sysconf("SC_AVPHYS_PAGES") * os.sysconf("SC_PAGE_SIZE") if known else 2**62
