"""One bottleneck with a queue: what flows of several subflows take of it beside flows of one TCP."""

from dataclasses import replace
from functools import cache

import numpy as np
import pytest
from support.engine_setups import flow_list

from capsim import Dumbbell, ParallelPaths, scheme
from capsim.engines import run
from capsim.engines.state import Setup

END_S = 20
TRANSPORT = {"min_rto_s": 10e-3, "max_window_bytes": 400 * 1460}


@cache
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


@pytest.mark.agreement
@pytest.mark.parametrize("subflows", [2, 4])
def test_uncoupled_subflows_are_as_many_tcps(subflows):
    """n of n + 1 parts."""
    assert multipath_share("mptcp_uc", subflows) == pytest.approx(subflows / (subflows + 1), abs=0.03)


@pytest.mark.agreement
@pytest.mark.parametrize("subflows", [2, 4])
def test_coupled_subflows_take_less_and_fully_coupled_ones_least(subflows):
    """No less than half each: a full queue drops more of those whose windows grow faster."""
    uncoupled, linked, full = (multipath_share(name, subflows) for name in ("mptcp_uc", "mptcp", "mptcp_fc"))
    assert 0.48 < full < linked - 0.03
    assert linked < uncoupled - 0.03


@pytest.mark.parametrize("source_ports", [65_530, 16])
def test_scattered_packets_take_all_paths_alike(source_ports):
    """8000 packets over 8 paths: each takes 1000, within 4.5 standard deviations; 16 port numbers cannot do that."""
    fabric = ParallelPaths(paths=8, hosts_per_side=1, delay_s=10e-6).build()
    chosen = scheme("ps").with_params(marking={"source_ports": source_ports})
    found = run(Setup(fabric=fabric, flows=flow_list([(0, 1, 8000 * 1460, 0.0)]), scheme=chosen, end_ps=10**12))
    sent = int(found.subs[0]["packets_sent"])
    forth = [path[1] for path in fabric.paths(0, 1)]
    taken = found.ports["packets_out"][forth]
    deviation = np.abs(taken - sent / 8).max() / np.sqrt(sent * 7 / 64)
    assert taken.sum() == sent
    assert (deviation < 4.5) == (source_ports > 16)
