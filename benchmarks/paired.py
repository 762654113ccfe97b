"""Rates of this checkout and of another one, measured in turn, as paired ratios: ``make bench-paired BASE=../before``.

On a shared machine a single rate is unreliable: a case is run three times and the fastest counts, and the ratio is that
of two processes, one right after the other. Each takes the sources of one checkout, and first loads or compiles them.
"""

import json
import math
import os
import statistics
import subprocess
import sys
from pathlib import Path

# What the engines themselves cost, at three sizes of the fabric; `make bench` has the other schemes beside ECMP.
CASES = ("ecmp", "rps", "dctcp", "sack", "caps", "ecmp, 1024 hosts", "ecmp, 4096 hosts")
FLOW_BYTES = {64: 10_000_000, 1024: 1_000_000, 4096: 250_000}
PAIRS = 7
HERE = Path(__file__).resolve().parent.parent
ONE_RUN = """
import json, sys, time
from bench_sim import permutation
from capsim.engines import run
rates = {}
for case, name, side, flow_bytes in json.loads(sys.argv[1]):
    run(permutation(2, flow_bytes=10_000, name=name, short=name == "caps"))
    setup = permutation(side, flow_bytes=flow_bytes, name=name, short=name == "caps")
    for _ in range(3):
        begin = time.process_time()
        records = run(setup)
        rate = int(records.counters[0]["traversals"]) / (time.process_time() - begin)
        rates[case] = max(rate, rates.get(case, 0))
print(json.dumps(rates))
"""


def run_of(case: str) -> tuple[str, str, int, int]:
    """Return a case with its scheme, its leaves (each with as many hosts and paths) and the bytes of a flow."""
    name, _, size = case.partition(", ")
    hosts = int(size.split()[0]) if size else 64
    return case, name, math.isqrt(hosts), FLOW_BYTES[hosts]


def rates(checkout: Path) -> dict[str, float]:
    """Return link traversals a CPU second of each case with the sources of `checkout`."""
    folders = (checkout, checkout / "sim", checkout / "benchmarks")
    environment = os.environ | {"PYTHONPATH": os.pathsep.join(map(str, folders))}
    command = [sys.executable, "-c", ONE_RUN, json.dumps([run_of(case) for case in CASES])]
    done = subprocess.run(command, check=True, capture_output=True, text=True, env=environment)
    found: dict[str, float] = json.loads(done.stdout)
    return found


def main() -> None:
    """Print for each case the median rate here, and the median of the ratios to the other checkout."""
    other = Path(sys.argv[1]).resolve()
    pairs = [(rates(HERE), rates(other)) for _ in range(PAIRS)]
    for case in CASES:
        here = statistics.median(ours[case] for ours, _ in pairs)
        ratios = sorted(ours[case] / theirs[case] for ours, theirs in pairs)
        spread = f"({ratios[0]:.3f} to {ratios[-1]:.3f})"
        print(
            f"{case:18} {here / 1e6:6.2f} M traversals a CPU second, "
            f"{statistics.median(ratios):.3f} {spread} of the other checkout"
        )


if __name__ == "__main__":
    main()
