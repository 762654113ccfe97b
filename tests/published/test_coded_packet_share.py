"""DC2-MTCP Section V takes fewer than 0.05 coded packets per original: true of its Table I, not of its Eq. 10."""

from capsmodel.multipath.coded_transport import small_flow_redundancy_ratio
from capsmodel.papers.claim_list import read_claims

CLAIMS = read_claims()


def test_small_flows_code_more_than_a_twentieth() -> None:
    """While W <= 5n, Eq. 10 prescribes 1/W: at least 0.1 for n = 2 subflows, 0.05 for n = 4."""
    limit = float(CLAIMS["dc2mtcp-s5-l"].high)
    table = [float(claim.low) for name, claim in CLAIMS.items() if name.startswith("dc2mtcp-t1-")]
    assert len(table) == 12
    assert max(table) < limit
    assert small_flow_redundancy_ratio(5 * 2) == 2 * limit
    assert small_flow_redundancy_ratio(5 * 4) == limit
