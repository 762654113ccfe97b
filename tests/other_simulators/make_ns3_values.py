"""Run the reference scenarios in ns-3 and write what it says to ``tests/other_simulators/values``.

ns-3 is no dependency of this project. To make the values anew, in an environment of its own (CPython 3.11, Linux on
x86-64, for which the package index has a wheel with compiled ns-3)::

    python3.11 -m venv ns3-venv
    ns3-venv/bin/pip install ns3==3.44.post0 .
    ns3-venv/bin/python tests/other_simulators/make_ns3_values.py [SCENARIO ...]

What of capsim is used: the scenario reader, the flow list, and the fabric as arrays. What ns-3 does otherwise than
its defaults stands in :func:`attributes`. The clock of ns-3 counts picoseconds.

Connections without a handshake in the scenario are opened before the first flow starts, one after the other on the
idle network; a flow's clock starts when its sender gets the data. Connections with one are opened by the flow.
"""

import json
import sys
from datetime import UTC, datetime
from importlib.metadata import version
from pathlib import Path
from typing import Any

import numpy as np

sys.path.insert(0, str(Path(__file__).parents[1]))

from other_simulators.reference_scenarios import (
    FOLDER,
    flows_of,
    inputs_sha256,
    names,
    runs,
    scenario_of,
    scheme_of,
    values_file,
)

from capsim import Scenario
from capsim.base.clock import PS_PER_S, to_ps
from capsim.fabric.topology import Fabric
from capsim.protocols.congestion.proportional import Reduction
from capsmodel.metrics import percentile

OPENING_PS = PS_PER_S  # flows of pre-opened connections start this much later in ns-3
UNLIMITED = 1_000_000  # packets


def attributes(scenario: Scenario) -> dict[str, str]:
    """Return the ns-3 attributes that differ from their defaults, as ns-3 writes them."""
    params: Any = scheme_of(scenario).long.transport.params
    dctcp = scenario.scheme.startswith("dctcp")
    control = "TcpDctcp" if dctcp else "TcpNewReno"
    reduced = scheme_of(scenario).long.congestion.params if dctcp else params
    at_once = getattr(reduced, "reduction", Reduction.AT_ONCE) == Reduction.AT_ONCE
    return {
        "ns3::TcpL4Protocol::SocketType": f"ns3::{control}",
        "ns3::TcpL4Protocol::RecoveryType": f"ns3::{'TcpClassicRecovery' if at_once else 'TcpPrrRecovery'}",
        "ns3::TcpSocketBase::Sack": str("sack" in scenario.scheme).lower(),
        "ns3::TcpSocketBase::Timestamp": "false",
        "ns3::TcpSocketBase::LimitedTransmit": str(params.limited_transmit).lower(),
        "ns3::TcpSocketBase::MinRto": f"{params.min_rto_s}s",
        "ns3::TcpSocketBase::ClockGranularity": f"{params.granularity_s}s",
        "ns3::TcpSocket::ConnTimeout": f"{params.initial_rto_s or 1.0}s",
        "ns3::TcpSocket::DelAckCount": "1",
        "ns3::TcpSocket::SegmentSize": str(params.mss_bytes),
        "ns3::TcpSocket::InitialCwnd": str(params.initial_window_packets),
        "ns3::TcpSocket::InitialSlowStartThreshold": str(min(params.initial_ssthresh_bytes, 2**32 - 1)),
        "ns3::TcpSocket::RcvBufSize": str(params.max_window_bytes),
        "ns3::TcpSocket::SndBufSize": str(2**31),
    }


def reference() -> Any:
    """Return the C++ namespace of ``ns3_network.cc``, compiled by ns-3's own Python bindings."""
    from ns import ns

    ns.cppyy.cppdef((FOLDER / "ns3_network.cc").read_text(encoding="utf-8"))
    return ns.cppyy.gbl.reference


def network(ns3: Any, fabric: Fabric, *, counted_from_ps: int, threshold_packets: int) -> Any:
    """Return the fabric in ns-3, with its routes."""
    net = ns3.Network(len(fabric.node_names), counted_from_ps, threshold_packets)
    packets = np.where(fabric.buffer_packets < 0, UNLIMITED, fabric.buffer_packets)
    for port in range(0, fabric.n_ports, 2):  # the two directions of a link are neighbours
        ends = int(fabric.port_from[port]), int(fabric.port_to[port])
        assert ends == (fabric.port_to[port + 1], fabric.port_from[port + 1])
        assert fabric.delay_ps[port] == fabric.delay_ps[port + 1]
        rates = fabric.rate_bps[port : port + 2].tolist()
        limits = packets[port : port + 2].tolist()
        net.AddLink(ns3.Link(*ends, *rates, int(fabric.delay_ps[port]), *limits))
    for route in routes(fabric):
        net.AddRoute(ns3.Route(*route))
    return net


