"""TCP and DCTCP of htsim beside capsim's, over a dumbbell; values in ``htsim/tcp_values.json``.

No program of htsim lets its TCP run flows that are read, so ``htsim_dumbbell.cc`` is one. To make the values anew::

    git clone https://github.com/Broadcom/csg-htsim
    git -C csg-htsim checkout 841d9e7be46bb968eece766aa4b6c044c7799f67
    make -C csg-htsim/sim libhtsim.a
    PYTHONPATH=tests python -m other_simulators.htsim_tcp csg-htsim/sim

Without a folder it writes the table of docs/validation.md. Each host has a delay of its own, so that no two
packets arrive at the same time. Packets have 1500 bytes and no headers, connections are opened before their flows.
"""

import json
import subprocess
import sys
import tempfile
from collections.abc import Sequence
from dataclasses import dataclass, replace
from hashlib import sha256
from pathlib import Path
from random import Random
from typing import Any

import numpy as np
import numpy.typing as npt
from other_simulators.tcp_as_in_htsim import DCTCP_AS_IN_HTSIM, RENO_AS_IN_HTSIM
from page_tables import write_table

from capsim import Scheme, scheme, simulate
from capsim.base.clock import PS_PER_S
from capsim.protocols.queues.ecn import ECN
from capsim.protocols.queues.trim import TRIM_QUEUE
from capsim.roles.components import Congestion, Queue
from capsim.scenario.scenario import from_dict

FOLDER = Path(__file__).parent
VALUES = FOLDER / "htsim" / "tcp_values.json"
SOURCE = "https://github.com/Broadcom/csg-htsim, commit 841d9e7be46bb968eece766aa4b6c044c7799f67"
PACKET_BYTES, HOST_BPS, MIDDLE_BPS, MIDDLE_PS = 1500, 10**10, 10**9, 10_000_000
GAP_PS = 1_234_567  # between the starts of flows
ALONE_PS = PS_PER_S  # of flows that are alone
ROOM_PACKETS = 10**6


@dataclass(frozen=True, kw_only=True)
class TcpCase:
    """Flows from each host of the left side to its opposite.

    Parameters
    ----------
    packets : tuple of int
        Of each flow.
    hosts : int
        How many hosts a side has: one for each flow, or one whose flows follow each other.
    room_packets : int
        What the queue between the sides takes, with the packet in service.
    mark_packets : int
        Marks begin above so many packets, with the one that leaves; 0 for TCP without marks.
    """

    packets: tuple[int, ...]
    hosts: int
    room_packets: int = ROOM_PACKETS
    mark_packets: int = 0

    @property
    def flows(self) -> list[tuple[int, int, int, int]]:
        """Return (src, dst, packets, start_ps), hosts counted on each side."""
        gap_ps = GAP_PS if self.hosts > 1 else ALONE_PS
        return [(n % self.hosts, n % self.hosts, count, n * gap_ps) for n, count in enumerate(self.packets)]

    @property
    def delays_ps(self) -> list[int]:
        """Return the delay of each host's link, all different; with these no timer expires in ``tcp-four-long``."""
        rng = Random(7)
        return [1_000_000 + rng.randrange(3_000_000) for _ in range(2 * self.hosts)]

    @property
    def text(self) -> str:
        """Return what ``htsim_dumbbell.cc`` reads."""
        head = ["dctcp" if self.mark_packets else "tcp", self.hosts, HOST_BPS, MIDDLE_BPS]
        limits = [self.room_packets * PACKET_BYTES, self.mark_packets * PACKET_BYTES, MIDDLE_PS]
        lines: list[Sequence[object]] = [[*head, *limits], self.delays_ps, *self.flows]
        return "".join(f"{' '.join(map(str, line))}\n" for line in lines)


CASES = {
    "tcp-lone": TcpCase(packets=(1, 2, 10, 11, 100, 1000, 10_000), hosts=1),
    "tcp-one-long": TcpCase(packets=(13_334,), hosts=1, room_packets=50),
    "tcp-four-long": TcpCase(packets=(6667,) * 4, hosts=4, room_packets=64),
    "tcp-incast-8": TcpCase(packets=(22,) * 8, hosts=8, room_packets=64),
    "tcp-incast-32": TcpCase(packets=(22,) * 32, hosts=32, room_packets=64),
    "dctcp-one": TcpCase(packets=(6667,), hosts=1, mark_packets=20),
    "dctcp-eight": TcpCase(packets=(6667,) * 8, hosts=8, mark_packets=20),
}


@dataclass(frozen=True, kw_only=True)
class TcpOutcome:
    """When senders have the last acknowledgement, from the start of each flow; packets dropped and sent again."""

    fct_ps: npt.NDArray[np.int64]
    dropped: int
    sent_again: int


def scheme_of(case: TcpCase, *, congestion: Congestion | None = None, queue: Queue | None = None) -> Scheme:
    """Return TCP or DCTCP with htsim's conventions, perhaps with its windows, or another queue."""
    found = scheme("dctcp" if case.mark_packets else "ecmp")
    params: Any = replace(
        found.short.transport.params,
        mss_bytes=PACKET_BYTES,
        header_bytes=0,
        max_window_bytes=2**30,
        min_rto_s=0.25,
        limited_transmit=False,
    )
    transport = replace(found.short.transport, params=params)
    stack = replace(found.short, transport=transport, congestion=congestion or found.short.congestion)
    if case.mark_packets and queue is None:
        behind_bytes = (case.mark_packets - 1) * PACKET_BYTES
        limits = replace(
            TRIM_QUEUE.params, limit_bytes=10**9, mark_low_bytes=behind_bytes, mark_high_bytes=behind_bytes
        )
        queue = replace(TRIM_QUEUE, params=limits)  # has room for all: it only marks
    return replace(found, name="tcp_as_in_htsim", short=stack, long=stack, queue=queue or found.queue)


