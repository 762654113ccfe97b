"""What a run will need, memory and time: said before it starts, and what would not fit is refused.

What cannot be known before, such as how many packets wait in queues without a limit, is checked while a run goes on:
each time when a table of the engine has to grow (:mod:`capsim.engines.compiled.engine`).
"""

import math
from collections.abc import Iterable
from dataclasses import dataclass

import numpy as np

from capsim import records
from capsim.base.bounds import FLOWS, PORTS
from capsim.base.clock import PS_PER_S, to_ps
from capsim.base.memory import check_fits
from capsim.engines.probes import FLOW_FIELDS, PORT_FIELDS
from capsim.engines.state import TRACE_OFF, TRACE_PACKETS, stack_state
from capsim.fabric.flows import FlowList
from capsim.fabric.topology import Fabric
from capsim.fabric.traffic import draw_flows
from capsim.protocols.registry import scheme as find
from capsim.roles.components import Scheme, Stack
from capsim.roles.hooks import HOST_ROLES
from capsim.roles.own import first_record
from capsim.scenario.entry_stacks import scheme_of_run
from capsim.scenario.scenario import Probes, Scenario
from capsmodel.checks import ParameterError
from capsmodel.units import BITS_PER_BYTE

BYTES_PER_DRAWN_FLOW = 200  # while sizes, ends and starts are drawn and sorted
BYTES_PER_FLOW = 400  # in the flows table and while it is made
BYTES_PER_SUBFLOW = 100  # of the tree of timers and of Python's lists, beside the records
BYTES_PER_PORT = 2500  # of names, links and records
ARRIVAL_BYTES = 8  # of each segment in flight, for extents of reordering
ROUTE_BYTES = 2 * 8  # first and count, int32 each, of the fabric and of the engine
CANDIDATE_BYTES = 2 * 4
TRACE_LEVELS = {"off": TRACE_OFF, "drops": TRACE_OFF + 1, "packets": TRACE_PACKETS}
TRAVERSALS_PER_S = 10**7  # of the compiled engine
TRACED_PER_S = 10**6  # with the packet trace and what reads it
REFERENCE_PER_S = 5 * 10**4  # of the reference engine: 0.03 to 0.1 million, by scheme and machine
PATIENCE_S = 60.0  # for a run of the reference engine of which nothing is said before
START_S = 0.05  # of a run, beside what crosses links
MOST_TRAVERSALS = 10**12  # of a run, more than a day
MOST_MATCHES = 10**7  # of link changes with ports, some seconds


@dataclass(frozen=True)
class Needs:
    """Expected needs of a run, in bytes; `trace_bytes` is the part that the packet trace takes."""

    memory_bytes: int
    trace_bytes: int


