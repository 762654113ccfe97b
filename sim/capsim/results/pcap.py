"""Writes the packet trace of a run as a capture file (pcap), which Wireshark, tshark and tcpdump open.

The simulator has segments and acknowledgements; the headers around them are made up as follows.

=================== =================================================================================================
In the capture      From the run
=================== =================================================================================================
time stamp          time of the trace, rounded down to a nanosecond
addresses           host h is 10.x.y.z, its number in 24 bits; MAC address 02:00:0a:x:y:z, of hosts only
ports               1024 + c mod 64512 at the sender, 5001 + c // 64512 at the receiver, c being the subflow
sequence numbers    1 + segment · MSS, 32 bits; a SYN has 0
acknowledgement     1 + next segment expected · MSS, at most what its subflow has sent, of coded packets 1 + bytes of
                    the flow; of packets with data 1
flags               SYN, ACK, ECE (ECN echo); in the IP header ECT(0) and CE
length              packet bytes and 14 of Ethernet; what headers have beyond 40 bytes (options) stands behind the IP
                    packet, and an IP length above 65535 is 0, as for segments that a NIC divides
not there           payload, TCP options, FIN, checksums of TCP and UDP, windows (always 65535)
=================== =================================================================================================

A coded packet carries no range of the stream, so it is a UDP packet between the same ports. Behind the UDP header stand
the first segment of its coding unit (8 bytes) and the subflow (4 bytes), most significant byte first. Its
acknowledgements are those of the TCP connection.
"""

import struct
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import pandas as pd

from capsim.base.clock import PS_PER_S, whole_ps
from capsim.engines.hosts.queue_counts import PS_PER_NS
from capsim.fabric.topology import Bools, leaves_host, ports_like
from capsim.records import CONGESTION_EXPERIENCED, ECN_CAPABLE, ECN_ECHO
from capsim.results.result import Result
from capsim.results.trace import Trace
from capsmodel._files import atomic_writer

Ints = npt.NDArray[np.int64]

_NANOSECONDS, _ETHERNET = 0xA1B23C4D, 1  # magic number and link type, draft-ietf-opsawg-pcap
_RECORD_BYTES, _ETHERNET_BYTES, _IP_BYTES = 16, 14, 20
_HEADERS_BYTES = 40  # IP and TCP; or IP, UDP and what stands behind it
_NETWORK, _LOCAL_MAC = 10 << 24, (0x02, 0x00)
_FIRST_PORT, _RECEIVER_PORT = 1024, 5001
_SUBFLOW = "subflow"  # column of the trace
_SENT_BYTES = "sent_bytes"  # column added to it
_TCP, _UDP = 6, 17
_SYN, _ACK, _ECE = 0x02, 0x10, 0x40
_ECT0, _CE = 2, 3  # RFC 3168, section 5
_LINES_AT_ONCE = 10**6  # of the trace: 70 MB of frames

_FRAME = np.dtype(
    [
        ("second", "<u4"),
        ("nanosecond", "<u4"),
        ("captured_bytes", "<u4"),
        ("frame_bytes", "<u4"),
        *[("to_mac", "u1", 2), ("to_host", ">u4"), ("from_mac", "u1", 2), ("from_host", ">u4"), ("ether_type", ">u2")],
        *[("version", "u1"), ("ecn", "u1"), ("ip_bytes", ">u2"), ("id", ">u2"), ("fragment", ">u2"), ("ttl", "u1")],
        *[("protocol", "u1"), ("checksum", ">u2"), ("src", ">u4"), ("dst", ">u4")],
        *[("src_port", ">u2"), ("dst_port", ">u2"), ("rest", "V16")],
    ]
)
_CAPTURED_BYTES = _ETHERNET_BYTES + _HEADERS_BYTES
_TCP_REST = np.dtype(
    [("seq", ">u4"), ("ack", ">u4"), ("offset", "u1"), ("flags", "u1"), ("window", ">u2"), ("zero", ">u4")]
)
_UDP_REST = np.dtype([("udp_bytes", ">u2"), ("zero", ">u2"), ("segment", ">u8"), ("subflow", ">u4")])


