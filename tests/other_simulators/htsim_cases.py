"""The cases that capsim and htsim both run: connection matrices, and the conventions of each side.

Both read the same files, ``htsim/*.cm``, and the flows of ``lone`` one by one. Two programs of htsim are asked:

* ``htsim_uec`` with a fixed window (``-sender_cc_algo constant``), so that no congestion control stands between, and an
  acknowledgement for each packet (``-sack_threshold 0``); queues trim and mark by its defaults. The cases ``uet-*``
  have its congestion control, beside the scheme ``uet``;
* ``htsim_ndp``, beside the scheme ``ndp``.
"""

from dataclasses import dataclass, replace
from hashlib import sha256
from pathlib import Path
from typing import Any

from other_simulators.as_in_htsim import TOLD_BY_HEADERS

from capsim import Scenario, Scheme, scheme
from capsim.protocols.balancers.ecmp import ECMP
from capsim.protocols.congestion.none import NO_CONGESTION
from capsim.protocols.marking.entropy import ENTROPY, Policy
from capsim.protocols.nics.round_robin import ROUND_ROBIN
from capsim.protocols.queues.trim import TRIM_QUEUE
from capsim.protocols.transports.uet import UET
from capsim.roles.components import Queue, Transport
from capsim.scenario.connection_matrix import read_connection_matrix
from capsim.scenario.scenario import from_dict

FOLDER = Path(__file__).parent / "htsim"
# 128 hosts, as htsim's -nodes 128; a host has room for all that waits, and what trims has its own limit.
FABRIC = {"kind": "fat-tree", "pods": 8, "rate_bps": 100e9, "delay_s": 1e-6, "buffer_packets": 100_000}
PACKET_BYTES, HEADER_BYTES = 4150, 64
BDP_PACKETS, WINDOW_PACKETS = 43, 63  # 1 and 1.5 times rate x round trip
MARK_LOW_PACKETS, MARK_HIGH_PACKETS = 9, 35  # 0.2 and 0.8 times, which is what htsim_uec sets without -ecn
QUEUE_PACKETS = {True: 43, False: 215}  # of ports that trim, and of those that drop: 1 and 5 times
RTT_S = 14.02272e-6  # the longest of the idle network, as htsim_uec prints it
RECEIVE_PACKETS = 1024  # above the lowest packet that is missing; 16,384 in htsim
MIN_RTO_S = 100.656e-6  # 15 us and six full queues, as htsim_uec prints it
LONE_PAIRS = ((0, 1), (0, 5), (0, 127))  # under one switch, in one pod, in two
LONE_BYTES = (1, 4086, 5000, 40_860, 204_300, 2_000_000, 20_000_000)
NDP_PACKETS = (1, 10, 43, 44, 100, 500, 5000)
LONE_GAP_S = 10e-3


@dataclass(frozen=True, kw_only=True)
class Case:
    """What one case adds to the common conventions.

    Parameters
    ----------
    program : str
        The program of htsim.
    matrix : str, optional
        Name of the file of flows; without one these are those of ``lone``, one by one.
    policy : Policy
        Which entropy the next packet has.
    entropies : int
        How many there are.
    seeds : int
        How many runs: htsim with ``-seed`` 1, 2 ..., capsim with these seeds.
    congestion : str
        ``-sender_cc_algo``.
    ack_every : int
        Packets for which one acknowledgement is sent.
    trims, sleek : bool
        Whether ports trim, and whether losses are also found by what overtakes.
    """

    program: str = "htsim_uec"
    matrix: str | None = None
    policy: Policy = Policy.OBLIVIOUS
    entropies: int = 64
    seeds: int = 4
    congestion: str = "constant"
    ack_every: int = 1
    trims: bool = True
    sleek: bool = False

    @property
    def options(self) -> list[str]:
        """Return the options of the program, but those that name files and the seed."""
        common = ["-linkspeed", "100000", "-hop_latency", "1", "-mtu", str(PACKET_BYTES), "-paths", str(self.entropies)]
        if self.program == "htsim_ndp":
            return [
                *common,
                "-nodes",
                "128",
                "-strat",
                "ecmp_host",
                "-q",
                "8",
                "-cwnd",
                str(BDP_PACKETS),
                "-end",
                "2000",
            ]
        window = ["-cwnd", str(WINDOW_PACKETS)] if self.congestion == "constant" else []
        unanswered_bytes = (self.ack_every - 1) * PACKET_BYTES + (self.ack_every > 1)  # so many are answered
        return [
            *(*common, "-end", "2000", "-sender_cc_algo", self.congestion, *window),
            *("-sack_threshold", str(unanswered_bytes), "-load_balancing_algo", self.policy.name.lower()),
            *([] if self.trims else ["-disable_trim"]),
            *(["-sleek"] if self.sleek else []),
        ]

    @property
    def text(self) -> str:
        """Return the connection matrix."""
        if self.matrix is None:
            return "".join(lone_matrix(*flow) for flow in self.lone_flows)
        return (FOLDER / f"{self.matrix}.cm").read_text(encoding="utf-8")

    @property
    def lone_flows(self) -> list[tuple[int, int, int]]:
        """Return (src, dst, bytes) of the flows that are alone; htsim_ndp sends full packets only."""
        sizes = [count * PACKET_BYTES for count in NDP_PACKETS] if self.program == "htsim_ndp" else LONE_BYTES
        return [(src, dst, size) for src, dst in LONE_PAIRS for size in sizes]

    @property
    def inputs_sha256(self) -> str:
        """Return a hash of what htsim reads."""
        return sha256(f"{self.program} {' '.join(self.options)} {self.seeds}\n{self.text}".encode()).hexdigest()


