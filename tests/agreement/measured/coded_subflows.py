r"""DC2-MTCP over subflows that lose packets at random: which flows need the timer, how much redundancy is sent.

==================================== ======================== =========================== ======= ================
Quantity                             Symbol                   Column                      Unit    Equation
==================================== ======================== =========================== ======= ================
flows with a timeout                 :math:`P_{to}`           ``timeouts``                flows   dc2mtcp Eq. 6
coded packets to each original one   :math:`\gamma_1/\lambda` ``coded_ratio``             1       dc2mtcp Eq. 1, 5
the same over that of the windows    --                       ``ratio_to_model``          1       dc2mtcp Eq. 1, 5
==================================== ======================== =========================== ======= ================

Packets of data and coded packets are lost, acknowledgements are not; nothing queues. Windows and round trips, from
which the model computes the redundancy, are sampled once in a round trip and weighted by what is sent in it.
"""

from typing import Any

import numpy as np
import pandas as pd
from agreement.measured.lossy_path import RTT_S, lossy_dumbbell

from capsim import Listed, Scenario, simulate
from capsim.scenario.scenario import Probes
from capsmodel.checks import FloatArray, require
from capsmodel.experiments.measurement import measurement
from capsmodel.multipath.coded_transport import (
    connection_loss_prob,
    is_small_flow,
    redundancy_ratio,
    small_flow_redundancy_ratio,
)
from capsmodel.papers.measurements._packets import MSS_BYTES
from capsmodel.papers.measurements.means import replicate_columns

_SHORT_RTT_S, _APART_S, _MOST_PACKETS = 30e-6, 1e-3, 500


@measurement("coded-windows", revision=2)
def coded_windows(
    window_packets: int,
    *,
    subflows: int,
    loss_prob: float,
    flows: int,
    coded: bool,
    seed: int,
    engine: str = "compiled",
) -> dict[str, int]:
    """Send flows of one window on each subflow, and count the flows that time out.

    Parameters
    ----------
    window_packets : int
        Packets of the window of each subflow.
    subflows : int
        Subflows; all windows together have at most 15 packets.
    loss_prob : float
        Probability that a packet of data or a coded packet is lost, independent.
    flows : int
        How many flows.
    coded : bool
        Whether one coded packet of all packets follows the last of them (DC2-MTCP), or none (IETF-MPTCP).
    seed : int
        Seed of the losses.
    engine : str
        ``compiled`` or ``reference``.

    Returns
    -------
    dict
        ``timeouts``: flows in which the retransmission timer of a subflow expired; ``coded_packets`` sent.

    Raises
    ------
    ParameterError
        If a flow is not finished, or the packets are too many for one coded packet.

    Examples
    --------
    >>> coded_windows(3, subflows=2, loss_prob=0.0, flows=5, coded=True, seed=1, engine="reference")
    {'timeouts': 0, 'coded_packets': 5}
    """
    size = window_packets * subflows
    require(size <= 15, f"{size} packets in all windows, but a coded packet mixes at most 15")
    params: dict[str, dict[str, bool | int | float | str]] = {
        "transport": {"initial_window_packets": window_packets},
        "sharing": {"subflows": subflows},
    }
    if coded:  # by 1.01 / size for each packet, one is earned with the last
        params["layer"] = {"redundancy_factor": 1.01, "small_window_packets": float(window_packets)}
    scenario = Scenario(
        fabric=lossy_dumbbell(1, loss_prob, rtt_s=_SHORT_RTT_S),
        traffic=(Listed(flows=tuple((0, 1, size * MSS_BYTES, _APART_S * i) for i in range(flows))),),
        params=params,
        seed=seed,
        end_s=_APART_S * flows + 60.0,
    )
    found = simulate(scenario, scheme="dc2mtcp" if coded else "ietf_mptcp", engine=engine).flows
    require(bool(found["finished"].all()), "a flow is not finished: simulate longer")
    packets = int(found["repair_packets"].sum()) if coded else 0
    return {"timeouts": int((found["timeouts"] > 0).sum()), "coded_packets": packets}


def _ratios(windows: FloatArray, rtts_s: FloatArray) -> FloatArray:
    """Return gamma of the model over samples, of windows (samples, subflows); without the cap of RFC 6356."""
    total, count = windows.sum(axis=1), windows.shape[1]
    loss_prob = np.asarray(connection_loss_prob(windows, rtts_s=rtts_s, form="uncapped"))
    small = np.asarray(is_small_flow(total, n_subflows=count))
    return np.where(small, small_flow_redundancy_ratio(total), redundancy_ratio(loss_prob))


@measurement("coded-share", revision=2)
def coded_share(
    loss_prob: float, *, subflows: int, connections: int, round_trips: int, seed: int, engine: str = "compiled"
) -> pd.DataFrame:
    """Run endless DC2-MTCP connections over lossy paths, and hold the redundancy sent against that of the windows.

    Parameters
    ----------
    loss_prob : float
        Probability that a packet of data or a coded packet is lost, independent, in (0, 1).
    subflows : int
        Subflows of a connection.
    connections : int
        Independent connections, at least 2, each between its own hosts.
    round_trips : int
        Length of the run; the redundancy of the slow start at its beginning is counted too.
    seed : int
        Seed of the losses.
    engine : str
        ``compiled`` or ``reference``.

    Returns
    -------
    DataFrame
        One row with the columns above.

    Raises
    ------
    ParameterError
        If a flow ends too early.

    Examples
    --------
    >>> setting = {"subflows": 2, "connections": 2, "round_trips": 30, "seed": 1, "engine": "reference"}
    >>> coded_share(0.02, **setting)["coded_ratio"].item() > 0
    True
    """
    size = 2 * _MOST_PACKETS * round_trips * MSS_BYTES
    scenario = Scenario(
        fabric=lossy_dumbbell(connections, loss_prob),
        traffic=(Listed(flows=tuple((host, host + connections, size, 0.0) for host in range(connections))),),
        params={
            "transport": {
                "initial_window_packets": 10,
                "initial_ssthresh_bytes": 10 * MSS_BYTES,
                "max_window_bytes": _MOST_PACKETS * MSS_BYTES,
                "min_rto_s": 1.0,
            },
            "sharing": {"subflows": subflows},
        },
        probes=Probes(period_s=RTT_S, fields=("sub.cwnd_bytes", "sub.srtt_s"), flows=tuple(range(connections))),
        seed=seed,
        end_s=(round_trips + 0.5) * RTT_S,
    )
    found = simulate(scenario, scheme="dc2mtcp", engine=engine)
    require(not found.flows["finished"].any(), "a flow ended too early")
    coded = found.flows["repair_packets"].to_numpy()
    sent = found.flows["coded_packets"].to_numpy() - coded
    model = [_model_ratio(found, flow, subflows) for flow in range(connections)]
    ratio = coded / sent
    return pd.DataFrame([replicate_columns(coded_ratio=ratio, ratio_to_model=ratio / np.array(model))])


def _model_ratio(found: Any, flow: int, subflows: int) -> float:
    """Return the mean of gamma over the packets of a connection."""
    names = [f"flow{flow}.{number}" for number in range(subflows)]
    windows = found.samples("sub.cwnd_bytes")[names].to_numpy() / MSS_BYTES
    rtts_s = found.samples("sub.srtt_s")[names].to_numpy()
    measured = (rtts_s > 0).all(axis=1)
    ratios = np.zeros(len(windows))
    ratios[measured] = _ratios(windows[measured], rtts_s[measured])
    return float(np.average(ratios, weights=windows.sum(axis=1)))
