"""One unit of 10 + 4 packets of 1500 bytes beside ISA-L through pyeclib, encoded and decoded in turn in one process.

``python benchmarks/bench_beside_isal.py`` prints the table without pytest, or what it needs.
A ratio is that of two rounds one right after the other, in processor time: the machine is shared. pyeclib takes bytes
and gives bytes with a header for each packet; it has no call that fills a buffer.
"""

import functools
import sys
import time
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from capsmodel.codec import BlockCode, LdpcStaircase, RandomLinear, ReedSolomon

pytestmark = pytest.mark.bench

K, R, PACKET_BYTES = 10, 4, 1500
NEEDED = "pyeclib is not installed: pip install 'pyeclib>=1.6.4', whose wheels bring liberasurecode and ISA-L"
ROUNDS, CALLS = 300, 200
GOALS = {"encode": 2.5, "decode": 2.0}
Action = Callable[[], object]


def isal_actions(source: np.ndarray) -> dict[str, Action]:
    """Return how ISA-L encodes and decodes the unit: the first R source packets are lost."""
    from pyeclib.ec_iface import ECDriver

    driver, data = ECDriver(k=K, m=R, ec_type="isa_l_rs_cauchy"), source.tobytes()
    fragments = driver.encode(data)[R:]
    assert driver.decode(fragments) == data
    return {
        "encode": functools.partial(driver.encode, data),
        "decode": functools.partial(driver.decode, fragments),
    }


def actions(code: BlockCode, source: np.ndarray) -> dict[str, dict[str, Action]]:
    """Return how a code encodes and decodes the unit, into a new array and into one that is there."""
    order = np.r_[R : K + R, :R]  # LDPC needs a packet or two beyond the first K
    needed = next(m for m in range(K, K + R + 1) if code.determines(order[:m]))
    ids = order[:needed]
    received, repair, decoded = code.coded(source)[ids], np.empty((R, PACKET_BYTES), np.uint8), np.empty_like(source)
    assert np.array_equal(code.decode(received, ids), source)
    return {
        "encode": {
            "": functools.partial(code.encode, source),
            ", out=": functools.partial(code.encode, source, repair),
        },
        "decode": {
            "": functools.partial(code.decode, received, ids),
            ", out=": functools.partial(code.decode, received, ids, decoded),
        },
    }


def round_s(action: Action) -> float:
    """Return the mean processor time of a call in a round of some, in seconds."""
    begin_s = time.process_time()
    for _ in range(CALLS):
        action()
    return (time.process_time() - begin_s) / CALLS


def table() -> list[dict[str, Any]]:
    """Return a row for each code and action: least time of a call in us, and the ratio to ISA-L in the same turn."""
    source = np.random.default_rng(1).integers(0, 256, (K, PACKET_BYTES), dtype=np.uint8)
    codes = [kind(K, r=R, packet_bytes=PACKET_BYTES) for kind in (ReedSolomon, LdpcStaircase, RandomLinear)]
    isal, rows = isal_actions(source), []
    for what in ("encode", "decode"):
        ours = {code.name + how: call for code in codes for how, call in actions(code, source)[what].items()}
        turns = [[round_s(call) for call in (isal[what], *ours.values())] for _ in range(ROUNDS)]
        theirs_s, *each_s = np.array(turns).T
        rows.append({"action": what, "code": "ISA-L", "us": theirs_s.min() * 1e6})
        for name, ours_s in zip(ours, each_s, strict=True):
            low, ratio, high = np.quantile(theirs_s / ours_s, [0.1, 0.5, 0.9])
            best = theirs_s.min() / ours_s.min()
            rows.append(
                {"action": what, "code": name, "us": ours_s.min() * 1e6}
                | {"ratio": ratio, "low": low, "high": high, "best": best}
            )
    return rows


def print_table() -> None:
    """Print the table, with the ratio of the least times last."""
    for row in table():
        times = ""
        if "ratio" in row:
            times = "{ratio:5.2f} times as fast as ISA-L [{low:.2f}, {high:.2f}], least times {best:.2f}".format(**row)
        print(f"{row['action']:7} {row['code']:11} {row['us']:6.2f} us  {times}")
    goals = ", ".join(f"{what} {goal}" for what, goal in GOALS.items())
    print(f"(median and 10 to 90 % of {ROUNDS} turns; goals of rs: {goals})")


def test_one_unit_beside_isal(benchmark):
    print()
    benchmark.pedantic(print_table, rounds=1)


if __name__ == "__main__":
    try:
        print_table()
    except ModuleNotFoundError as error:
        sys.exit(NEEDED if error.name == "pyeclib" else str(error))