def write_pcap(result: Result, path: str | Path, *, ports: Sequence[str] | None = None) -> int:
    """Write the packets that were seen at some ports as a capture file, and return how many.

    Parameters
    ----------
    result : Result
        Of a run with ``trace = "packets"``.
    path : str or Path
        The file; one that is there is replaced.
    ports : sequence of str, optional
        Names of ports, with ``*`` and ``?`` as in file names. At the NIC of a host a packet is seen when the host sends
        it, at a switch when it has crossed the link: ``("host0>*", "*>host0")`` is what a capture on host 0 would have.
        When left out, the NICs of all hosts: every packet once.

    Raises
    ------
    ParameterError
        If the run did not record all packets, or a name matches no port.
    OSError
        If the file cannot be written.

    Examples
    --------
    >>> import tempfile
    >>> from capsim import Batch, Dumbbell, Scenario, simulate
    >>> traffic = (Batch(flows=1, flow_bytes=5 * 1460, pairs="sides"),)
    >>> scenario = Scenario(fabric=Dumbbell(hosts_per_side=1), traffic=traffic, trace="packets")
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     write_pcap(simulate(scenario, engine="reference"), f"{folder}/run.pcap")
    10
    """
    lines = _seen(result, ports)
    with atomic_writer(Path(path)) as file:
        file.write(struct.pack("<IHHiIII", _NANOSECONDS, 2, 4, 0, 0, _CAPTURED_BYTES, _ETHERNET))
        for first in range(0, len(lines), _LINES_AT_ONCE):
            file.write(_frames(lines.iloc[first : first + _LINES_AT_ONCE], result).tobytes())
    return len(lines)


def _seen(result: Result, ports: Sequence[str] | None) -> pd.DataFrame:
    """Return the lines of the trace at the ports of the capture, each packet once at each of them."""
    lines = Trace.of(result).lines
    at_nic = lines["layer"].isin([layer for layer in lines["layer"].cat.categories if leaves_host(layer)])
    seen = (at_nic & (lines["event"] == "enqueued")) | (~at_nic & (lines["event"] == "arrived"))
    if ports is None:
        seen &= at_nic
    else:
        names = result.ports["name"].tolist()
        seen &= lines["port"].isin([names[port] for port in ports_like(names, ports, where="ports")])
    sent_bytes = _sent_bytes(lines, at_nic & (lines["event"] == "enqueued"), result)
    return lines[seen].assign(**{_SENT_BYTES: sent_bytes[seen]})


def _sent_bytes(lines: pd.DataFrame, at_nic: "pd.Series[bool]", result: Result) -> "pd.Series[int]":
    """Return over lines how many bytes of its stream the subflow has sent until then: where the last segment ends."""
    sizes = _sizes(result)
    payload_bytes = lines["packet_bytes"] - sizes["header_bytes"]
    ends_bytes = lines["segment"] * sizes["mss_bytes"] + payload_bytes
    return ends_bytes.where(at_nic & (lines["packet"] == "data"), 0).groupby(lines[_SUBFLOW]).cummax()


def _sizes(result: Result) -> dict[str, int]:
    """Return payload and headers of packets with data, among other parameters of the transport."""
    sizes: dict[str, int] = result.manifest["parameters"]["scheme"]["long"]["transport"]
    return sizes


def _frames(lines: pd.DataFrame, result: Result) -> npt.NDArray[Any]:
    """Return lines of the trace as records of a capture file."""
    packet, flags, packet_bytes = lines["packet"], lines["flags"].to_numpy(), lines["packet_bytes"].to_numpy()
    coded = (packet == "coded").to_numpy()
    back = packet.isin(["ack", "syn-ack"]).to_numpy()
    frames = np.zeros(len(lines), _FRAME)
    ps = whole_ps(lines["time_s"].to_numpy())
    frames["second"], frames["nanosecond"] = ps // PS_PER_S, ps % PS_PER_S // PS_PER_NS
    _address(frames, *(_turned(ends, back) for ends in (_hosts(lines, result), _ports(lines))))
    tcp, payload_bytes = _tcp(lines, result, back=back)
    ip_bytes = _HEADERS_BYTES + np.where(coded, np.maximum(packet_bytes - _HEADERS_BYTES, 0), payload_bytes)
    frames["captured_bytes"] = _CAPTURED_BYTES
    frames["frame_bytes"] = _ETHERNET_BYTES + np.maximum(packet_bytes, ip_bytes)
    frames["ip_bytes"] = _if_it_fits(ip_bytes)
    frames["protocol"] = np.where(coded, _UDP, _TCP)
    capable, congested = flags & ECN_CAPABLE != 0, flags & CONGESTION_EXPERIENCED != 0
    frames["ecn"] = np.where(congested, _CE, np.where(capable, _ECT0, 0))
    frames["checksum"] = _ip_checksum(frames)
    frames["rest"] = np.where(coded, _udp(lines, ip_bytes).view("V16"), tcp.view("V16"))
    return frames


