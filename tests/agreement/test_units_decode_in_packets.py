"""Agreement: units that decode from their unblocked packets, in simulated packets, against CAPS Eq. 2.

CAPS Fig. 6(c) (40 paths, k = 10) and 8(c) (10 paths, 3 long flows). A packet is blocked when the trace shows it on
the path of a long flow; the real codecs decide from the set of the others. Packets choose paths
independently, so no bias.
"""

from itertools import product

import numpy as np
import pytest

from capsmodel import decode_prob, decode_prob_rlnc, repair_packets
from capsmodel.codec.files import decodes
from capsmodel.codec.ldpc import LdpcStaircase
from capsmodel.experiments.agreement import Count, MeanAndError
from capsmodel.papers.measurements.real_codes import LDPC_SEED
from capsmodel.papers.measurements.unit_decoding import decoded_units, decoding_two_ways

pytestmark = pytest.mark.agreement

DETECT, UNITS = 0.06, 3600


def setting(k, r, n_paths, long_flows, codes=("mds", "rs")):
    seed = 10_000 * n_paths + 1000 * long_flows + 50 * k + r
    fabric = {"n_paths": n_paths, "long_flows": long_flows, "units": UNITS}
    return {"k": k, "r": r, **fabric, "codes": codes, "seed": seed}


def counts(measured, *where, **options):
    """Return successes in trials of each code."""
    rows = measured(decoded_units, setting(*where, **options)).set_index("code")
    return {code: Count(successes=int(row["successes"]), trials=int(row["trials"])) for code, row in rows.iterrows()}


@pytest.mark.parametrize("r", [0, 1, 2, 4, 6])
@pytest.mark.parametrize("long_flows", [0, 1, 2, 3, 4])
def test_units_of_10_over_40_paths(long_flows, r, measured, compare):
    found = counts(measured, 10, r, 40, long_flows)
    verdict = compare(decode_prob(10, r=r, blocking_prob=long_flows / 40), found["mds"], detect=DETECT)
    assert verdict, verdict
    assert found["rs"] == found["mds"]


@pytest.mark.parametrize("k", [1, 2, 3, 5, 10, 20, 32])
@pytest.mark.parametrize("long_flows", [1, 2, 3, 4])
def test_units_over_10_paths_with_the_ceiling_rule(long_flows, k, measured, compare):
    p = long_flows / 10
    r = repair_packets(k, blocking_prob=p)
    found = counts(measured, k, r, 10, long_flows)
    verdict = compare(decode_prob(k, r=r, blocking_prob=p), found["mds"], detect=DETECT)
    assert verdict, verdict
    assert found["rs"] == found["mds"]


@pytest.mark.parametrize(("k", "r"), [(5, 0), (5, 6), (10, 2), (10, 8), (20, 5), (20, 14)])
def test_units_over_10_paths_with_fewer_and_more(k, r, measured, compare):
    verdict = compare(decode_prob(k, r=r, blocking_prob=0.3), counts(measured, k, r, 10, 3)["mds"], detect=DETECT)
    assert verdict, verdict


@pytest.mark.parametrize(("n_paths", "long_flows", "r"), [(40, 4, 0), (40, 4, 2), (40, 2, 1), (10, 3, 5)])
def test_dense_random_linear_code(n_paths, long_flows, r, measured, compare):
    """Bias: coefficients are never 0 (RFC 8681), as in ``test_real_codes_decode``."""
    found = counts(measured, 10, r, n_paths, long_flows, codes=("rlnc",))["rlnc"]
    model = decode_prob_rlnc(10, r=r, blocking_prob=long_flows / n_paths)
    verdict = compare(model, found, bias=1e-6, detect=DETECT)
    assert verdict, verdict


@pytest.fixture(scope="module")
def decodable_sets():
    """Return of how many packets each set of 15 is that the LDPC code decodes, of all 2^15 sets."""
    code = LdpcStaircase(10, r=5, packet_bytes=1, seed=LDPC_SEED)
    patterns = np.array(list(product([False, True], repeat=15)))
    return patterns[decodes(code, patterns)].sum(axis=1)


@pytest.mark.parametrize(("n_paths", "long_flows"), [(10, 3), (10, 1), (40, 4)])
def test_ldpc_code(n_paths, long_flows, decodable_sets, measured, compare):
    """Its probability by enumeration of all sets; below that of an MDS code, which fails for it."""
    p = long_flows / n_paths
    model = float(((1 - p) ** decodable_sets * p ** (15 - decodable_sets)).sum())
    found = counts(measured, 10, 5, n_paths, long_flows, codes=("ldpc",))["ldpc"]
    verdict = compare(model, found, detect=DETECT)
    assert verdict, verdict
    mds = compare(decode_prob(10, r=5, blocking_prob=p), found, detect=DETECT)
    assert mds.verdict == "disagrees"
    assert mds.measured < mds.model


def test_small_units_fall_and_rise(measured, compare):
    """CAPS Fig. 8(c) says that p_S falls with k throughout; with whole r, k = 3 decodes more often than k = 2."""

    def difference(k, other):
        """Return p_S of units of k less that of others, both measured on four times as many units."""
        sent = [
            {**setting(size, repair_packets(size, blocking_prob=0.3), 10, 3), "units": 4 * UNITS} for size in (k, other)
        ]
        rows = measured(decoded_units, *sent).query("code == 'mds'")
        share, trials = (rows["successes"] / rows["trials"]).to_numpy(), rows["trials"].to_numpy()
        error = np.sqrt(np.sum(share * (1 - share) / trials))
        return MeanAndError(mean=share[0] - share[1], standard_error=error)

    rises, falls = compare(0, difference(3, 2), detect=DETECT), compare(0, difference(20, 3), detect=DETECT)
    assert rises.verdict == falls.verdict == "disagrees"
    assert rises.measured > 0 > falls.measured


@pytest.mark.parametrize(("k", "r"), [(2, 1), (10, 5), (32, 14), (64, 42)])
def test_by_path_is_by_time(k, r, measured):
    """Units with k unblocked packets are those that the receiver decodes before a blocked packet arrives."""
    found = measured(
        decoding_two_ways, {"k": k, "r": r, "n_paths": 10, "long_flows": 3, "windows": 40, "seed": k}
    ).iloc[0]
    assert found["by_path"] == found["by_time"] == found["both"] > 0
