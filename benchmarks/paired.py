"""Rates of this checkout and of another one, measured in turn, as paired ratios: ``make bench-paired BASE=../before``.

On a shared machine a single rate is unreliable; the ratio of two runs, one right after the other, is more reliable.
Each run is a process of its own with the sources of one checkout, after a short run that loads or compiles the engine.
"""

import json
import os
import statistics
import subprocess
import sys
from pathlib import Path

CASES = ("ecmp", "rps", "caps", "rps_pq", "dctcp", "sack", "letflow", "presto", "drill", "ecmp, 1024 hosts")
PAIRS = 7
HERE = Path(__file__).resolve().parent.parent
ONE_RUN = """
import json, sys, time
from bench_sim import permutation
from capsim.engines import run
rates = {}
for case in json.loads(sys.argv[1]):
    name, large = case.partition(",")[::2]
    side, flow_bytes = (32, 1_000_000) if large else (8, 10_000_000)
    run(permutation(2, flow_bytes=10_000, name=name, short=name == "caps"))
    setup = permutation(side, flow_bytes=flow_bytes, name=name, short=name == "caps")
    begin = time.process_time()
    records = run(setup)
    rates[case] = int(records.counters[0]["traversals"]) / (time.process_time() - begin)
print(json.dumps(rates))
"""


def rates(checkout: Path) -> dict[str, float]:
    """Return link traversals a CPU second of each case with the sources of `checkout`."""
    folders = (checkout, checkout / "sim", checkout / "benchmarks")
    environment = os.environ | {"PYTHONPATH": os.pathsep.join(map(str, folders))}
    command = [sys.executable, "-c", ONE_RUN, json.dumps(CASES)]
    done = subprocess.run(command, check=True, capture_output=True, text=True, env=environment)
    found: dict[str, float] = json.loads(done.stdout)
    return found


def main() -> None:
    """Print for each case the median rate here, and the median of the ratios to the other checkout."""
    other = Path(sys.argv[1]).resolve()
    pairs = [(rates(HERE), rates(other)) for _ in range(PAIRS)]
    for case in CASES:
        here = statistics.median(ours[case] for ours, _ in pairs)
        ratio = statistics.median(ours[case] / theirs[case] for ours, theirs in pairs)
        print(f"{case:18} {here / 1e6:6.2f} M traversals a CPU second, {ratio:.3f} of the other checkout")


if __name__ == "__main__":
    main()
