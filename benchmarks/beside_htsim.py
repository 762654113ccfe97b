"""Rates beside those of htsim, measured in turn: ``python benchmarks/beside_htsim.py ../csg-htsim``.

It needs g++, and a checkout of https://github.com/Broadcom/csg-htsim in which ``make -C sim libhtsim.a`` has been run.
Both simulate the permutation of ``bench_sim.py``: 64 and 1024 hosts, flows of TCP, one path for each. The TCPs differ,
and so do losses; compared are link traversals a CPU second, of htsim's event loop alone and of a whole run here.
"""

import json
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path

from bench_sim import permutation

from capsim.engines import run

PAIRS = 7
FLOW_BYTES = {8: 10_000_000, 32: 1_000_000}  # by the side of the square of hosts
SOURCE = Path(__file__).with_name("htsim_leaf_spine.cpp")


def compiled(checkout: Path, folder: str) -> Path:
    """Return the program that simulates the permutation in htsim."""
    program, sim = Path(folder, "htsim_leaf_spine"), checkout / "sim"
    command = ["g++", "-O3", "-march=native", "-std=c++17", f"-I{sim}", str(SOURCE), str(sim / "libhtsim.a")]
    subprocess.run([*command, "-o", str(program)], check=True)
    return program


def rate_of_htsim(program: Path, side: int) -> float:
    """Return link traversals a CPU second of htsim."""
    command = [str(program), str(side), str(FLOW_BYTES[side])]
    done = subprocess.run(command, check=True, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True)
    found = json.loads(done.stderr.splitlines()[-1])
    return float(found["traversals"] / found["cpu_s"])


def rate_here(side: int) -> float:
    """Return those of the compiled engine."""
    setup = permutation(side, flow_bytes=FLOW_BYTES[side], name="ecmp")
    begin = time.process_time()
    records = run(setup)
    return float(records.counters[0]["traversals"] / (time.process_time() - begin))


def main() -> None:
    """Print for both sizes the ratio of the best of all rounds, and the median of the ratios with their spread."""
    run(permutation(2, flow_bytes=10_000, name="ecmp"))  # compiles
    with tempfile.TemporaryDirectory() as folder:
        program = compiled(Path(sys.argv[1]).resolve(), folder)
        for side in FLOW_BYTES:
            rates = [(rate_here(side), rate_of_htsim(program, side)) for _ in range(PAIRS)]
            ours, theirs = (max(column) for column in zip(*rates, strict=True))
            ratios = sorted(here / there for here, there in rates)
            print(
                f"{side * side} hosts: {ours / 1e6:.2f} against {theirs / 1e6:.2f} M traversals a CPU second, best to"
                f" best {ours / theirs:.2f}; median ratio {statistics.median(ratios):.2f} ({ratios[0]:.2f} to"
                f" {ratios[-1]:.2f})",
                flush=True,
            )


if __name__ == "__main__":
    main()
