r"""The window process of two fully coupled subflows, packet by packet, with random loss.

================================ =============== ==================== =======
Quantity                         Symbol          Column               Unit
================================ =============== ==================== =======
window of a subflow, over time   :math:`E[W_i]`  ``window_packets``   packets
window of both                   :math:`E[W]`    ``total_packets``    packets
share of the subflow in it       --              ``window_share``     1
================================ =============== ==================== =======

They are means over connections (:mod:`capsmodel.papers.measurements.means`). Like
:mod:`agreement.measured.coupled_windows` the process leaves out timeouts, and the round trip between a loss
and the reaction to it.
"""

from collections.abc import Sequence

import numpy as np
import pandas as pd

from capsmodel.checks import FloatArray
from capsmodel.experiments.measurement import measurement
from capsmodel.multipath.fully_coupled import fully_coupled_mean_windows
from capsmodel.papers.measurements.means import replicate_columns


@measurement("fully-coupled-windows", revision=1)
def fully_coupled_windows(
    loss_probs: Sequence[float], *, least_window_packets: float, connections: int, packets: int, seed: int
) -> pd.DataFrame:
    r"""Send packets of fully coupled connections over two paths that lose at random, and average their windows.

    Parameters
    ----------
    loss_probs : sequence of 2 floats
        Loss probability :math:`p_i` of each path, in the range of
        :func:`~capsmodel.multipath.fully_coupled.fully_coupled_mean_windows`; round trips are equal.
    least_window_packets : float
        What a loss leaves of a window at least.
    connections, packets : int
        Independent connections, at least two, and packets that each sends while averages are taken; a quarter as many
        are sent before, as warm-up.
    seed : int
        Seed of the run.

    Returns
    -------
    DataFrame
        A row for each subflow with the columns above.

    Notes
    -----
    The next packet belongs to a subflow with probability equal to its share of the windows, and the state lasts one
    over their total. A lost packet takes half of the total from the window of its subflow, but leaves the least window;
    any other adds one over the total.

    Examples
    --------
    >>> setting = {"least_window_packets": 2.0, "connections": 20, "packets": 2000, "seed": 1}
    >>> fully_coupled_windows([0.01, 0.01], **setting)["window_share"].round(1).tolist()
    [0.5, 0.5]
    """
    loss, draw = np.asarray(loss_probs, float), np.random.default_rng(seed)
    start = fully_coupled_mean_windows(loss, least_window_packets=least_window_packets)
    windows = np.tile(start, (connections, 1))
    for _ in range(packets // 4):
        _send(windows, loss, least_window_packets, draw)
    time_rtts, sums = np.zeros((connections, 1)), np.zeros_like(windows)
    for _ in range(packets):
        lasts_rtts = 1 / windows.sum(axis=1, keepdims=True)
        time_rtts += lasts_rtts
        sums += windows * lasts_rtts
        _send(windows, loss, least_window_packets, draw)
    means = sums / time_rtts
    total = means.sum(axis=1)
    rows = [
        {"subflow": i} | replicate_columns(window_packets=window, total_packets=total, window_share=window / total)
        for i, window in enumerate(means.T)
    ]
    return pd.DataFrame(rows)


def _send(windows: FloatArray, loss: FloatArray, least: float, draw: np.random.Generator) -> None:
    """Send one packet of each connection, and change its window in place."""
    connection, total = np.arange(len(windows)), windows.sum(axis=1)
    subflow = (draw.random(len(windows)) * total >= windows[:, 0]).astype(int)
    lost = draw.random(len(windows)) < loss[subflow]
    own = windows[connection, subflow]
    windows[connection, subflow] = np.where(lost, np.maximum(own - total / 2, least), own + 1 / total)