CASES = {
    "lone": Case(seeds=1, entropies=1),
    "permutation": Case(matrix="permutation"),
    "permutation-bitmap": Case(matrix="permutation", policy=Policy.BITMAP),
    "permutation-reps": Case(matrix="permutation", policy=Policy.REPS),
    "permutation-mixed": Case(matrix="permutation", policy=Policy.MIXED),
    "incast-8": Case(matrix="incast-8"),
    "incast-32": Case(matrix="incast-32"),
    "ring": Case(matrix="ring"),
    "all-to-all": Case(matrix="all-to-all"),
    "uet-lone": Case(seeds=1, entropies=1, congestion="nscc"),
    "uet-permutation": Case(matrix="permutation", policy=Policy.MIXED, congestion="nscc"),
    "uet-permutation-4": Case(matrix="permutation", policy=Policy.MIXED, congestion="nscc", ack_every=4),
    "uet-incast-8": Case(matrix="incast-8", policy=Policy.MIXED, congestion="nscc"),
    "uet-incast-32": Case(matrix="incast-32", policy=Policy.MIXED, congestion="nscc"),
    "uet-marks-permutation": Case(matrix="permutation", policy=Policy.MIXED, congestion="dctcp"),
    "uet-marks-incast-32": Case(matrix="incast-32", policy=Policy.MIXED, congestion="dctcp"),
    "uet-drop-permutation": Case(matrix="permutation", congestion="nscc", trims=False, seeds=16),
    "uet-drop-incast-32": Case(matrix="incast-32", policy=Policy.MIXED, congestion="nscc", trims=False, seeds=16),
    "uet-sleek-permutation": Case(matrix="permutation", congestion="nscc", trims=False, sleek=True, seeds=16),
    "uet-sleek-incast-32": Case(matrix="incast-32", policy=Policy.MIXED, congestion="nscc", trims=False, sleek=True),
    "ndp-lone": Case(program="htsim_ndp", seeds=1, entropies=1),
    "ndp-permutation": Case(program="htsim_ndp", matrix="permutation"),
    "ndp-incast-8": Case(program="htsim_ndp", matrix="incast-8"),
    "ndp-incast-32": Case(program="htsim_ndp", matrix="incast-32"),
}


SEVERAL = Case(policy=Policy.MIXED, congestion="nscc", seeds=1)
ONE_HOST_US = {1: 345.69, 2: 677.36, 4: 1340.95, 8: 2668.24}
"""Mean times of 1, 2, 4 and 8 flows of host 0, of 1000 packets each, in `SEVERAL` of htsim (uet-htsim 40ccb05), which
sends nothing again: a review of 28 November 2026 made them and kept the means."""
ALL_TO_ALL_US = 518.94
"""The same of an all-to-all of 16 hosts, all 240 flows of 100 packets at once."""


def one_host(count: int) -> list[tuple[int, int, int, float]]:
    """Return flows of host 0 to hosts in other pods."""
    return [(0, 127 - 8 * flow, 1000 * (PACKET_BYTES - HEADER_BYTES), 0.0) for flow in range(count)]


def all_to_all() -> list[tuple[int, int, int, float]]:
    """Return the flows of 16 hosts, one under each second switch, to all others of them."""
    hosts = range(0, 128, 8)
    return [(src, dst, 100 * (PACKET_BYTES - HEADER_BYTES), 0.0) for src in hosts for dst in hosts if src != dst]


def lone_matrix(src: int, dst: int, size: int) -> str:
    """Return a connection matrix with one flow."""
    return f"Nodes 128\nConnections 1\n{src}->{dst} id 1 start 0 size {size}\n"


def scenario_of(case: Case, seed: int) -> Scenario:
    """Return the scenario of a run; lone flows follow each other."""
    if case.matrix is None:
        entry: dict[str, Any] = {
            "kind": "list",
            "flows": [(*flow, number * LONE_GAP_S) for number, flow in enumerate(case.lone_flows)],
        }
    else:
        entry = read_connection_matrix(FOLDER / f"{case.matrix}.cm").entry()
    return _of_entry(entry, seed)


