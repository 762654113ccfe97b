"""Short flows that may share a path with a long one: RepFlow's small example of two switches and two paths.

============================== ============================== ====== ==================
Quantity                       Column                         Unit   Where
============================== ============================== ====== ==================
mean completion time           `mean_fct_s`                   s      repflow Table I
its 99th percentile            `p99_fct_s`                    s      repflow Table I
flows slower than a timeout    `timed_out_ratio`              1      --
============================== ============================== ====== ==================
"""

import numpy as np

from capsim import LeafSpine, Listed, Result, Scenario, simulate
from capsmodel.checks import require
from capsmodel.experiments.measurement import measurement
from capsmodel.metrics import percentile
from capsmodel.papers.measurements._packets import MSS_BYTES

__all__ = ["behind_long_flow", "run_behind_long_flow"]

SHORT_PACKETS = 10
_RATE_BPS, _LINK_DELAY_S = 50e6, 1e-3
_MIN_RTO_S = 0.2
_MEAN_GAP_S = 0.5
_H1, _H2, _H3, _H4 = 0, 1, 2, 3


def run_behind_long_flow(
    *,
    copies: int,
    long_flow: bool,
    short_flows: int,
    seed: int,
    buffer_packets: int = 50,
    start_s: float = 10.0,
    spare_s: float = 60.0,
    engine: str = "compiled",
) -> Result:
    """Simulate short flows from H1 to H3, one after another, and a long one from H2 to H4.

    Parameters
    ----------
    copies : int
        1 or 2 of each short flow.
    long_flow : bool
        Whether there is a long flow; it runs from 0 s to the end, on one of the two paths by its hash.
    short_flows : int
        Flows of ten packets; they start as a Poisson process, half a second apart on average.
    seed : int
        Seed of the run; the short flows start at the same times with and without copies.
    buffer_packets : int
        Queue limit of every port, hosts included, in packets.
    start_s, spare_s : float
        Time before the first short flow, and after the start of the last one, in seconds.
    engine : str
        ``compiled`` or ``reference``.
    """
    require(copies in (1, 2), f"copies = {copies}, but a short flow is sent once or twice")
    gaps_s = np.random.default_rng(seed).exponential(_MEAN_GAP_S, short_flows)
    starts_s = (start_s + np.cumsum(gaps_s)).tolist()
    end_s = starts_s[-1] + spare_s
    endless = [(_H2, _H4, int(_RATE_BPS / 8 * end_s), 0.0)] if long_flow else []
    short = [(_H1, _H3, SHORT_PACKETS * MSS_BYTES, at_s) for at_s in starts_s]
    scenario = Scenario(
        scheme=("ecmp", "repflow")[copies - 1],
        fabric=_two_paths(buffer_packets),
        traffic=(Listed(flows=tuple(endless + short)),),
        params={"transport": {"initial_window_packets": 10, "handshake": True, "min_rto_s": _MIN_RTO_S}},
        seed=seed,
        end_s=end_s,
    )
    return simulate(scenario, engine=engine, progress=None)


def _two_paths(buffer_packets: int) -> LeafSpine:
    """Return RepFlow's example: two switches with two hosts each, and two paths between them."""
    return LeafSpine(
        leaves=2,
        hosts_per_leaf=2,
        spines=2,
        rate_bps=_RATE_BPS,
        delay_s=_LINK_DELAY_S,
        buffer_packets=buffer_packets,
        host_buffer_packets=buffer_packets,
    )


@measurement("behind-long-flow", revision=1)
def behind_long_flow(
    *, copies: int, long_flow: bool, short_flows: int, seed: int, buffer_packets: int = 50
) -> dict[str, float]:
    """Measure the short flows of :func:`run_behind_long_flow`.

    Parameters
    ----------
    copies, long_flow, short_flows, seed, buffer_packets
        As :func:`run_behind_long_flow`.

    Returns
    -------
    dict
        The columns above; one run is one observation.

    Raises
    ------
    ParameterError
        If a short flow is not finished a minute after the last one started.
    """
    flows = run_behind_long_flow(
        copies=copies, long_flow=long_flow, short_flows=short_flows, seed=seed, buffer_packets=buffer_packets
    ).flows
    fct_s = flows.loc[flows["short"], "fct_s"].to_numpy()
    require(bool(np.isfinite(fct_s).all()), "a short flow is not finished: its timeouts last longer than the run")
    return {
        "mean_fct_s": float(fct_s.mean()),
        "p99_fct_s": float(percentile(fct_s, q=0.99)),
        "timed_out_ratio": float((fct_s > _MIN_RTO_S).mean()),
    }
