"""Agreement: units that decode from the packets that met no long flow, in simulated packets, against CAPS Eq. 2.

CAPS Fig. 6(c) (40 paths, k = 10) and 8(c) (10 paths, 3 long flows). A packet is blocked when the trace shows it on
the path of a long flow; the real codecs decide from the set of the others. Packets choose paths
independently, so no bias.
"""

from functools import cache
from itertools import product

import numpy as np
import pytest

from capsmodel import decode_prob, decode_prob_rlnc, repair_packets
from capsmodel.codec import get_code
from capsmodel.codec.ldpc import LdpcStaircase
from capsmodel.codec.reception import decodes
from capsmodel.codec.rlnc import RandomLinear
from capsmodel.experiments.agreement import Count, agreement
from capsmodel.experiments.measurements.coding_units import run_units, unblocked_packets

DETECT = 0.06


@cache
def unblocked(k, r, n_paths, long_flows):
    """Return the packets of about 3600 units (at least) that met no long flow."""
    per_window = 60 // k
    windows = -(-3600 // per_window // 20) * 20
    setting = {"n_paths": n_paths, "long_flows": long_flows, "windows": windows, "window_packets": per_window * k}
    result = run_units(k, r=r, seed=100 * k + r, at_once=20, trace=True, **setting)
    return unblocked_packets(result, long_flows=long_flows)


def check(successes, model, *, bias=0.0):
    verdict = agreement(model, Count(successes=int(successes.sum()), trials=successes.size), bias=bias, detect=DETECT)
    assert verdict, str(verdict)


@pytest.mark.parametrize(("long_flows", "r"), [(0, 0), (1, 1), (2, 2), (3, 1), (4, 0), (4, 2), (4, 5)])
def test_reed_solomon_over_40_paths(long_flows, r):
    code = get_code("rs")(10, r=r, packet_bytes=1)
    arrived = unblocked(10, r, 40, long_flows)
    check(decodes(code, arrived), decode_prob(10, r=r, blocking_prob=long_flows / 40))


@pytest.mark.parametrize("k", [2, 3, 5, 10, 20])
def test_reed_solomon_over_10_paths_with_the_ceiling_rule(k):
    r = repair_packets(k, blocking_prob=0.3)
    code = get_code("rs")(k, r=r, packet_bytes=1)
    check(decodes(code, unblocked(k, r, 10, 3)), decode_prob(k, r=r, blocking_prob=0.3))


def test_small_units_fall_and_rise():
    """CAPS Fig. 8(c) says that p_S falls with k throughout; with whole r, k = 3 decodes more often than k = 2."""
    shares = {
        k: (unblocked(k, repair_packets(k, blocking_prob=0.3), 10, 3).sum(axis=1) >= k).mean() for k in (2, 3, 20)
    }
    assert shares[3] > shares[2] + 0.02
    assert shares[20] < shares[2] - 0.05


def test_dense_random_linear_code():
    """Bias: coefficients are never 0 (RFC 8681), as in ``test_real_codes_decode``."""
    arrived = unblocked(10, 5, 40, 4)
    found = [decodes(RandomLinear(10, r=5, packet_bytes=1, seed=15 * unit, systematic=False), row)[0]
             for unit, row in enumerate(arrived)]  # fmt: skip
    check(np.array(found), decode_prob_rlnc(10, r=5, blocking_prob=0.1), bias=1e-6)


def test_ldpc_code():
    """Its probability by enumeration of all 2^15 sets; below that of an MDS code, which is refuted for it."""
    code, p = LdpcStaircase(10, r=5, packet_bytes=1, seed=77), 0.3
    patterns = np.array(list(product([False, True], repeat=15)))
    arrived = patterns.sum(axis=1)
    model = float(((1 - p) ** arrived * p ** (15 - arrived)) @ decodes(code, patterns))
    successes = decodes(code, unblocked(10, 5, 10, 3))
    check(successes, model)
    mds = decode_prob(10, r=5, blocking_prob=p)
    against_mds = agreement(mds, Count(successes=int(successes.sum()), trials=successes.size), detect=DETECT)
    assert against_mds.verdict == "disagrees"


def test_both_engines_block_the_same_packets():
    setting = {"r": 4, "n_paths": 10, "long_flows": 1, "windows": 3, "window_packets": 10, "trace": True, "seed": 5}
    compiled, reference = (run_units(10, engine=engine, **setting) for engine in ("compiled", "reference"))
    assert (unblocked_packets(compiled, long_flows=1) == unblocked_packets(reference, long_flows=1)).all()
    assert compiled.units.equals(reference.units)