def scenario_of_flows(flows: list[tuple[int, int, int, float]]) -> Scenario:
    """Return the scenario of a list of flows (src, dst, bytes, start in seconds)."""
    return _of_entry({"kind": "list", "flows": flows}, 1)


def _of_entry(entry: dict[str, Any], seed: int) -> Scenario:
    return from_dict({"fabric": FABRIC, "traffic": [entry], "seed": seed, "end_s": 1.0})


def scheme_of(
    case: Case,
    *,
    transport: Transport | None = None,
    queue: Queue | None = None,
    receive_packets: int = RECEIVE_PACKETS,
) -> Scheme:
    """Return the scheme with htsim's conventions."""
    if case.program == "htsim_ndp":
        return ndp_of(case)
    if case.congestion != "constant":
        return uet_of(case, transport or UET)
    transport, mss_bytes = transport or TOLD_BY_HEADERS, PACKET_BYTES - HEADER_BYTES
    params: Any = replace(
        transport.params,
        mss_bytes=mss_bytes,
        header_bytes=HEADER_BYTES,
        ack_bytes=HEADER_BYTES,
        initial_window_packets=WINDOW_PACKETS,
        max_window_bytes=receive_packets * mss_bytes,
        min_rto_s=MIN_RTO_S,
        ecn=True,
    )
    stack = replace(
        scheme("ecmp").short,
        transport=replace(transport, params=params),
        congestion=NO_CONGESTION,
        marking=replace(ENTROPY, params=replace(ENTROPY.params, policy=case.policy, entropies=case.entropies)),
    )
    limits = replace(
        TRIM_QUEUE.params,
        limit_bytes=BDP_PACKETS * PACKET_BYTES,
        trim_bytes=HEADER_BYTES,
        mark_low_bytes=MARK_LOW_PACKETS * PACKET_BYTES,
        mark_high_bytes=MARK_HIGH_PACKETS * PACKET_BYTES,
    )
    return replace(
        scheme("ecmp"),
        name="as_in_htsim",
        short=stack,
        long=stack,
        balancer=ECMP,
        queue=queue or replace(TRIM_QUEUE, params=limits),
        nic=replace(ROUND_ROBIN, params=replace(ROUND_ROBIN.params, control_first=True)),
    )


def uet_of(case: Case, transport: Transport) -> Scheme:
    """Return the scheme ``uet`` or ``uet_drop`` with htsim's conventions: its windows count headers too."""
    found = scheme("uet" if case.trims else "uet_drop")
    stack = replace(found.short, transport=replace(transport, params=found.short.transport.params))
    mss_bytes, limit_packets = PACKET_BYTES - HEADER_BYTES, QUEUE_PACKETS[case.trims]
    return replace(found, short=stack, long=stack).with_params(
        transport={
            "mss_bytes": mss_bytes,
            "header_bytes": HEADER_BYTES,
            "max_window_bytes": RECEIVE_PACKETS * mss_bytes,
            "min_rto_s": 15e-6 + 6 * limit_packets * PACKET_BYTES * 8 / FABRIC["rate_bps"],
            "ack_every": case.ack_every,
            "late_windows": 1.5 if case.sleek else 0.0,
        },
        congestion={
            "rate_bps": round(FABRIC["rate_bps"] * mss_bytes / PACKET_BYTES),
            "base_rtt_s": RTT_S,
            "window": "ecn" if case.congestion == "dctcp" else "nscc",
        },
        marking={"policy": case.policy.name.lower(), "entropies": case.entropies},
        queue={
            "limit_bytes": limit_packets * PACKET_BYTES,
            "mark_low_bytes": MARK_LOW_PACKETS * PACKET_BYTES,
            "mark_high_bytes": MARK_HIGH_PACKETS * PACKET_BYTES,
        },
    )


def ndp_of(case: Case) -> Scheme:
    """Return the scheme ``ndp`` with htsim's conventions: headers of 64 bytes beside the MTU, and always first."""
    found = scheme("ndp")
    params: Any = replace(
        found.short.transport.params,
        mss_bytes=PACKET_BYTES,
        header_bytes=HEADER_BYTES,
        initial_window_packets=BDP_PACKETS,
        max_window_bytes=RECEIVE_PACKETS * PACKET_BYTES,
    )
    marking = found.short.marking
    stack = replace(
        found.short,
        transport=replace(found.short.transport, params=params),
        marking=replace(marking, params=replace(marking.params, entropies=case.entropies)),
    )
    limits = replace(found.queue.params, limit_bytes=8 * PACKET_BYTES, headers_per_data=100_000)
    return replace(found, name="ndp_as_in_htsim", short=stack, long=stack, queue=replace(found.queue, params=limits))
