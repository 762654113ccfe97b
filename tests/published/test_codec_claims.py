"""Published kind: statements about decoding work, decided by the codec (DC2-MTCP, Sections I and V)."""

import pytest

from capsmodel.multipath.coded_transport import decoding_work_ratio, small_flow_redundancy_ratio
from capsmodel.papers.index import read_claims
from capsmodel.papers.measurements.decoding_work import decoding_work

CLAIMS = read_claims()


@pytest.mark.parametrize(("originals", "coded"), [(95, 4), (200, 9), (400, 18), (1000, 10)])
def test_preemptive_decoding_examines_few_rows(originals: int, coded: int) -> None:
    """dc2mtcp-s5-pda and dc2mtcp-s1-eps: more than 95% saved, at most the share coded / original is left.

    The measure is that of the paper, rows examined. Both decoders skip zero coefficients here and then carry out the
    same row operations, so in an implementation that does the saving is none.
    """
    assert coded < 0.05 * originals
    work = decoding_work(originals, coded=coded, mixed_packets=15, seed=12).set_index("algorithm")
    usual, preemptive = work.loc["Gauss-Jordan"], work.loc["preemptive"]
    left = preemptive["rows_examined"] / usual["rows_examined"]
    assert 100 * (1 - left) > float(CLAIMS["dc2mtcp-s5-pda"].low)
    assert left < decoding_work_ratio(coded, original=originals) < coded / originals
    assert preemptive["row_operations"] == usual["row_operations"]


def test_small_flows_code_more_than_a_twentieth() -> None:
    """dc2mtcp-s5-l: below 0.05 throughout Table I; but while W <= 5n, Eq. 10 prescribes 1/W, at least 0.1 for n = 2."""
    limit = float(CLAIMS["dc2mtcp-s5-l"].low)
    table = [float(claim.low) for name, claim in CLAIMS.items() if name.startswith("dc2mtcp-t1-")]
    assert len(table) == 12
    assert max(table) < limit
    assert small_flow_redundancy_ratio(5 * 2) == 2 * limit
    assert small_flow_redundancy_ratio(5 * 4) == limit
