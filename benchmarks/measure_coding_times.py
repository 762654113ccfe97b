"""Measure the coding times of CAPS Fig. 15 and DC2-MTCP Fig. 1c with the codec, and write them as CSV.

``python benchmarks/measure_coding_times.py data/papers/coding_times.csv``; one thread, about half a minute. A second on
one machine is not one on another, so the claims are judged on ratios of these times wherever they have one
(:mod:`capsmodel.papers.closed_forms.coding_times`).

The time of a unit of CAPS counts all matrix work, as for a pattern of loss that is new; a step of DC2-MTCP is one
original packet mixed in, or one packet that has come. A packet of SC-MPTCP waits for the decoding of the whole block.
The first decile of the times is what the work takes where nothing else disturbs it.
"""

import csv
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import numpy as np
from packets import dc2_arrivals, random_packets

from capsmodel.codec.dc2 import Dc2Mixer, Dc2Receiver
from capsmodel.codec.ldpc import LdpcStaircase
from capsmodel.codec.rlnc import RandomLinear

UNITS = (4, 8, 12, 16, 10, 20, 39)
"""Packets: the sizes of Fig. 15(a), and the windows of a flow of 69 packets that begins with ten (Fig. 15(b))."""
BLOCKS = (16, 32, 64, 128)
"""Packets of a block of SC-MPTCP, which its publication does not state: 32 as simulated, and others."""
CAPS_BYTES, DC2_BYTES = 1500, 1000
CALLS, FIRST = 1000, 500
BUDGET_S = 20e-6
COLUMNS = ("code", "step", "packets", "decile_s", "median_s", "within_20us_ratio")


def times_s(action: Callable[[int], object]) -> np.ndarray:
    """Return the processor time of each call, in seconds, without the first ones; other load does not count."""
    spent = np.empty(CALLS + FIRST)
    for number in range(CALLS + FIRST):
        started = time.thread_time()
        action(number)
        spent[number] = time.thread_time() - started
    return spent[FIRST:]


def row(code: str, step: str, packets: int, spent_s: np.ndarray) -> tuple[object, ...]:
    """Return a row of the table."""
    within = float(np.mean(spent_s < BUDGET_S))
    return code, step, packets, f"{np.quantile(spent_s, 0.1):.4g}", f"{np.median(spent_s):.4g}", f"{within:.4g}"


def ldpc(k: int) -> Iterator[tuple[object, ...]]:
    """Yield the rows of a unit of LDPC, a quarter of it repair packets that take the place of the first packets."""
    r = max(3, k // 4)
    code = LdpcStaircase(k, r=r, packet_bytes=CAPS_BYTES, n1=3)
    source = random_packets(k, CAPS_BYTES)
    order = np.r_[r : k + r, r - 1 : -1 : -1]
    kept = order[: int(code.packets_needed(order).elimination)]
    received = code.coded(source)[kept]
    yield row("ldpc", "encode a unit", k, times_s(lambda _: code.encode(source)))
    yield row("ldpc", "decode a unit", k, times_s(lambda _: (code.recovery(kept), code.decode(received, kept))))


def dc2() -> Iterator[tuple[object, ...]]:
    """Yield the rows of DC2-MTCP at a C-O ratio of 0.02: one of 50 originals is lost, 15 are mixed."""
    mixer, source = Dc2Mixer(packet_bytes=DC2_BYTES, rng=1), random_packets(6000, DC2_BYTES)

    def mix(number: int) -> None:
        mixer.mix(number, source[number % 6000])
        if number % 15 == 14:
            mixer.finish()

    yield row("dc2", "mix a packet", 1, times_s(mix))
    arrived, receiver = dc2_arrivals(source), Dc2Receiver(packet_bytes=DC2_BYTES, window_packets=64)
    yield row("dc2", "take a packet", 1, times_s(lambda number: receiver.add(*arrived[number])))


def sc(k: int) -> Iterator[tuple[object, ...]]:
    """Yield the rows of a block of SC-MPTCP that one coded packet completes."""
    code = RandomLinear(k, r=1, packet_bytes=DC2_BYTES)
    kept = np.arange(1, k + 1)
    received = code.coded(random_packets(k, DC2_BYTES))[kept]
    yield row("sc", "decode a block", k, times_s(lambda _: (code.recovery(kept), code.decode(received, kept))))


def main(file: Path) -> None:
    """Measure, and write the table."""
    rows = [line for k in UNITS for line in ldpc(k)]
    rows += [*dc2(), *(line for k in BLOCKS for line in sc(k))]
    with file.open("w", encoding="utf-8", newline="") as stream:
        writer = csv.writer(stream, lineterminator="\n")
        writer.writerows([COLUMNS, *rows])


if __name__ == "__main__":
    main(Path(sys.argv[1]))
