r"""MPTCP over disjoint paths that lose packets with fixed probabilities: shares and windows of subflows, in packets.

==================================== ==================== =========================== ======= =============
Quantity                             Symbol               Column                      Unit    Equation
==================================== ==================== =========================== ======= =============
packets sent in a round trip         :math:`E[W_i]`       ``sent_packets_per_rtt``    packets dc2mtcp Eq. 3
packets of all subflows              :math:`\sum E[W_i]`  ``total_packets_per_rtt``   packets --
share of the subflow in them         --                   ``share``                   1       dc2mtcp Eq. 3
==================================== ==================== =========================== ======= =============

They are means over connections (:mod:`capsmodel.papers.measurements.means`), without the first fifth of the run. The
sender is NewReno with the congestion control of the scheme; round trips are equal, and nothing queues.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import pandas as pd
from agreement.measured.lossy_path import RTT_S, lossy_dumbbell

from capsim import ACCEPT, REFUSE, Listed, Queue, Scenario, scheme, simulate
from capsim.base.randomness import MASK, mix, uniform
from capsim.records import DATA
from capsmodel.checks import FloatArray, require
from capsmodel.experiments.measurement import measurement
from capsmodel.papers.measurements._packets import MSS_BYTES
from capsmodel.papers.measurements.means import replicate_columns

WARM_UP = 0.2
_MOST_PACKETS = 500


@dataclass(frozen=True, kw_only=True)
class SubflowLosses:
    """Loss probabilities of data packets of the first and the second subflow on the links into one node, and a seed."""

    at_node: int
    first_prob: float
    second_prob: float
    seed: int


def _lose_by_subflow(
    params: Any, own: Any, port: Any, packet: Any, queue_packets: int, queue_bytes: int, now_ps: int, u0: float
) -> int:
    """Lose a packet by the hash of its subflow, number and time; two subflows are opened at a time, by turns."""
    if port.to_node != params.at_node or packet.kind != DATA:
        return ACCEPT
    stream = mix(mix((params.seed + packet.sub) & MASK) ^ (packet.segment & MASK))
    loss_prob = params.second_prob if packet.sub & 1 else params.first_prob
    return REFUSE if uniform(stream, packet.sent_ps) < loss_prob else ACCEPT


def _sent(end_s: float, *, losses: SubflowLosses, name: str, connections: int, engine: str) -> FloatArray:
    """Return how many packets have been sent until `end_s`, over (connections, 2 subflows)."""
    start = 10
    params: dict[str, bool | int | float | str] = {
        "initial_window_packets": start,
        "initial_ssthresh_bytes": start * MSS_BYTES,
        "max_window_bytes": _MOST_PACKETS * MSS_BYTES,
        "min_rto_s": 1.0,
    }
    size = round(2 * _MOST_PACKETS * end_s / RTT_S) * MSS_BYTES  # more than is sent during the run
    scenario = Scenario(
        fabric=lossy_dumbbell(connections, 0.0),
        traffic=(Listed(flows=tuple((host, host + connections, size, 0.0) for host in range(connections))),),
        params={"transport": params, "sharing": {"subflows": 2}},
        seed=losses.seed,
        end_s=end_s,
    )
    queue = Queue(name="lose_by_subflow", admit=_lose_by_subflow, params=losses)
    found = simulate(scenario, scheme=replace(scheme(name), name="lossy_subflows", queue=queue), engine=engine)
    require(not found.flows["finished"].any(), "a flow ended too early")
    subs = found.raw.subs
    sent = np.zeros((connections, 2))
    sent[subs["flow"], subs["number"]] = subs["packets_sent"]
    return sent


@measurement("mptcp-on-lossy-paths", revision=1)
def lossy_subflows(
    loss_probs: Sequence[float],
    *,
    scheme_name: str,
    connections: int,
    round_trips: int,
    seed: int,
    engine: str = "compiled",
) -> pd.DataFrame:
    """Run MPTCP connections with two subflows over paths with random losses, and average what each subflow sends.

    Parameters
    ----------
    loss_probs : sequence of 2 floats
        Probability that a data packet of the first and of the second subflow is lost, independent, in (0, 1).
    scheme_name : str
        A scheme whose flows share a stream over subflows: ``mptcp``, ``mptcp_uc``, ``mptcp_fc``, ``mptcp_olia``.
    connections : int
        Independent connections, at least 2, each between its own hosts.
    round_trips : int
        Length of the run; the first fifth of it is not counted.
    seed : int
        Seed of the losses.
    engine : str
        ``compiled`` or ``reference``.

    Returns
    -------
    DataFrame
        A row for each subflow with the columns above.

    Raises
    ------
    ParameterError
        If there is only one connection.

    Examples
    --------
    >>> setting = {"connections": 2, "round_trips": 40, "seed": 1, "engine": "reference"}
    >>> rows = lossy_subflows([0.02, 0.02], scheme_name="mptcp", **setting)
    >>> round(float(rows["share"].sum()), 9)
    1.0
    """
    losses = SubflowLosses(at_node=2 * connections + 1, first_prob=loss_probs[0], second_prob=loss_probs[1], seed=seed)
    setting: dict[str, Any] = {"losses": losses, "name": scheme_name, "connections": connections, "engine": engine}
    whole, warm_up = (_sent(part * round_trips * RTT_S, **setting) for part in (1.0, WARM_UP))
    per_rtt = (whole - warm_up) / ((1 - WARM_UP) * round_trips)
    total = per_rtt.sum(axis=1)
    rows = [
        replicate_columns(
            sent_packets_per_rtt=per_rtt[:, index],
            total_packets_per_rtt=total,
            share=per_rtt[:, index] / total,
        )
        | {"subflow": index}
        for index in range(2)
    ]
    return pd.DataFrame(rows)
