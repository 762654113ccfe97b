"""Agreement: RepFlow's completion times against packets, in bursts on parallel paths and on a fat-tree.

Flows of 12 packets, 5% of the bytes, are short and replicated; all others are bursts of 44 packets. Initial windows
hold a whole flow, hosts are a thousand times faster than paths and buffers endless: what is left are the queues of the
model, one for each path, loaded by hashing.
"""

from functools import cache

import numpy as np
import numpy.typing as npt
import pandas as pd
import pytest

from capsim.fabric.kinds import AnyFabric, FatTree, ParallelPaths
from capsim.fabric.traffic import Poisson
from capsim.results import Result
from capsim.scenario import Scenario
from capsim.simulate import simulate
from capsmodel.experiments.agreement import Agreement, agreement
from capsmodel.experiments.statistics import batch_means
from capsmodel.fct import mean_fct
from capsmodel.queueing import mg1_wait_prob
from capsmodel.service import Empirical
from capsmodel.workloads import PacketSizes, load_workload

BURST, SHORT, EPSILON, PATHS = 44, 12, 0.05, 16
MSS, PACKET_S = 1460, 12e-6
LOADS = (0.2, 0.5, 0.8)
SHORT_FLOWS = 20_000
Floats = npt.NDArray[np.float64]
PARALLEL = ParallelPaths(paths=PATHS, hosts_per_side=4, host_rate_bps=1e12, delay_s=0.0, buffer_packets=10**6)
TREE = FatTree(pods=4, delay_s=0.0, buffer_packets=10**6)
N_HOSTS = 16


@cache
def run(fabric: AnyFabric, load: float, scheme: str, pairs: str, queues: int, short_flows: int = SHORT_FLOWS) -> Result:
    """Run bursts and short flows that load `queues` links of 1 Gbps by `load`, before replication."""
    short_per_s = queues * load * EPSILON / (SHORT * PACKET_S)
    long_per_s = queues * load * (1 - EPSILON) / (BURST * PACKET_S)
    lasts = {"pairs": pairs, "duration_s": short_flows / short_per_s}
    result = simulate(
        Scenario(
            scheme=scheme,
            fabric=fabric,
            traffic=(
                Poisson(flow_bytes=SHORT * MSS, flows_per_s=short_per_s, **lasts),
                Poisson(flow_bytes=BURST * MSS, flows_per_s=long_per_s, **lasts),
            ),
            short_bytes=SHORT * MSS,
            params={"transport": {"initial_window_packets": BURST, "min_rto_s": 10.0, "initial_rto_s": 10.0}},
            seed=3,
            end_s=1e4,
        )
    )
    assert result.summary.unfinished_flows == result.summary.timeouts == result.summary.packets_dropped == 0
    return result