def needs_of(scenario: Scenario, fabric: Fabric, flows: FlowList, scheme: Scheme) -> Needs:
    """Return what the engine will need for these flows, an upper estimate to within a factor of about two.

    The packet pool is bounded by windows and buffers, not by the simulated time.
    """
    params = scheme.long.transport.params
    segments = -(-flows.flow_bytes // params.mss_bytes)
    window = max(1, params.max_window_bytes // params.mss_bytes)
    copies = max(stack_state(stack).subflows for stack in scheme.stacks)
    rings = 2 * int(segments.clip(max=window).sum()) * copies
    arrivals = ARRIVAL_BYTES * rings if scenario.probes and scenario.probes.histograms else 0
    queued = int(abs(fabric.buffer_packets).clip(max=1024).sum())
    packets = min(rings, queued + 64 * fabric.n_ports)
    own = max(_own_bytes(stack) for stack in scheme.stacks)
    unit_bytes = max(first_record(stack.layer.own_fields, "unit").dtype.itemsize for stack in scheme.stacks)
    units = int(segments.sum()) if any(stack.layer.accept for stack in scheme.stacks) else 0
    subflow_bytes = records.SUBFLOW.itemsize + own + BYTES_PER_SUBFLOW
    rows = len(flows.src) * (copies * subflow_bytes + records.FLOW.itemsize + BYTES_PER_FLOW)
    trace_bytes = trace_size_bytes(scenario, fabric, flows, mss_bytes=params.mss_bytes) * copies
    probe_bytes = probes_size_bytes(scenario.probes, fabric, flows, end_s=scenario.end_s)
    total = rows + rings + arrivals + packets * records.PACKET.itemsize + units * unit_bytes // 4 + probe_bytes
    return Needs(total + trace_bytes, trace_bytes)


def _own_bytes(stack: Stack) -> int:
    """Return what the components of a stack keep for each subflow, in bytes."""
    return sum(first_record(getattr(stack, role).own_fields, "subflow").dtype.itemsize for role in HOST_ROLES)


def trace_size_bytes(scenario: Scenario, fabric: Fabric, flows: FlowList, *, mss_bytes: int) -> int:
    """Return the expected size of the packet trace in memory, in bytes: two lines a packet and hop, both ways."""
    if TRACE_LEVELS[scenario.trace] < TRACE_PACKETS:
        return 0
    packets = int((-(-flows.flow_bytes // mss_bytes)).sum())
    return 2 * 2 * packets * _most_hops(fabric) * records.TRACE.itemsize


def probes_size_bytes(probes: Probes | None, fabric: Fabric, flows: FlowList, *, end_s: float) -> int:
    """Return the size of the samples that a run takes at the least, in bytes.

    A run lasts at least until its last flow starts, and until each flow has been sent by its host, or to its end.
    """
    if probes is None:
        return 0
    nic_bps = fabric.rate_bps[fabric.host_port[flows.src]]
    last_s = float((flows.start_ps / PS_PER_S + BITS_PER_BYTE * flows.flow_bytes / nic_bps).max())
    samples = int(min(end_s, last_s) / probes.period_s)
    return samples * _least_rows(probes, len(flows)) * records.PROBE.itemsize


def _least_rows(probes: Probes, n_flows: int) -> int:
    """Return the least number of rows of a sample: one port for each pattern, one subflow for each flow."""
    of_ports = sum(name.startswith(("port.", "queue.")) for name in probes.fields)
    of_flows = sum(name.startswith(("flow.", "sub.")) for name in probes.fields)
    if not probes.fields:
        of_ports, of_flows = len(PORT_FIELDS), len(FLOW_FIELDS)
    return of_ports * len(probes.ports) + of_flows * (n_flows if probes.flows == "all" else len(probes.flows))


def expected_traversals(scenario: Scenario, fabric: Fabric, flows: FlowList, scheme: Scheme) -> float:
    """Return about how many packets will cross a link: data and acknowledgements, no more than hosts can send."""
    params, end_ps = scheme.long.transport.params, to_ps(scenario.end_s)
    counted = flows.start_ps < end_ps
    src, segments = flows.src[counted], -(-flows.flow_bytes[counted] // params.mss_bytes)
    short, long = (_carried(scheme.stack(each)) for each in (True, False))
    copies = np.where(flows.short[counted] & scheme.known_sizes, short, long)
    weights = np.bincount(src, weights=segments * copies, minlength=fabric.n_hosts)
    packet_bits = BITS_PER_BYTE * (params.mss_bytes + params.header_bytes + scenario.link_bytes)
    possible = fabric.rate_bps[fabric.host_port] * scenario.end_s / packet_bits
    return float(2 * _most_hops(fabric) * np.minimum(weights, 1 + possible).sum())


def expected_cpu_s(scenario: Scenario) -> float:
    """Return about how much processor time the compiled engine takes for a run, in seconds.

    At four of five points of the papers' studies it is right within a factor of two, at all but 3% within one of four.
    """
    scheme, fabric = scheme_of_run(scenario, find(scenario.scheme)), scenario.fabric.build()
    flows = draw_flows(scenario.traffic, fabric, seed=scenario.seed, short_bytes=scenario.short_bytes)
    per_s = TRAVERSALS_PER_S if TRACE_LEVELS[scenario.trace] < TRACE_PACKETS else TRACED_PER_S
    return START_S + expected_traversals(scenario, fabric, flows, scheme) / per_s


def reference_remarks(scenarios: Iterable[Scenario], *, seeds: int = 1) -> list[str]:
    """Return a line on how long the reference engine takes for some runs, if that is more than a minute.

    Flows of a steady start that are still to come when the counted ones end do not run to their end: the time is an
    upper bound then, several times too long for few counted flows.
    """
    time_s, counted, all_flows = 0.0, 0, 0
    for scenario in scenarios:
        scheme, fabric = scheme_of_run(scenario, find(scenario.scheme)), scenario.fabric.build(seed=scenario.seed)
        flows = draw_flows(scenario.traffic, fabric, seed=scenario.seed, short_bytes=scenario.short_bytes)
        time_s += seeds * expected_traversals(scenario, fabric, flows, scheme) / REFERENCE_PER_S
        counted, all_flows = int(np.broadcast_to(flows.counted, len(flows)).sum()), len(flows)
    if time_s < PATIENCE_S:
        return []
    of_start = f", with {all_flows - counted} flows of a steady start beside {counted}" if counted < all_flows else ""
    remedy = "the compiled engine gives the same in a hundredth of it, or give fewer flows"
    return [f"the reference engine takes up to {time_s / 60:.0f} min{of_start}: {remedy}"]


def _carried(stack: Stack) -> int:
    """Return how many subflows carry the whole of a flow."""
    state = stack_state(stack)
    return 1 if state.shared else state.subflows


def _most_hops(fabric: Fabric) -> int:
    return max(epoch.routes.most_links for epoch in fabric.epochs)


def check_fabric(scenario: Scenario) -> None:
    """Refuse a fabric that would not fit, or would take minutes to build.

    Raises
    ------
    ParameterError
        One line with the size, before anything of that size is made.
    """
    size, changes, faults = scenario.fabric.size(), scenario.fabric.links, scenario.fabric.faults
    PORTS.check("fabric: ports", size.ports)
    matched = len(changes) + sum(fault.most(size.switches, size.hosts + size.inner_links) for fault in faults)
    if matched * size.ports > MOST_MATCHES:
        most = MOST_MATCHES // size.ports
        what = f"links and fabric.faults: {matched} changes" if faults else f"links: {matched} entries"
        raise ParameterError(f"fabric.{what}, but {most} are the most with {size.ports} ports")
    failing = sum(change.down_s is not None for change in (*changes, *faults))
    epochs = 1 + 4 * failing  # down and up, and the routes after each
    routes = size.hosts * size.switches * ROUTE_BYTES + size.leaves * size.inner_links * CANDIDATE_BYTES
    what = f"routes of {size.switches} switches for {size.hosts} hosts"
    check_fits(routes * epochs + size.ports * BYTES_PER_PORT, what, would_fit="fewer hosts or failures would fit")


def check_traffic(scenario: Scenario, fabric: Fabric) -> None:
    """Refuse traffic whose arrays alone would not fit.

    Raises
    ------
    ParameterError
        One line with the size, before anything of that size is made.
    """
    flows = math.ceil(sum(entry.expected_flows(fabric) for entry in scenario.traffic))
    FLOWS.check("traffic: flows of all entries", max(flows, FLOWS.least))
    check_fits(flows * BYTES_PER_DRAWN_FLOW, f"{flows} flows", would_fit="fewer flows would fit")


def check_run(scenario: Scenario, fabric: Fabric, flows: FlowList, scheme: Scheme) -> None:
    """Refuse a run that would not fit in memory, or would last for days.

    Raises
    ------
    ParameterError
        One line with the size or the time, and what would fit.
    """
    needed_bytes = needs_of(scenario, fabric, flows, scheme).memory_bytes
    check_fits(needed_bytes, f"the records of {len(flows)} flows, their trace and samples", would_fit="fewer would fit")
    traversals = expected_traversals(scenario, fabric, flows, scheme)
    if traversals > MOST_TRAVERSALS:
        days = traversals / TRAVERSALS_PER_S / 86400
        fits_s = scenario.end_s * MOST_TRAVERSALS / traversals
        raise ParameterError(
            f"traffic: {traversals:.1e} packets would cross a link, which takes {days:.0f} days: a day is about "
            f"{MOST_TRAVERSALS:.0e}, so smaller or fewer flows would fit, or end_s = {fits_s:.1g}"
        )
