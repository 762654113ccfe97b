"""Reed-Solomon and other libraries in the same process: MB of source a second, and the ratio to ISA-L.

One thread. A decode loses the first min(k, r) source packets and gets all repair packets in their place. "capsmodel"
meets a pattern of loss that comes again, as one blocked path makes it; "new pattern" does all matrix work in every
call. The peers get the types they want (bytes), converted beforehand. Peers and kernels take turns, and the best of
many short rounds counts, so that other load on the machine hits all of them.
"""

import functools
import time
from collections.abc import Callable

import galois
import numpy as np
import numpy.typing as npt
import pytest
from pyeclib.ec_iface import ECDriver

from capsmodel.codec import kernels
from capsmodel.codec.gf256 import POLYNOMIAL
from capsmodel.codec.kernels.combiner import Combiner, combine
from capsmodel.codec.reed_solomon import ReedSolomon

pytestmark = pytest.mark.bench

SIZES = [(10, 4), (32, 8), (64, 20)]
LENGTHS_BYTES = [1500, 64 * 1024]
ROUNDS, ROUND_S = 100, 0.002  # a round fits into a time slice of the scheduler
LONGEST_S = 1.0  # of one action
Action = Callable[[], object]


def best_s(actions: dict[str, Action]) -> dict[str, float]:
    """Return the best mean time of a round for each action, in seconds; the rounds of the actions are interleaved."""
    repeats = {name: max(1, int(ROUND_S / once_s(action, 3))) for name, action in actions.items()}
    best, spent = dict.fromkeys(actions, float("inf")), dict.fromkeys(actions, 0.0)
    for _ in range(ROUNDS):
        for name, action in actions.items():
            if spent[name] < LONGEST_S:
                mean = once_s(action, repeats[name])
                spent[name] += mean * repeats[name]
                best[name] = min(best[name], mean)
    return best


def once_s(action: Action, repeats: int) -> float:
    """Return the mean time of `repeats` calls, in seconds."""
    started = time.perf_counter()
    for _ in range(repeats):
        action()
    return (time.perf_counter() - started) / repeats


class Unit:
    """One coding unit, and how each library encodes and decodes it, with the results checked."""

    def __init__(self, k: int, r: int, packet_bytes: int) -> None:
        self.k, self.r, self.packet_bytes = k, r, packet_bytes
        self.source = np.random.default_rng(k).integers(0, 256, (k, packet_bytes), dtype=np.uint8)
        self.code = ReedSolomon(k, r=r, packet_bytes=packet_bytes)
        self.repair = self.code.encode(self.source)
        assert self.repair.shape == (r, packet_bytes)
        self.data = self.source.tobytes()
        self.driver = ECDriver(k=k, m=r, ec_type="isa_l_rs_cauchy")
        self.ids = [*range(r, k + r)]
        self.received = np.vstack([self.source, self.repair])[self.ids]

    @functools.cached_property
    def field_matrix(self) -> galois.FieldArray:
        return galois.GF(2**8, irreducible_poly=POLYNOMIAL)(self.code.parity_matrix)

    def encoders(self) -> dict[str, Action]:
        field = type(self.field_matrix)
        actions: dict[str, Action] = {"capsmodel": functools.partial(self.code.encode, self.source)}
        for kernel in kernels.supported():
            combiner = Combiner(self.code.parity_matrix, kernel=kernel)
            np.testing.assert_array_equal(combiner(self.source), self.repair)
            actions[kernel.name] = functools.partial(combiner, self.source)
        actions["ISA-L"] = functools.partial(self.driver.encode, self.data)
        actions["galois"] = lambda: self.field_matrix @ field(self.source)
        np.testing.assert_array_equal(actions["galois"](), self.repair)
        return actions

    def decoders(self) -> dict[str, Action]:
        fragments = self.driver.encode(self.data)[self.r :]
        assert self.driver.decode(fragments) == self.data
        np.testing.assert_array_equal(self.code.decode(self.received, self.ids), self.source)
        ids, out = np.array(self.ids), np.empty_like(self.source)
        return {
            "capsmodel": functools.partial(self.code.decode, self.received, ids),
            "out=": functools.partial(self.code.decode, self.received, ids, out),
            "new pattern": functools.partial(self._decode_anew, ids),
            "ISA-L": functools.partial(self.driver.decode, fragments),
        }

    def _decode_anew(self, ids: npt.NDArray[np.int64]) -> None:
        out = np.empty_like(self.source)
        self.code.recovery(ids).run(self.received, out)


def report(title: str, unit: Unit, actions: dict[str, Action]) -> dict[str, float]:
    """Print MB/s of each action and the ratio to ISA-L; return MB/s."""
    source_bytes = unit.k * unit.packet_bytes
    assert source_bytes == len(unit.data)
    rates = {name: source_bytes / seconds / 1e6 for name, seconds in best_s(actions).items()}
    print(f"\n{title} k={unit.k} r={unit.r} {unit.packet_bytes} bytes")
    for name, rate in rates.items():
        print(f"  {name:12s} {rate:9.0f} MB/s  {rate / rates['ISA-L']:7.2f} x ISA-L")
    return rates


@pytest.mark.parametrize("packet_bytes", LENGTHS_BYTES)
@pytest.mark.parametrize(("k", "r"), SIZES)
def test_encode_rate(benchmark, k, r, packet_bytes):
    unit = Unit(k, r, packet_bytes)
    benchmark.extra_info.update(report("encode", unit, unit.encoders()))
    benchmark(unit.code.encode, unit.source)


@pytest.mark.parametrize("packet_bytes", LENGTHS_BYTES)
@pytest.mark.parametrize(("k", "r"), SIZES)
def test_decode_rate(benchmark, k, r, packet_bytes):
    unit = Unit(k, r, packet_bytes)
    benchmark.extra_info.update(report("decode", unit, unit.decoders()))
    benchmark(unit.code.decode, unit.received, np.array(unit.ids))


def test_cost_of_a_call(benchmark):
    """What Python, checks and allocation cost: the shortest packet, so that almost no bytes are moved."""
    combiner = Combiner(np.ones((1, 1), np.uint8))
    packets = np.ones((1, combiner.least_bytes), np.uint8)
    np.testing.assert_array_equal(combiner(packets), combine(np.ones((1, 1), np.uint8), packets))
    benchmark(combiner, packets)
    print(f"\none call of a Combiner: {benchmark.stats['min'] * 1e6:.2f} us")