def _hosts(lines: pd.DataFrame, result: Result) -> tuple[Ints, Ints]:
    """Return sender and receiver of the flow that each packet belongs to."""
    flow = lines["flow"].to_numpy()
    return result.flows["src"].to_numpy()[flow], result.flows["dst"].to_numpy()[flow]


def _ports(lines: pd.DataFrame) -> tuple[Ints, Ints]:
    """Return the port numbers at sender and receiver of the subflow that each packet belongs to."""
    further, own = np.divmod(lines[_SUBFLOW].to_numpy(), 2**16 - _FIRST_PORT)
    return _FIRST_PORT + own, _RECEIVER_PORT + further


def _turned(ends: tuple[Ints, Ints], back: Bools) -> tuple[Ints, Ints]:
    """Return where each packet comes from and where it goes to, if those that go `back` are turned."""
    sender, receiver = ends
    return np.where(back, receiver, sender), np.where(back, sender, receiver)


def _address(frames: npt.NDArray[Any], hosts: tuple[Ints, Ints], ports: tuple[Ints, Ints]) -> None:
    """Fill in what is the same for all packets, and from where to where each one goes."""
    frames["ether_type"], frames["version"], frames["fragment"], frames["ttl"] = 0x0800, 0x45, 0x4000, 64
    for mac in ("from_mac", "to_mac"):
        frames[mac] = _LOCAL_MAC
    for ip, mac, host in zip(("src", "dst"), ("from_host", "to_host"), hosts, strict=True):
        frames[ip] = frames[mac] = _NETWORK + host
    frames["src_port"], frames["dst_port"] = ports


def _tcp(lines: pd.DataFrame, result: Result, *, back: Bools) -> tuple[npt.NDArray[Any], Ints]:
    """Return the TCP headers behind the ports, and the bytes of payload."""
    packet, sizes = lines["packet"], _sizes(result)
    opens = packet.isin(["syn", "syn-ack"]).to_numpy()
    acked = _acked_bytes(lines, result, mss_bytes=sizes["mss_bytes"])
    is_data = (packet == "data").to_numpy()
    headers = np.zeros(len(lines), _TCP_REST)
    headers["seq"] = np.where(is_data, 1 + lines["segment"].to_numpy() * sizes["mss_bytes"], ~opens) % 2**32
    headers["ack"] = np.where(packet == "ack", 1 + acked, packet != "syn") % 2**32
    headers["offset"], headers["window"] = 5 << 4, 2**16 - 1
    echo = np.where(lines["flags"].to_numpy() & ECN_ECHO != 0, _ECE, 0)
    headers["flags"] = np.where(opens, _SYN, 0) | np.where(packet != "syn", _ACK, 0) | echo
    return headers, np.where(is_data, lines["packet_bytes"].to_numpy() - sizes["header_bytes"], 0)


def _acked_bytes(lines: pd.DataFrame, result: Result, *, mss_bytes: int) -> Ints:
    """Return the bytes of its stream that each packet acknowledges: no more than were sent, for a segment may be short.

    Where a whole segment and more is missing from what was sent, it came in coded packets.
    """
    flow_bytes = result.flows["flow_bytes"].to_numpy()[lines["flow"].to_numpy()]
    acked, sent = lines["ack"].to_numpy() * mss_bytes, lines[_SENT_BYTES].to_numpy()
    return np.asarray(np.minimum(acked, np.where(acked - sent < mss_bytes, sent, flow_bytes)))


def _udp(lines: pd.DataFrame, ip_bytes: Ints) -> npt.NDArray[Any]:
    """Return the UDP headers behind the ports, and what stands behind them."""
    headers = np.zeros(len(lines), _UDP_REST)
    headers["udp_bytes"] = _if_it_fits(ip_bytes - _IP_BYTES)
    headers["segment"], headers["subflow"] = lines["segment"], lines[_SUBFLOW]
    return headers


def _if_it_fits(count_bytes: Ints) -> Ints:
    """Return what a field of 16 bits says of a length: 0 for one that it cannot hold."""
    return np.where(count_bytes < 2**16, count_bytes, 0)


def _ip_checksum(frames: npt.NDArray[Any]) -> Ints:
    """Return the checksums of the IP headers (RFC 791, section 3.1); the field itself is still 0."""
    begin = _RECORD_BYTES + _ETHERNET_BYTES
    words = frames.view("u1").reshape(len(frames), -1)[:, begin : begin + _IP_BYTES].reshape(len(frames), -1, 2)
    total = (words[:, :, 0].astype(np.int64) * 256 + words[:, :, 1]).sum(axis=1)
    for _ in range(2):  # carries are added at the end
        total = (total & 0xFFFF) + (total >> 16)
    return np.asarray(0xFFFF - total)
