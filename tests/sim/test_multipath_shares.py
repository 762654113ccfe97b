"""One bottleneck with a queue: what flows of several subflows take of it beside flows of one TCP."""

from dataclasses import replace

import numpy as np
import pytest
from engine_setups import flow_list

from capsim import Dumbbell, scheme
from capsim.engines import run
from capsim.state import Setup

END_S = 20
TRANSPORT = {"min_rto_s": 10e-3, "max_window_bytes": 400 * 1460}


def multipath_share(name, subflows):
    """Return the share that two flows of a scheme take beside two of NewReno."""
    kind = Dumbbell(hosts_per_side=4, rate_bps=1e9, host_rate_bps=10e9, delay_s=200e-6, buffer_packets=100)
    flows = flow_list([(i, 4 + i, 4 * 10**9, 137.0 * i) for i in range(4)])
    setup = Setup(
        fabric=kind.build(),
        flows=replace(flows, tag=(np.arange(4) % 2).astype(np.int16)),
        scheme=scheme(name).with_params(transport=TRANSPORT, sharing={"subflows": subflows}),
        entry_schemes={1: scheme("ecmp").with_params(transport=TRANSPORT)},
        end_ps=END_S * 10**12,
        host_jitter_ps=2 * 10**6,
    )
    subs = run(setup).subs
    received = np.bincount(subs["flow"], weights=subs["receive_next"])
    return received[::2].sum() / received.sum()


@pytest.mark.parametrize("subflows", [2, 4])
def test_uncoupled_subflows_are_as_many_tcps(subflows):
    """n of n + 1 parts."""
    assert multipath_share("mptcp_uc", subflows) == pytest.approx(subflows / (subflows + 1), abs=0.03)


@pytest.mark.parametrize("subflows", [2, 4])
def test_coupled_subflows_take_less_and_fully_coupled_ones_least(subflows):
    """No less than half each: a full queue drops more of those whose windows grow faster."""
    uncoupled, linked, full = (multipath_share(name, subflows) for name in ("mptcp_uc", "mptcp", "mptcp_fc"))
    assert 0.48 < full < linked - 0.03
    assert linked < uncoupled - 0.03