def slowdowns(load: float, scheme: str) -> Floats:
    """Return completion times of short flows over 12 packet times; a twentieth is warm-up."""
    flows = run(PARALLEL, load, scheme, "sides", PATHS).flows
    short = flows[flows["short"]]
    return short["fct_s"].to_numpy()[len(short) // 20 :] / (SHORT * PACKET_S)


def compare(model: float, samples: Floats, *, bias: float = 0.0, detect: float = 0.15) -> Agreement:
    return agreement(model, batch_means(samples, batches=40), bias=bias, detect=bias + detect * model)


def burst_wait(load: float, replicas: int) -> tuple[float, float]:
    """Return the mean wait, and that of the shorter of two, in packets, with the bursts that are really sent."""
    short, long = EPSILON * replicas / SHORT, (1 - EPSILON) / BURST
    law = Empirical((float(SHORT), float(BURST)), (short / (short + long), long / (short + long)))
    each = load * (1 + (replicas - 1) * EPSILON)
    grid = np.linspace(0, 40 * BURST / (1 - each), 20_001)
    tail = mg1_wait_prob(grid, load=each, service=law)
    return float(np.trapezoid(tail, grid)), float(np.trapezoid(tail**2, grid))


@pytest.mark.parametrize("load", LOADS)
def test_one_copy(load: float) -> None:
    """Eq. 5. Short flows are bursts too, of 12 and not 44 packets, which takes ε (1 - 12/44) off the mean wait."""
    model = mean_fct(load, sizes=PacketSizes.fixed(SHORT))
    bias = EPSILON * (1 - SHORT / BURST) * (model - 1)
    verdict = compare(model, slowdowns(load, "ecmp"), bias=bias)
    assert verdict, verdict
    exact = compare(1 + burst_wait(load, 1)[0] / SHORT, slowdowns(load, "ecmp"))
    assert exact, exact


@pytest.mark.parametrize("load", LOADS)
def test_two_copies(load: float) -> None:
    """Two waits, independent unless both copies hash to one path, which one flow in sixteen does."""
    alone, shorter = burst_wait(load, 2)
    model = 1 + ((1 - 1 / PATHS) * shorter + alone / PATHS) / SHORT
    verdict = compare(model, slowdowns(load, "repflow"))
    assert verdict, verdict


@pytest.mark.parametrize("load", LOADS)
def test_virtual_queue_of_replicas(load: float) -> None:
    """Eq. 6 errs twice, and the errors nearly cancel on sixteen paths.

    The wait at load ρ² is longer than the shorter of two waits, and one flow in sixteen has both copies on one path.
    """
    model = mean_fct(load, sizes=PacketSizes.fixed(SHORT), replicas=2, short_byte_share=EPSILON)
    alone, shorter = burst_wait(load, 2)
    bias = max(model - 1 - shorter / SHORT, (alone - shorter) / SHORT / PATHS)
    verdict = compare(model, slowdowns(load, "repflow"), bias=bias)
    assert verdict, verdict


def copies(load: float) -> Floats:
    """Return completion times of both copies of each short flow on a fat-tree, in packet times, shape (flows, 2)."""
    result = run(TREE, load, "repflow", "other-pod", N_HOSTS, 8000)
    conns = result.raw.conns
    starts = result.flows["start_s"].to_numpy()[conns["flow"]]
    short = result.flows["short"].to_numpy()[conns["flow"]]
    fct = (conns["received_ps"] / 1e12 - starts)[short] / PACKET_S
    return fct.reshape(-1, 2)[400:]


@pytest.mark.parametrize("load", [0.2, 0.5])
def test_copies_on_a_fat_tree_are_not_independent(load: float) -> None:
    """Both copies leave by one host link and arrive by another, so a busy one delays both.

    The same copies, paired across flows, are what independent copies would be. Their waits correlate by 0.75 and 0.65
    at loads 0.2 and 0.5, and the shorter one is 37% and 31% longer than independent copies would have it.
    """
    both = copies(load)
    ideal = both.min()
    waits = both - ideal
    together = waits.min(axis=1)
    apart = np.minimum(waits[:, 0], np.roll(waits[:, 1], 1000))
    assert np.corrcoef(waits.T)[0, 1] > 0.5
    assert compare(float(apart.mean()), together).verdict == "disagrees"
    assert together.mean() > 1.2 * apart.mean()


@pytest.mark.parametrize("load", [0.2, 0.5])
def test_one_queue_is_not_a_fat_tree(load: float) -> None:
    """A flow between pods meets six queues, and trains that the first ones let through: over three times the wait."""
    both = copies(load)
    waits = (both - both.min())[:, 0]
    model = burst_wait(load, 2)[0]
    assert compare(model, waits).verdict == "disagrees"
    assert 3 * model < waits.mean() < 6 * model


@cache
def web_search(scheme: str) -> pd.DataFrame:
    """Return short flows of the web search at load 0.5 on a fat-tree of four pods, NewReno and 100-packet buffers."""
    result = simulate(
        Scenario(
            scheme=scheme,
            fabric=FatTree(pods=4, delay_s=8e-6 / 3, buffer_packets=100),
            traffic=(Poisson(workload="websearch", load=0.5, flows=3000),),
            params={"transport": {"initial_window_packets": 12}},
            seed=5,
            end_s=1e3,
        )
    )
    flows = result.flows[result.flows["short"]]
    return flows[len(flows) // 20 :]


def test_long_windows_and_timeouts_break_the_model_on_a_fat_tree() -> None:
    """Eq. 5 gives 2.7 for the mean. Measured: 7.8 over the flows without a timeout, 71 over all.

    Long flows keep standing queues of up to 100 packets where the model has bursts of 44 that leave, and a flow that
    loses its last packets waits 200 ms. Replication saves 72% where Eq. 6 says 41%, for its faster copy has no timeout.
    """
    sizes = load_workload("websearch").in_packets(MSS)
    one, two = web_search("ecmp"), web_search("repflow")
    model = mean_fct(0.5, sizes=sizes)
    smooth = one.loc[one["timeouts"] == 0, "slowdown"]
    assert smooth.mean() > 2 * model
    assert one["slowdown"].mean() > 10 * model
    saved = 1 - two["slowdown"].mean() / one["slowdown"].mean()
    assert saved > 1 - mean_fct(0.5, sizes=sizes, replicas=2) / model
