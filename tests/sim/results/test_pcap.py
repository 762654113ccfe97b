"""Agreement: scapy reads from a capture what the packet trace of the run says."""

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scapy.layers.inet import IP, TCP, UDP
from scapy.layers.l2 import Ether
from scapy.utils import RawPcapReader

from capsim import (
    Dumbbell,
    LeafSpine,
    Listed,
    ParallelPaths,
    ParameterError,
    Poisson,
    Result,
    Scenario,
    simulate,
    write_pcap,
)
from capsim.base.bounds import MAX_TIME_PS
from capsim.base.clock import to_s, whole_ps
from capsim.records import CONGESTION_EXPERIENCED, ECN_CAPABLE, ECN_ECHO, RETRANSMITTED
from capsim.results.tables import KINDS

FABRIC = LeafSpine(leaves=2, hosts_per_leaf=3, spines=2, rate_bps=2e8, host_rate_bps=1e9, buffer_packets=15)
TRAFFIC = (Poisson(min_bytes=1000, max_bytes=200_000, load=0.4, flows=8, pairs="other-leaf"),)
SCENARIO = Scenario(fabric=FABRIC, traffic=TRAFFIC, trace="packets")
MSS, HEADERS, ETHERNET = 1460, 40, 14
Capture = tuple[list[Any], list[Ether]]  # metadata and packets


def read(path: Path) -> Capture:
    """Return the metadata and the packets of a capture."""
    with RawPcapReader(str(path)) as reader:
        assert (reader.nano, reader.linktype) == (True, 1)
        records = list(reader)
    return [metadata for _, metadata in records], [Ether(frame) for frame, _ in records]


def captured(result: Result, folder: Path, ports: Sequence[str] | None = None) -> Capture:
    """Return what is read from the capture of a run."""
    path = folder / "run.pcap"
    count = write_pcap(result, path, ports=ports)
    metadata, packets = read(path)
    assert len(packets) == count
    return metadata, packets


@pytest.fixture(scope="module", params=["sack", "dctcp", "caps", "repflow"])
def result(request: pytest.FixtureRequest) -> Result:
    params = {"transport": {"handshake": True}} if request.param == "sack" else {}
    return simulate(SCENARIO.replace(params=params), scheme=request.param)


@pytest.fixture(scope="module")
def capture(result: Result, tmp_path_factory: pytest.TempPathFactory) -> Capture:
    """What is read from the capture of `result`, for tests that do not change it."""
    return captured(result, tmp_path_factory.mktemp("capture"))


def sent(result: Result) -> Any:
    """Return the raw lines of the trace that say what hosts gave to their NICs."""
    trace, nics = result.raw.trace, result.scenario.fabric.build().host_port
    return trace[(trace["what"] == 0) & np.isin(trace["port"], nics)]


def host(address: str) -> int:
    ten, *digits = map(int, address.split("."))
    assert ten == 10
    return int.from_bytes(bytes(digits))


