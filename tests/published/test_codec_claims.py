"""Published kind: statements about decoding work, decided by the codec (DC2-MTCP, Sections I and V)."""

import numpy as np
import pytest

from capsmodel._paper_index import read_claims
from capsmodel.codec.gf256 import MUL
from capsmodel.codec.progressive import GaussJordan, Preemptive, ProgressiveDecoder, WorkCount
from capsmodel.multipath import decoding_work_ratio, small_flow_redundancy_ratio

CLAIMS = read_claims()
MIXED_PACKETS = 15


def work(algorithm: type[ProgressiveDecoder], *, originals: int, coded: int) -> WorkCount:
    """Decode a window of which as many originals are lost as coded packets come; each mixes the last 15 packets."""
    draw, window = np.random.default_rng(12), originals + coded
    source = draw.integers(0, 256, (window, 8), dtype=np.uint8)
    lost = draw.choice(window, coded, replace=False)
    decoder = algorithm(window, packet_bytes=8)
    for i in range(window):
        if i not in lost:
            decoder.add_original(i, source[i])
        if (i + 1) % (window // coded) == 0:
            mixed = slice(max(0, i + 1 - MIXED_PACKETS), i + 1)
            coefficients = np.zeros(window, np.uint8)
            coefficients[mixed] = draw.integers(1, 256, len(source[mixed]))
            products = MUL[coefficients[mixed][:, np.newaxis], source[mixed]]
            decoder.add_coded(coefficients, np.bitwise_xor.reduce(products, axis=0))
    return decoder.work


@pytest.mark.parametrize(("originals", "coded"), [(95, 4), (200, 9), (400, 18), (1000, 10)])
def test_preemptive_decoding_examines_few_rows(originals: int, coded: int) -> None:
    """dc2mtcp-s5-pda and dc2mtcp-s1-eps: more than 95% saved, at most the share coded / original is left.

    The measure is that of the paper, rows examined. Both decoders skip zero coefficients here and then carry out the
    same row operations, so in an implementation that does the saving is none.
    """
    assert coded < 0.05 * originals
    usual, preemptive = (work(kind, originals=originals, coded=coded) for kind in (GaussJordan, Preemptive))
    assert (usual.originals, usual.coded) == (preemptive.originals, preemptive.coded) == (originals, coded)
    left = preemptive.rows_examined / usual.rows_examined
    assert 100 * (1 - left) > float(CLAIMS["dc2mtcp-s5-pda"].low)
    assert left < decoding_work_ratio(coded, original=originals) < coded / originals
    assert preemptive.row_operations == usual.row_operations


def test_small_flows_code_more_than_a_twentieth() -> None:
    """dc2mtcp-s5-l: below 0.05 throughout Table I; but while W <= 5n, Eq. 10 prescribes 1/W, at least 0.1 for n = 2."""
    limit = float(CLAIMS["dc2mtcp-s5-l"].low)
    table = [float(claim.low) for name, claim in CLAIMS.items() if name.startswith("dc2mtcp-t1-")]
    assert len(table) == 12
    assert max(table) < limit
    assert small_flow_redundancy_ratio(5 * 2) == 2 * limit
    assert small_flow_redundancy_ratio(5 * 4) == limit
