r"""Flows sprayed over paths of which some are slow: how many are reordered, and by how many packets.

================================== ============ ====================== ======= ==============
Quantity                           Symbol       Column                 Unit    Equation
================================== ============ ====================== ======= ==============
packets that a later one overtakes --           ``overtaken_packets``  packets cdcps Eq. 1-3
duplicate ACKs at the sender       --           ``duplicate_acks``     packets --
flows with these two numbers       --           ``flows``              flows
================================== ============ ====================== ======= ==============

All packets of a flow leave back to back at the rate of its host; slow paths have an additional delay, and nothing
queues unless the host is faster than a path. Duplicate ACKs are counted but cause no retransmission, so each packet is
sent once. A flow starts only when the fabric is empty again.
"""

import pandas as pd

from capsim import LinkChange, Listed, ParallelPaths, Scenario, simulate
from capsmodel.checks import require
from capsmodel.experiments.measurement import measurement
from capsmodel.papers.measurements._packets import MSS_BYTES, PACKET_BYTES

PATHS, RATE_BPS = 40, 1e9
"""CDCPS Fig. 4 has 40 paths; the rate of each, in bit/s, is ours."""
SPACING_S = 8 * PACKET_BYTES / RATE_BPS
"""Time between two packets of a flow, in seconds, from a host as fast as a path."""
FAR_S = 5e-3
"""A delay longer than the time to send 100 packets, in seconds: all fast ones arrive before any slow one."""
_DELAY_S, _APART_S = 1e-6, 0.05


@measurement("sprayed-flows", revision=1)
def sprayed_flows(
    flow_packets: int,
    *,
    slow_paths: int,
    flows: int,
    seed: int,
    slower_s: float = FAR_S,
    host_rate_bps: float = RATE_BPS,
    engine: str = "compiled",
) -> pd.DataFrame:
    """Spray equal flows over `PATHS` paths, one flow after the other, and count overtaken packets.

    Parameters
    ----------
    flow_packets : int
        Size of each flow, packets.
    slow_paths : int
        How many paths are slow, 0 to `PATHS`.
    flows : int
        How many flows are sent.
    seed : int
        Seed of the run.
    slower_s : float
        By how much the slow paths take longer, in seconds.
    host_rate_bps : float
        Rate of the hosts, in bit/s.
    engine : str
        ``compiled`` or ``reference``.

    Returns
    -------
    DataFrame
        One row for each pair ``overtaken_packets``, ``duplicate_acks`` that occurred, with the number of ``flows``.

    Raises
    ------
    ParameterError
        If there are more slow paths than paths, or a packet was lost or sent twice.

    Examples
    --------
    >>> found = sprayed_flows(2, slow_paths=20, flows=100, seed=1, engine="reference")
    >>> found["flows"].sum().item(), found["overtaken_packets"].max().item()
    (100, 1)
    """
    scenario = _scenario(
        flow_packets, flows=flows, slow_paths=slow_paths, slower_s=slower_s, host_rate_bps=host_rate_bps
    ).replace(seed=seed)
    found = simulate(scenario, engine=engine).flows
    repaired = found[["timeouts", "retransmissions", "packets_dropped"]].to_numpy().any()
    require(bool(found["finished"].all()) and not repaired, "packets were lost or sent twice: choose a shorter delay")
    columns = ["reordered_packets", "duplicate_acks"]
    counts = found.groupby(columns).size().rename("flows").reset_index()
    return counts.rename(columns={"reordered_packets": "overtaken_packets"})


def _scenario(flow_packets: int, *, flows: int, slow_paths: int, slower_s: float, host_rate_bps: float) -> Scenario:
    require(0 <= slow_paths <= PATHS, f"slow_paths = {slow_paths}, but there are {PATHS} paths")
    slow = tuple(
        LinkChange(between=("left", "right"), one_way=True, parallel=path + 1, delay_s=_DELAY_S + slower_s)
        for path in range(slow_paths)
    )
    return Scenario(
        scheme="rps",
        fabric=ParallelPaths(
            paths=PATHS, hosts_per_side=1, rate_bps=RATE_BPS, host_rate_bps=host_rate_bps, delay_s=_DELAY_S, links=slow
        ),
        traffic=(Listed(flows=tuple((0, 1, flow_packets * MSS_BYTES, _APART_S * i) for i in range(flows))),),
        params={"transport": {"initial_window_packets": flow_packets, "dup_ack_threshold": 10_000}},
        end_s=_APART_S * flows + 1.0,
    )
