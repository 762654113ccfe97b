"""What a link traversal takes: ``python benchmarks/count_instructions.py``, or with some of CASES or "reference".

For the compiled engine it needs Valgrind; of the reference engine, Python's byte codes and calls are counted. Each case
is run short and long; the difference is divided by that of the traversals, so that what comes before the first packet
is out. Valgrind is told of 32 KB of first-level cache, 8 ways, and 1 MB of second-level cache, 16 ways; machine code is
made for Haswell, which it knows. Counts do not depend on what else a machine does: two of one case differ by up to 2%,
since tables lie at other addresses.
"""

import os
import re
import subprocess
import sys
import tempfile
from collections import Counter
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

from bench_sim import permutation, short_flows

from capsim.engines import run
from capsim.engines.state import Setup

FEATURES = "sse,sse2,sse3,ssse3,sse4.1,sse4.2,popcnt,avx,avx2,bmi,bmi2,fma,lzcnt,movbe,cmov,cx16,fxsr,mmx,xsave,f16c"
HASWELL = {"NUMBA_CPU_NAME": "haswell", "NUMBA_CPU_FEATURES": ",".join(f"+{each}" for each in FEATURES.split(","))}
CALLGRIND = ("valgrind", "--tool=callgrind", "--instr-atstart=no", "--cache-sim=yes", "--branch-sim=yes")
CACHES = ("--I1=32768,8,64", "--D1=32768,8,64", "--LL=1048576,16,64")

SCHEMES = ("ecmp", "sack", "rack", "rps_trim", "ndp")
REFERENCE = "reference"
Made = Callable[[int], Setup]


def permuted(side: int, scheme: str) -> Made:
    """Return what makes a permutation of `side * side` hosts, given the bytes of each flow."""
    return lambda flow_bytes: permutation(side, flow_bytes=flow_bytes, name=scheme)


CASES: Mapping[str, tuple[Made, int, int]] = {
    **{f"64 hosts, {name}": (permuted(8, name), 300_000, 1_500_000) for name in SCHEMES},
    "short flows, ecmp": (lambda flows: short_flows("ecmp", flows=flows), 2000, 6000),
    "short flows, caps": (lambda flows: short_flows("caps", flows=flows), 2000, 6000),
    "1024 hosts, ecmp": (permuted(32, "ecmp"), 20_000, 60_000),
}
"""What is run, by name: what makes it of a size, the size of the short run, and that of the long one."""


def counted(case: str) -> None:
    """Run a case both ways, in a process of Valgrind's, and let it write its counts of each run."""
    made, short, long = CASES[case]
    run(made(short))  # loads machine code
    for size in (short, long):
        setup = made(size)
        told("-i", "on")
        told("-z")
        records = run(setup)
        told("-d", f"traversals {records.counters[0]['traversals']}")
        told("-i", "off")


def told(*words: str) -> None:
    """Tell Valgrind to begin, to forget what it has counted, to write it down, or to stop."""
    subprocess.run(["callgrind_control", *words, str(os.getpid())], check=True, stdout=subprocess.DEVNULL)


def counts_in(folder: Path) -> list[dict[str, int]]:
    """Return what Valgrind has counted in each run, the short one first, with its traversals."""
    found = []
    for path in folder.glob("counts.*"):
        text = path.read_text(encoding="utf-8", errors="replace")
        patterns = (r"traversals (\d+)", r"^events: (.*)$", r"^totals: (.*)$")
        traversals, events, totals = (re.search(pattern, text, re.MULTILINE) for pattern in patterns)
        if traversals and events and totals:
            numbers = map(int, totals[1].split())
            found.append(dict(zip(events[1].split(), numbers, strict=False)) | {"traversals": int(traversals[1])})
    return sorted(found, key=lambda counts: counts["traversals"])


def row(case: str) -> str:
    """Return the counts of a traversal in a line."""
    short, _, _ = CASES[case]
    run(short(2000))  # compiles
    with tempfile.TemporaryDirectory() as folder:
        counting = [*CALLGRIND, *CACHES, f"--callgrind-out-file={folder}/counts"]
        subprocess.run([*counting, sys.executable, __file__, "--count", case], check=True, capture_output=True)
        short_run, long_run = counts_in(Path(folder))

    def more(*names: str) -> int:
        return sum(long_run[name] - short_run[name] for name in names)

    traversals = more("traversals")
    columns = (("Ir",), ("Dr", "Dw"), ("Bcm", "Bim"), ("D1mr", "D1mw"), ("DLmr", "DLmw"))
    return f"{case:20}" + "".join(f"{more(*names) / traversals:10.1f}" for names in columns)


def counted_in_python(flow_bytes: int) -> Counter[str]:
    """Run the reference engine with 16 hosts; return byte codes, calls of Python's and C's functions, traversals."""
    setup, counts = permutation(4, flow_bytes=flow_bytes, name="ecmp"), Counter[str]()

    def traced(frame: Any, event: str, _: Any) -> Any:
        frame.f_trace_opcodes, frame.f_trace_lines = True, False
        counts[event] += 1
        return traced

    def profiled(_: Any, event: str, __: Any) -> None:
        counts[event] += event == "c_call"

    sys.setprofile(profiled)
    sys.settrace(traced)
    try:
        records = run(setup, engine="reference")
    finally:
        sys.settrace(None)
        sys.setprofile(None)
    counts["traversals"] = int(records.counters[0]["traversals"])
    return counts


def reference_row() -> str:
    """Return the counts of a traversal of the reference engine in a line."""
    counted_in_python(2000)  # imports and first uses
    short, long = counted_in_python(30_000), counted_in_python(150_000)
    each = {name: (long[name] - short[name]) / (long["traversals"] - short["traversals"]) for name in long}
    return f"{REFERENCE}: {each['opcode']:.0f} byte codes, {each['call']:.1f} calls, {each['c_call']:.1f} of C"


def main() -> None:
    """Print a line for each case."""
    if os.environ.get("NUMBA_CPU_NAME") != HASWELL["NUMBA_CPU_NAME"]:
        os.execve(sys.executable, [sys.executable, *sys.argv], os.environ | HASWELL)  # Numba reads them once
    if sys.argv[1:2] == ["--count"]:
        counted(sys.argv[2])
        return
    known = [*CASES, REFERENCE]
    unknown = [case for case in sys.argv[1:] if case not in known]
    if unknown:
        sys.exit(f"no case is called {unknown[0]!r}: take some of {', '.join(map(repr, known))}")
    print("of a traversal: instructions, reads and writes, branches guessed wrongly, lines from beyond 32 KB and 1 MB")
    for case in sys.argv[1:] or known:
        print(reference_row() if case == REFERENCE else row(case), flush=True)


if __name__ == "__main__":
    main()
