"""Rates of this checkout and of another one, measured in turn: ``make bench-paired BASE=../before``.

On a shared machine a single rate is unreliable, and two processes of the same code differ by up to a tenth, since their
tables lie at other addresses. So each round starts three processes in turn: one of this checkout and two of the other.
Printed is the median of the ratios of this one to the other, with the least and the largest, and beside it the same of
the other one's two processes: a gain below that is not shown. The records of a run must be the same, field by field;
what differs is listed.

``python benchmarks/paired.py ../before "caps, short flows" sack`` measures some cases only; they are the keys of CASES.
"""

import hashlib
import json
import os
import statistics
import subprocess
import sys
import time
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import Any

import numpy as np
from bench_sim import permutation, short_flows

from capsim import LinkChange
from capsim.engines import run
from capsim.engines.state import RawRecords, Setup

ROUNDS = 7
HERE = Path(__file__).resolve().parent.parent
FAILING = (
    LinkChange(between=("leaf*", "spine3"), down_s=1e-3, up_s=4e-3),
    LinkChange(between=("leaf1*", "spine1"), down_s=2e-3, up_s=6e-3),
)


def of_scheme(name: str) -> Callable[[], Setup]:
    """Return what makes the set-up of P64, in which `caps` codes all flows."""
    return lambda: permutation(8, flow_bytes=10_000_000, name=name, short=name == "caps")


def of_size(hosts: int, flow_bytes: int, **fabric: Any) -> Callable[[], Setup]:
    """Return what makes the set-up of ECMP on so many hosts, a square number."""
    return lambda: permutation(int(hosts**0.5), flow_bytes=flow_bytes, name="ecmp", **fabric)


SCHEMES = ("ecmp", "rps", "rps_pq", "dctcp", "sack", "caps", "mptcp")
CASES: Mapping[str, Callable[[], Setup]] = {
    **{name: of_scheme(name) for name in SCHEMES},
    "ecmp, short flows": lambda: short_flows("ecmp"),
    "caps, short flows": lambda: short_flows("caps"),
    "16 hosts": of_size(16, 40_000_000),
    "256 hosts": of_size(256, 2_500_000),
    "1024 hosts": of_size(1024, 500_000),
    "1024 hosts, mixed rates": of_size(1024, 200_000, host_rate_bps=10e6, rate_bps=100e9),
    "1024 hosts, failing links": of_size(1024, 500_000, links=FAILING, reroute_s=50e-6),
    "4096 hosts": of_size(4096, 200_000),
}


def columns(records: RawRecords) -> Iterator[tuple[str, Any]]:
    """Yield name and values of all that a run leaves: the fields of its tables, and own memory."""
    for table in ("flows", "subs", "ports"):
        rows = getattr(records, table)
        yield from ((f"{table}.{name}", rows[name]) for name in rows.dtype.names)
    for name, layout in records.own.layouts.items():
        for owner in layout.records if name != "packet" else ():  # of packets nothing is a result
            rows = records.own.records(name, owner)
            yield from ((f"{name} {owner}.{each}", rows[each]) for each in rows.dtype.names or ())


def measured(case: str) -> dict[str, Any]:
    """Run a case; return traversals a CPU second and a hash of each column of its records."""
    setup = CASES[case]()
    begin = time.process_time()
    records = run(setup)
    rate = int(records.counters[0]["traversals"]) / (time.process_time() - begin)
    hashes = {name: hashlib.sha256(np.ascontiguousarray(values)).hexdigest() for name, values in columns(records)}
    return {"rate": rate, "hashes": hashes}


def work(case: str) -> None:
    """Measure a case and print what was found; its scheme is run on a small fabric before, so that it is compiled."""
    name = CASES[case]().scheme.name
    run(permutation(2, flow_bytes=10_000, name=name, short=name == "caps"))
    print(json.dumps(measured(case)))


def ask(checkout: Path, case: str) -> Any:
    """Return what a new process with the sources of a checkout measures; the cases are those of this file."""
    folders = (checkout, checkout / "sim", HERE / "benchmarks")
    environment = os.environ | {"PYTHONPATH": os.pathsep.join(map(str, folders))}
    command = [sys.executable, __file__, "--work", case]
    return json.loads(subprocess.run(command, capture_output=True, text=True, env=environment, check=True).stdout)


def spread(ratios: list[float]) -> str:
    """Return median, least and largest ratio as text."""
    return f"{statistics.median(ratios):.3f} ({min(ratios):.2f} to {max(ratios):.2f})"


def compare(case: str, other: Path) -> None:
    """Measure a case `ROUNDS` times in turn, and print the ratios."""
    rounds = [[ask(each, case) for each in (HERE, other, other)] for _ in range(ROUNDS)]
    rates = [[each["rate"] for each in found] for found in rounds]
    first, second = rounds[0][0]["hashes"], rounds[0][1]["hashes"]
    differ = [name for name in first.keys() & second.keys() if first[name] != second[name]]
    print(
        f"{case:26} {statistics.median(rate[0] for rate in rates) / 1e6:6.2f} M/s,"
        f" {spread([here / there for here, there, _ in rates])} of the other,"
        f" which is {spread([twin / there for _, there, twin in rates])} of itself;"
        f" {'records differ: ' + ', '.join(sorted(differ)) if differ else 'same records'}",
        flush=True,
    )


def main() -> None:
    """Compare the cases named, or all."""
    other = Path(sys.argv[1]).resolve()
    for case in sys.argv[2:] or CASES:
        compare(case, other)


if __name__ == "__main__":
    work(sys.argv[2]) if sys.argv[1] == "--work" else main()