def routes(fabric: Fabric) -> list[tuple[int, int, int]]:
    """Return (node, host, next node): for a switch the port that the host's number names, for a host its only one."""
    found = []
    for host in range(fabric.n_hosts):
        for other in set(range(fabric.n_hosts)) - {host}:
            found.append((other, host, int(fabric.port_to[fabric.host_port[other]])))
        for switch in range(fabric.n_switches):
            ports = fabric.routes.ports(switch, host)
            if len(ports):
                found.append((fabric.n_hosts + switch, host, int(fabric.port_to[ports[host % len(ports)]])))
    return found


def values_of_ns3(ns3: Any, scenario: Scenario, number: int) -> dict[str, Any]:
    """Return what ns-3 says about one run of a scenario."""
    chosen = scheme_of(scenario)
    fabric, flows = scenario.fabric.build(), flows_of(scenario, number)
    opened_before = not chosen.long.transport.params.handshake
    offset_ps = OPENING_PS if opened_before else 0
    threshold = getattr(chosen.queue.params, "threshold_packets", 0)
    assert getattr(chosen.queue.params, "at_nics", True), f"{scenario.name}: all devices mark, so at_nics = true"
    net = network(ns3, fabric, counted_from_ps=offset_ps, threshold_packets=threshold)
    for flow in range(len(flows)):
        start_ps = offset_ps + int(flows.start_ps[flow])
        open_ps = flow * OPENING_PS // (2 * len(flows)) if opened_before else start_ps
        net.AddFlow(int(flows.src[flow]), int(flows.dst[flow]), int(flows.flow_bytes[flow]), open_ps, start_ps)
    net.Run(offset_ps + to_ps(scenario.end_s))
    numbers, ends = range(len(flows)), range(fabric.n_ports)
    fct_ps = [net.EndPs(flow) - offset_ps - int(flows.start_ps[flow]) for flow in numbers]
    assert min(fct_ps) > 0, f"{scenario.name}: a flow did not finish by end_s"
    counted = {
        "packets_dropped": sum(net.Dropped(end) for end in ends),
        "packets_marked": sum(net.Marked(end) for end in ends),
        "retransmissions": sum(net.Retransmissions(flow) for flow in numbers),
        "waiting_packet_s": net.WaitingPacketS(),
        "fct_ps": fct_ps,
    }
    net.__destruct__()
    return counted


def provenance(name: str, scenario: Scenario) -> dict[str, Any]:
    """Return where the values come from."""
    return {
        "simulator": f"ns-3.44 (wheel ns3 {version('ns3')})",
        "command": f"python tests/other_simulators/make_ns3_values.py {name}",
        "date": datetime.now(UTC).date().isoformat(),
        "inputs_sha256": inputs_sha256(scenario),
        "attributes": attributes(scenario),
    }


def written(name: str, scenario: Scenario, found: list[dict[str, Any]]) -> str:
    """Return the file of a scenario: provenance, the summary, one line for each run."""
    fct_s = np.concatenate([one["fct_ps"] for one in found]) / PS_PER_S
    head = {
        "provenance": provenance(name, scenario),
        "mean_fct_s": float(fct_s.mean()),
        "p99_fct_s": float(percentile(fct_s, q=0.99)),
    }
    lines = ",\n  ".join(json.dumps(one) for one in found)
    return json.dumps(head, indent=1).removesuffix("\n}") + f',\n "runs": [\n  {lines}\n ]\n}}\n'


def main() -> None:
    """Make the values of the scenarios named on the command line, of all without a name."""
    ns3 = reference()
    ns3.UsePicoseconds()
    for name in sys.argv[1:] or names():
        scenario = scenario_of(name)
        for attribute, value in attributes(scenario).items():
            ns3.SetDefault(attribute, value)
        found = [values_of_ns3(ns3, scenario, number) for number in range(runs(scenario))]
        values_file(name).write_text(written(name, scenario, found), encoding="utf-8")
        print(name)


if __name__ == "__main__":
    main()
