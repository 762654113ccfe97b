"""Long flows through one bottleneck share it: equal round trips, 10 s, within 10% of the fair part."""

import numpy as np
import pytest
from support.engine_setups import flow_list

from capsim import Dumbbell, scheme
from capsim.engines import run
from capsim.engines.state import Setup

END_S = 10


@pytest.mark.agreement
@pytest.mark.parametrize(("name", "n_flows"), [("ecmp", 2), ("sack", 4), ("dctcp", 2), ("ecmp", 4)])
def test_long_flows_share_a_bottleneck(name, n_flows):
    kind = Dumbbell(hosts_per_side=n_flows, rate_bps=1e9, host_rate_bps=10e9, delay_s=20e-6, buffer_packets=100)
    flows = flow_list([(i, n_flows + i, 4 * 10**9, 137.0 * i) for i in range(n_flows)])
    chosen = scheme(name).with_params(transport={"min_rto_s": 10e-3})
    records = run(Setup(fabric=kind.build(), flows=flows, scheme=chosen, end_ps=END_S * 10**12))
    goodput_bps = records.subs["receive_next"] * 1460 * 8 / END_S
    fair_bps = 1e9 * 1460 / 1500 / n_flows
    assert np.abs(goodput_bps / fair_bps - 1).max() < 0.1
    assert goodput_bps.sum() > 0.95 * fair_bps * n_flows