def capsim_outcome(name: str, **changes: Any) -> TcpOutcome:
    """Run a case in the compiled engine."""
    case = CASES[name]
    sides = ["left" if host < case.hosts else "right" for host in range(2 * case.hosts)]
    links = [
        {"between": [f"host{host}", sides[host]], "delay_s": delay_ps / PS_PER_S}
        for host, delay_ps in enumerate(case.delays_ps)
    ]
    fabric = {
        **{"kind": "dumbbell", "hosts_per_side": case.hosts, "rate_bps": MIDDLE_BPS, "host_rate_bps": HOST_BPS},
        **{"delay_s": MIDDLE_PS / PS_PER_S, "buffer_packets": case.room_packets, "links": links},
        "host_buffer_packets": ROOM_PACKETS,
    }
    flows = [
        (src, case.hosts + dst, count * PACKET_BYTES, start_ps / PS_PER_S) for src, dst, count, start_ps in case.flows
    ]
    traffic = [{"kind": "list", "flows": flows}]
    scenario = from_dict({"fabric": fabric, "traffic": traffic, "count_in_service": True, "end_s": 100.0})
    result = simulate(scenario, scheme=scheme_of(case, **changes))
    table = result.flows.sort_values("input_row")
    return TcpOutcome(
        fct_ps=np.rint(table["acked_fct_s"].to_numpy() * PS_PER_S).astype(np.int64),
        dropped=int(result.ports["packets_dropped"].sum()),
        sent_again=int(table["retransmissions"].sum()),
    )


def values() -> dict[str, Any]:
    """Return what htsim said when the values were made."""
    found: dict[str, Any] = json.loads(VALUES.read_text(encoding="utf-8"))
    return found


def htsim_outcome(name: str) -> TcpOutcome:
    """Return what htsim said about a case."""
    found = values()["cases"][name]
    return TcpOutcome(
        fct_ps=np.array(found["fct_ps"], np.int64), dropped=found["dropped"], sent_again=found["sent_again"]
    )


def equal_flows(one: TcpOutcome, other: TcpOutcome) -> int:
    """Return how many flows take the same time, to a picosecond."""
    return int(np.sum(np.abs(one.fct_ps - other.fct_ps) <= 1))


def run_htsim(program: Path, case: TcpCase) -> dict[str, Any]:
    """Return what htsim says about a case."""
    done = subprocess.run([str(program)], input=case.text, check=True, capture_output=True, text=True)
    *lines, dropped = done.stderr.split("\n")[:-1]
    ends, sent = np.array([line.split() for line in lines], np.int64).T
    return {
        "inputs_sha256": sha256(case.text.encode()).hexdigest(),
        "dropped": int(dropped),
        "sent_again": int(sent.sum()) - sum(case.packets),
        "fct_ps": (ends - np.array([start_ps for *_, start_ps in case.flows])).tolist(),
    }


def make(sim: Path) -> None:
    """Compile the program against a built checkout of htsim, and write the values."""
    with tempfile.TemporaryDirectory() as folder:
        program, source = Path(folder, "htsim_dumbbell"), FOLDER / "htsim_dumbbell.cc"
        command = ["g++", "-O2", "-std=c++17", f"-I{sim}", str(source), str(sim / "libhtsim.a"), "-o", str(program)]
        subprocess.run(command, check=True)
        found = {name: run_htsim(program, case) for name, case in CASES.items()}
    lines = ",\n  ".join(f"{json.dumps(name)}: {json.dumps(one)}" for name, one in found.items())
    head = {"simulator": SOURCE, "command": "PYTHONPATH=tests python -m other_simulators.htsim_tcp csg-htsim/sim"}
    VALUES.write_text(f'{{\n "provenance": {json.dumps(head)},\n "cases": {{\n  {lines}\n }}\n}}\n', encoding="utf-8")


COLUMNS = (
    *("case", "equal flows", "mean, htsim (ms)", "mean, capsim (ms)", "ratio of means", "ratio of last"),
    *("dropped", "retransmitted"),
)


def compared(name: str, label: str, ours: TcpOutcome) -> list[str]:
    """Return a row of the table."""
    htsim = htsim_outcome(name)
    return [
        f"{name}{label}",
        f"{equal_flows(htsim, ours)} of {ours.fct_ps.size}",
        *(f"{one.fct_ps.mean() / 1e9:.3f}" for one in (htsim, ours)),
        f"{ours.fct_ps.mean() / htsim.fct_ps.mean():.4f}",
        f"{ours.fct_ps.max() / htsim.fct_ps.max():.4f}",
        f"{htsim.dropped} / {ours.dropped}",
        f"{htsim.sent_again} / {ours.sent_again}",
    ]


def main() -> None:
    """Write the values, or the table: capsim as it is, then with the windows of htsim."""
    if len(sys.argv) > 1:
        make(Path(sys.argv[1]).resolve())
        return
    rows = []
    for name, case in CASES.items():
        arrival = replace(ECN, params=replace(ECN.params, threshold_packets=case.mark_packets))
        rows.append(compared(name, "", capsim_outcome(name, queue=arrival if case.mark_packets else None)))
        windows = DCTCP_AS_IN_HTSIM if case.mark_packets else RENO_AS_IN_HTSIM
        rows.append(compared(name, ", with htsim's rules", capsim_outcome(name, congestion=windows)))
    write_table("htsim_tcp", [COLUMNS, *rows])


if __name__ == "__main__":
    main()