def test_every_packet_is_there_once_at_its_time_and_with_its_length(result: Result, capture: Capture) -> None:
    metadata, packets = capture
    lines = sent(result)
    assert len(packets) == len(lines) > 400
    assert [(one.sec, one.usec) for one in metadata] == [divmod(ps // 1000, 10**9) for ps in lines["time_ps"].tolist()]
    assert [one.wirelen for one in metadata] == (ETHERNET + lines["bytes"]).tolist()
    assert {one.caplen for one in metadata} == {ETHERNET + HEADERS}
    assert {(packet[IP].ttl, str(packet[IP].flags), packet[IP].id) for packet in packets} == {(64, "DF", 0)}


def test_it_goes_between_the_hosts_and_ports_of_its_subflow(result: Result, capture: Capture) -> None:
    _, packets = capture
    subs = result.raw.subs
    for packet, line in zip(packets, sent(result), strict=True):
        sub, kind = int(line["sub"]), KINDS[line["kind"]]
        ends = [(int(subs[sub]["src"]), 1024 + sub), (int(subs[sub]["dst"]), 5001)]
        (source, source_port), (target, target_port) = ends[::-1] if kind in ("ack", "syn-ack") else ends
        ip = packet[IP]
        assert (host(ip.src), host(ip.dst)) == (source, target)
        assert (ip.payload.sport, ip.payload.dport) == (source_port, target_port)
        assert (packet.src, packet.dst) == (f"02:00:0a:00:00:{source:02x}", f"02:00:0a:00:00:{target:02x}")
        assert isinstance(ip.payload, UDP if kind == "coded" else TCP)


FLAGS = {"data": "A", "ack": "A", "syn": "S", "syn-ack": "SA", "handshake-ack": "A"}


def test_tcp_has_the_segments_acknowledgements_and_flags_of_the_trace(result: Result, capture: Capture) -> None:
    _, packets = capture
    for packet, line in zip(packets, sent(result), strict=True):
        kind, size = KINDS[line["kind"]], int(result.flows["flow_bytes"][result.raw.subs[line["sub"]]["flow"]])
        if kind == "coded":
            continue
        data = MSS * int(line["segment"]) if kind == "data" else 0
        acked = min(MSS * int(line["ack"]), size) if kind == "ack" else 0
        tcp, opens = packet[TCP], kind.startswith("syn")
        assert (tcp.seq, tcp.ack) == (data + (not opens), acked + (kind != "syn"))
        assert (tcp.dataofs, tcp.window, tcp.urgptr) == (5, 65535, 0)
        assert str(tcp.flags) == FLAGS[kind] + ("E" if line["flags"] & ECN_ECHO else "")
        payload = packet[IP].len - HEADERS
        assert payload == (min(MSS, size - data) if kind == "data" else 0)


def test_the_first_transmissions_of_a_connection_are_in_order_and_its_retransmissions_go_back(tmp_path: Path) -> None:
    result = simulate(SCENARIO, scheme="ecmp")
    _, packets = captured(result, tmp_path)
    again = 0
    expected: dict[tuple[str, int], int] = {}
    for packet, line in zip(packets, sent(result), strict=True):
        if KINDS[line["kind"]] != "data":
            continue
        key, tcp = (packet[IP].src, packet[TCP].sport), packet[TCP]
        next_seq = expected.get(key, 1)
        if line["flags"] & RETRANSMITTED:
            assert tcp.seq < next_seq
            again += 1
        else:
            assert tcp.seq == next_seq
            expected[key] = tcp.seq + packet[IP].len - HEADERS
    assert again == result.flows["retransmissions"].sum() > 10
    assert sorted(expected.values()) == sorted(1 + result.flows["flow_bytes"])


@pytest.mark.parametrize("name", ["ecmp", "mptcp", "mmptcp", "dc2mtcp", "repflow", "ndp"])
def test_nothing_is_acknowledged_that_was_not_sent(name: str, tmp_path: Path) -> None:
    """RFC 9293, section 3.10.7.4; the last segment of a flow is short, and one of its subflows sends it."""
    sizes = [(0, 3, 100_001), (1, 4, 70_000), (2, 5, 1461), (3, 0, 30_000)]
    flows = tuple((src, dst, size, 0.0) for src, dst, size in sizes)
    result = simulate(SCENARIO.replace(traffic=(Listed(flows=flows),)), scheme=name, engine="reference")
    assert result.flows["packets_dropped"].sum() + result.ports["packets_trimmed"].sum() > 0
    sent: dict[tuple[str, str, int, int], int] = {}
    acked: dict[tuple[str, str, int, int], int] = {}
    for packet in captured(result, tmp_path)[1]:
        ip, tcp = packet[IP], packet[TCP]
        there, back = (ip.src, ip.dst, tcp.sport, tcp.dport), (ip.dst, ip.src, tcp.dport, tcp.sport)
        payload = ip.len - HEADERS
        if payload:
            sent[there] = max(sent.get(there, 1), tcp.seq + payload)
        else:
            acked[back] = max(acked.get(back, 1), tcp.ack)
            assert tcp.ack <= sent.get(back, 1)
    assert sum(acked.values()) - len(acked) >= sum(size for *_, size in sizes)


def test_coded_packets_name_their_unit_in_udp(tmp_path: Path) -> None:
    result = simulate(SCENARIO, scheme="caps")
    _, packets = captured(result, tmp_path)
    coded = [(packet, line) for packet, line in zip(packets, sent(result), strict=True) if UDP in packet]
    assert len(coded) == sum(KINDS[line["kind"]] == "coded" for line in sent(result)) > 50
    for packet, line in coded:
        behind = bytes(packet[UDP].payload)
        assert (packet[IP].len, packet[UDP].len, packet[UDP].chksum) == (line["bytes"], line["bytes"] - 20, 0)
        assert int.from_bytes(behind[:8]) == line["segment"]
        assert int.from_bytes(behind[8:]) == line["sub"]


def test_marks_stand_in_the_ip_header_and_their_echo_in_that_of_tcp(tmp_path: Path) -> None:
    result = simulate(SCENARIO.replace(params={"queue": {"threshold_packets": 5}}), scheme="dctcp")
    _, packets = captured(result, tmp_path, ports=("leaf0>spine*",))
    lines = result.trace[(result.trace["event"] == "arrived") & result.trace["port"].str.startswith("leaf0>spine")]
    flags = lines["flags"].to_numpy()
    marked = flags & CONGESTION_EXPERIENCED != 0
    assert marked.any()
    codepoints = np.where(marked, 3, np.where(flags & ECN_CAPABLE != 0, 2, 0))
    assert [packet[IP].tos for packet in packets] == codepoints.tolist()
    assert {0, 2, 3} == set(codepoints.tolist())
    assert any("E" in str(packet[TCP].flags) for packet in captured(result, tmp_path)[1])


def test_checksums_of_ip_are_right(capture: Capture) -> None:
    for packet in (each.copy() for each in capture[1][::50]):
        stated = packet[IP].chksum
        del packet[IP].chksum
        assert IP(bytes(packet[IP])).chksum == stated


def test_a_host_sees_what_it_sends_and_what_arrives(tmp_path: Path) -> None:
    """So the round-trip time can be read from it: a lone packet and its acknowledgement, three links each way."""
    alone = Scenario(fabric=Dumbbell(hosts_per_side=2), traffic=(Listed(flows=((1, 2, MSS, 0.5),)),), trace="packets")
    result = simulate(alone, engine="reference")
    metadata, (data, ack) = captured(result, tmp_path, ports=("host1>*", "*>host1"))
    assert (data[TCP].seq, ack[TCP].ack, host(data[IP].src), host(ack[IP].dst)) == (1, 1 + MSS, 1, 1)
    rtt_ns = 3 * (12_500 + 12_000) + 3 * (12_500 + 320)
    assert [(one.sec, one.usec) for one in metadata] == [(0, 5 * 10**8), (0, 5 * 10**8 + rtt_ns)]
    assert captured(result, tmp_path, ports=("host0>*", "*>host0")) == ([], [])


@pytest.mark.parametrize(
    ("header_bytes", "ip_bytes", "frame_bytes"), [(0, 1040, 1054), (40, 1040, 1054), (58, 1040, 1072), (90, 1040, 1104)]
)
def test_headers_of_other_lengths_do_not_shift_the_stream(
    header_bytes: int, ip_bytes: int, frame_bytes: int, tmp_path: Path
) -> None:
    sizes = {"mss_bytes": 1000, "header_bytes": header_bytes}
    scenario = SCENARIO.replace(traffic=(Listed(flows=((0, 3, 3000, 0.0),)),), params={"transport": sizes})
    metadata, packets = captured(simulate(scenario, engine="reference"), tmp_path)
    data = [packet for packet in packets if packet[TCP].sport != 5001]
    assert [packet[TCP].seq for packet in data] == [1, 1001, 2001]
    assert {packet[IP].len for packet in data} == {ip_bytes}
    assert {one.wirelen for one in metadata} == {frame_bytes, ETHERNET + HEADERS}


@pytest.mark.parametrize(("mss_bytes", "ip_bytes"), [(60_000, 60_040), (65_495, 65_535), (65_496, 0), (99_000, 0)])
def test_a_packet_that_the_length_of_ip_cannot_hold_has_none(mss_bytes: int, ip_bytes: int, tmp_path: Path) -> None:
    traffic = (Listed(flows=((0, 3, mss_bytes, 0.0),)),)
    scenario = SCENARIO.replace(traffic=traffic, params={"transport": {"mss_bytes": mss_bytes}})
    metadata, (data, ack) = captured(simulate(scenario, engine="reference"), tmp_path)
    assert (data[IP].len, metadata[0].wirelen) == (ip_bytes, ETHERNET + mss_bytes + 40)
    assert ack[TCP].ack == 1 + mss_bytes


def test_numbers_wrap_where_their_fields_end(tmp_path: Path) -> None:
    """A flow of 6 GB on subflow 200000 between hosts of a fabric with millions, as one line of a trace each way."""
    base = simulate(SCENARIO, scheme="ecmp")
    lines = base.trace[base.trace["layer"] == "host>leaf"]
    data, ack = (lines[lines["packet"] == kind].iloc[:1] for kind in ("data", "ack"))
    flows = base.flows.assign(src=70_000, dst=2**24 - 1, flow_bytes=6 * 10**9)
    for line, field in ((data.assign(segment=3 * 10**6, flags=0), "seq"), (ack.assign(ack=3 * 10**6), "ack")):
        line = line.assign(subflow=200_000)
        line["packet"] = line["packet"].astype(data["packet"].dtype)
        _, (packet,) = captured(replace(base, trace=line, flows=flows), tmp_path)
        assert getattr(packet[TCP], field) == (1 + 3 * 10**6 * MSS) % 2**32
        ends = {(packet[IP].src, packet[TCP].sport), (packet[IP].dst, packet[TCP].dport)}
        assert ends == {("10.1.17.112", 1024 + 200_000 % 64512), ("10.255.255.255", 5001 + 200_000 // 64512)}


def test_the_capture_of_a_saved_result_is_the_same(result: Result, tmp_path: Path) -> None:
    again = Result.load(result.save(tmp_path / "out"))
    for name, source in (("a", result), ("b", again)):
        write_pcap(source, tmp_path / name, ports=("host*>*", "spine*"))
    assert (tmp_path / "a").read_bytes() == (tmp_path / "b").read_bytes()


def test_a_long_trace_is_written_in_parts(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    result = simulate(SCENARIO, scheme="ecmp")
    write_pcap(result, tmp_path / "whole")
    monkeypatch.setattr("capsim.results.pcap._LINES_AT_ONCE", 500)
    write_pcap(result, tmp_path / "parts")
    assert (tmp_path / "whole").read_bytes() == (tmp_path / "parts").read_bytes()


def test_what_cannot_be_captured_is_an_error(tmp_path: Path) -> None:
    few = SCENARIO.replace(fabric=ParallelPaths(paths=2, hosts_per_side=3), trace="drops")
    with pytest.raises(ParameterError, match="trace = 'drops', which records not all packets"):
        write_pcap(simulate(few, engine="reference"), tmp_path / "run.pcap")
    all_packets = simulate(few.replace(trace="packets"), engine="reference")
    with pytest.raises(ParameterError, match=r"ports: no port 'spine\*': ports are named as in 'right>left#2'"):
        write_pcap(all_packets, tmp_path / "run.pcap", ports=("left>*", "spine*"))
    assert list(tmp_path.iterdir()) == []


@given(st.lists(st.integers(0, MAX_TIME_PS - 1), min_size=1))
def test_times_of_a_table_are_the_picoseconds_that_they_were(times_ps: list[int]) -> None:
    assert whole_ps(np.array([to_s(time_ps) for time_ps in times_ps])).tolist() == times_ps
