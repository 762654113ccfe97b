r"""Windows of packets of which some are lost: how many get too few duplicate ACKs and wait for the timer.

====================================== ============== =========================== ======= ==============
Quantity                               Symbol         Name                        Unit    Equation
====================================== ============== =========================== ======= ==============
timeouts of windows lost at random     :math:`P_{to}` :func:`random_windows`      windows dc2mtcp Eq. 6
timeouts of every pattern, in packets  :math:`P_{to}` :func:`played_patterns`     windows dc2mtcp Eq. 6
====================================== ============== =========================== ======= ==============
"""

from dataclasses import replace
from typing import Any

import numpy as np
import pandas as pd

from capsim import ACCEPT, REFUSE, Dumbbell, Listed, Queue, Scenario, scheme, simulate
from capsim.records import DATA, RETRANSMITTED
from capsmodel.checks import require, whole
from capsmodel.experiments.measurement import measurement
from capsmodel.papers.measurements._packets import MSS_BYTES

_APART_S = 20.0
_MOST_PACKETS = 10  # 2^10 patterns; all leave in the initial window


@measurement("random-windows", revision=1)
def random_windows(
    window_packets: int, *, loss_prob: float, windows: int, seed: int, subflows: int = 1
) -> dict[str, int]:
    """Lose packets of windows at random, and count the windows in which a subflow times out.

    Parameters
    ----------
    window_packets : int
        Packets of a window, a multiple of `subflows`.
    loss_prob : float
        Probability that a packet is lost, independent, in [0, 1].
    windows : int
        How many windows.
    seed : int
        Seed of the losses.
    subflows : int
        Equal parts into which a window is split.

    Returns
    -------
    dict
        ``timeouts``: windows in which, on some subflow, fewer than three packets arrive after its first loss.

    Raises
    ------
    ParameterError
        If the window is no multiple of `subflows`.

    Examples
    --------
    >>> random_windows(3, loss_prob=1.0, windows=5, seed=1)
    {'timeouts': 5}
    """
    count = int(whole("subflows", subflows, minimum=1))
    part, left = divmod(int(whole("window_packets", window_packets, minimum=1)), count)
    require(left == 0, f"window_packets = {window_packets}, but {count} subflows need a multiple of {count}")
    lost = np.random.default_rng(seed).random((windows, count, part)) < loss_prob
    first = np.where(lost.any(axis=2), lost.argmax(axis=2), part)
    behind = np.arange(part) > first[..., np.newaxis]
    stuck = (first < part) & (np.sum(behind & ~lost, axis=2) < 3)
    return {"timeouts": int(np.sum(stuck.any(axis=1)))}


def _lose_pattern(
    params: Any, own: Any, port: Any, packet: Any, queue_packets: int, queue_bytes: int, now_ps: int, u0: float
) -> int:
    """Lose segment s of subflow c the first time if bit s of c + 1 is set."""
    if packet.kind != DATA or packet.flags & RETRANSMITTED:
        return ACCEPT
    return REFUSE if (packet.sub + 1) >> packet.segment & 1 else ACCEPT


PATTERNS = replace(
    scheme("ecmp"),
    name="patterns",
    summary="TCP NewReno; flow c loses the segments that are the bits of c + 1, once each",
    queue=Queue(name="lose_pattern", admit=_lose_pattern),
)


@measurement("played-patterns", revision=1)
def played_patterns(window_packets: int, *, seed: int, engine: str = "compiled") -> pd.DataFrame:
    """Simulate NewReno with every pattern of losses of one window, and count the patterns that need the timer.

    Parameters
    ----------
    window_packets : int
        Packets of the window, which is a whole flow; 1 to 10.
    seed : int
        Seed of the run; nothing in it is random.
    engine : str
        ``compiled`` or ``reference``.

    Returns
    -------
    DataFrame
        One row for each number of ``lost_packets``: how many ``patterns`` there are and in how many a timer
        expires (``timeouts``).

    Raises
    ------
    ParameterError
        If the window is too large.

    Examples
    --------
    >>> played_patterns(4, seed=1, engine="reference")["timeouts"].tolist()
    [3, 6, 4, 1]
    """
    size = int(whole("window_packets", window_packets, minimum=1))
    require(size <= _MOST_PACKETS, f"window_packets = {size}, but at most {_MOST_PACKETS} are simulated")
    patterns = np.arange(1, 2**size)
    flows = tuple((0, 1, size * MSS_BYTES, _APART_S * i) for i in range(len(patterns)))
    scenario = Scenario(
        fabric=Dumbbell(hosts_per_side=1, delay_s=5e-6),
        traffic=(Listed(flows=flows),),
        params={"transport": {"initial_window_packets": size}},
        seed=seed,
        end_s=_APART_S * (len(flows) + 50),
    )
    found = simulate(scenario, scheme=PATTERNS, engine=engine).flows
    require(bool(found["finished"].all()), "a flow is not finished: simulate longer")
    frame = pd.DataFrame({"lost_packets": np.bitwise_count(patterns), "timeouts": found["timeouts"] > 0})
    counts = frame.groupby("lost_packets")["timeouts"].agg(patterns="size", timeouts="sum")
    return counts.reset_index().astype(np.int64)
