r"""The window process that the multipath equations approximate: LIA and TCP, packet by packet, with random loss.

=============================== ================ ======================================== =========
Quantity                        Symbol           Name                                     Unit
=============================== ================ ======================================== =========
window of a subflow, over time  :math:`E[W_i]`   ``CoupledWindows.mean_windows_packets``  packets
rate of the connection          :math:`\lambda`  ``CoupledWindows.packets_per_s``         packets/s
share of packets lost           :math:`p`        ``CoupledWindows.lost_share``            1
=============================== ================ ======================================== =========

:func:`averaged_windows` gives their means over connections as rows of a table.

It models the fluctuation of windows, which the equations of :mod:`capsmodel.multipath.lia` leave out. Like them it
leaves out timeouts, a minimum window, and the round trip between a loss and the reaction to it.
"""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import pandas as pd
from numpy.typing import ArrayLike

from capsmodel.checks import FloatArray, ParameterError, generator, require, whole
from capsmodel.experiments.measurement import measurement
from capsmodel.multipath.lia import lia_equilibrium_windows
from capsmodel.papers.measurements.means import replicate_columns


@dataclass(frozen=True, kw_only=True)
class CoupledWindows:
    """Averages of each connection over its run.

    Attributes
    ----------
    mean_windows_packets, mean_squares_packets2 : ndarray, shape (connections, subflows)
        Time averages of the window and of its square.
    packets_per_s : ndarray, shape (connections,)
        Packets sent over time.
    lost_share : ndarray, shape (connections,)
        Packets lost over packets sent, all subflows together.
    """

    mean_windows_packets: FloatArray
    mean_squares_packets2: FloatArray
    packets_per_s: FloatArray
    lost_share: FloatArray


def simulate_coupled_windows(
    loss_probs: ArrayLike,
    *,
    rtts_s: ArrayLike,
    connections: int,
    packets: int,
    rng: np.random.Generator | int | None = None,
) -> CoupledWindows:
    r"""Send packets of LIA connections over paths that lose at random, and average their windows.

    Parameters
    ----------
    loss_probs : array_like, shape (subflows,)
        Loss probability :math:`p_i` of each path, in (0, 1); one path is plain TCP.
    rtts_s : array_like, shape (subflows,)
        Round-trip time of each path, in seconds, positive.
    connections : int
        Independent connections.
    packets : int
        Packets that each connection sends while averages are taken; a quarter as many are sent before, as warm-up.
    rng : Generator or int, optional
        Source of randomness.

    Returns
    -------
    CoupledWindows
        Averages of each connection.

    Raises
    ------
    ParameterError
        If an argument is outside its range or there is not one RTT for each path.

    Notes
    -----
    Subflow :math:`i` sends at the rate :math:`W_i/RTT_i`, so the next packet belongs to it with probability equal to
    its share of the total rate, and the state lasts one over the total rate. A lost packet halves the window of its
    subflow; any other adds :math:`\min(\alpha/W, 1/W_i)` with :math:`\alpha` of the present windows. Windows start at
    their equilibrium.

    References
    ----------
    dc2mtcp Eq. 2, with random losses as assumed in dc2mtcp Eq. 3

    Examples
    --------
    >>> found = simulate_coupled_windows([0.01, 0.01], rtts_s=[1.0, 1.0], connections=50, packets=4000, rng=1)
    >>> round(float(found.lost_share.mean()), 3)
    0.01
    """
    runs, count = int(whole("connections", connections, minimum=1)), int(whole("packets", packets, minimum=1))
    start = np.atleast_1d(lia_equilibrium_windows(loss_probs, rtts_s=rtts_s))
    loss, rtts = np.atleast_1d(np.asarray(loss_probs, float)), np.atleast_1d(np.asarray(rtts_s, float))
    require(loss.ndim == 1, "loss_probs must be a list, one probability for each path")
    if loss.shape != rtts.shape:
        raise ParameterError(f"loss_probs holds {loss.size} paths and rtts_s {rtts.size}: give one RTT for each path")
    draw = generator(rng)
    windows = np.tile(start, (runs, 1))
    for _ in range(count // 4):
        _send(windows, loss, rtts, draw)
    return _averages(windows, loss, rtts, count, draw)


@measurement("averaged-windows", revision=1)
def averaged_windows(
    loss_probs: Sequence[float], *, rtts_s: Sequence[float], connections: int, packets: int, seed: int
) -> pd.DataFrame:
    r"""Return the means over connections of :func:`simulate_coupled_windows`, each with its standard error.

    Parameters
    ----------
    loss_probs, rtts_s : list of float
        Loss probability and round-trip time, in seconds, of each path.
    connections, packets : int
        As there; at least two connections.
    seed : int
        Seed of the run.

    Returns
    -------
    DataFrame
        One row for each subflow: its ``window_packets``, ``window_share`` of the total and mean ``square_packets2``,
        and of the connection ``total_packets``, ``packets_per_s``, ``lost_share`` and ``lost_per_s`` (packets lost per
        second), by :func:`~capsmodel.papers.measurements.means.replicate_columns`.

    Raises
    ------
    ParameterError
        As :func:`simulate_coupled_windows`, or if there is one connection only.

    Examples
    --------
    >>> rows = averaged_windows([0.01, 0.01], rtts_s=[1.0, 1.0], connections=50, packets=4000, seed=1)
    >>> rows["window_share"].round(1).tolist(), rows["subflow"].tolist()
    ([0.5, 0.5], [0, 1])
    """
    found = simulate_coupled_windows(loss_probs, rtts_s=rtts_s, connections=connections, packets=packets, rng=seed)
    total = found.mean_windows_packets.sum(axis=1)
    rows = [
        {"subflow": i}
        | replicate_columns(
            window_packets=window,
            window_share=window / total,
            square_packets2=found.mean_squares_packets2[:, i],
            total_packets=total,
            packets_per_s=found.packets_per_s,
            lost_share=found.lost_share,
            lost_per_s=found.lost_share * found.packets_per_s,
        )
        for i, window in enumerate(found.mean_windows_packets.T)
    ]
    return pd.DataFrame(rows)


@measurement("protected-blocks", revision=2)
def protected_blocks(
    loss_probs: Sequence[float],
    *,
    rtts_s: Sequence[float],
    originals: int,
    coded: int,
    connections: int,
    blocks: int,
    seed: int,
) -> dict[str, float]:
    """Cut the packets of LIA connections into blocks of originals and coded ones, and count recovered blocks.

    Parameters
    ----------
    loss_probs, rtts_s : list of float
        Loss probability and round-trip time, in seconds, of each path.
    originals, coded : int
        Packets of a block; it is recovered when as many packets arrive as there are originals.
    connections, blocks : int
        Connections, and blocks that each of them sends; half a block is sent before, as warm-up.
    seed : int
        Seed of the run.

    Returns
    -------
    dict
        ``whole_blocks``, the recovered ones of all ``blocks`` of all connections; ``arrived_packets``, the mean of a
        block, by :func:`~capsmodel.papers.measurements.means.replicate_columns`: a connection is a replicate, its
        blocks are not, since its windows persist.

    Examples
    --------
    >>> found = protected_blocks([0.1], rtts_s=[1.0], originals=4, coded=4, connections=10, blocks=50, seed=1)
    >>> found["blocks"], found["whole_blocks"] > 490, round(found["arrived_packets"]), found["degrees_of_freedom"]
    (500, True, 7, 9)
    """
    windows = np.tile(lia_equilibrium_windows(loss_probs, rtts_s=rtts_s), (connections, 1))
    loss, rtts = np.asarray(loss_probs, float), np.asarray(rtts_s, float)
    draw = np.random.default_rng(seed)
    sent = originals + coded
    for _ in range(sent // 2):
        _send(windows, loss, rtts, draw)
    arrived = np.array(
        [sent - sum(_send(windows, loss, rtts, draw) for _ in range(sent)) for _ in range(blocks)], dtype=float
    )
    return {
        "blocks": arrived.size,
        "whole_blocks": int(np.sum(arrived >= originals)),
        **replicate_columns(arrived_packets=arrived.mean(axis=0)),
    }


def _averages(
    windows: FloatArray, loss: FloatArray, rtts: FloatArray, count: int, draw: np.random.Generator
) -> CoupledWindows:
    time_s, lost = np.zeros(len(windows)), np.zeros(len(windows))
    means, squares = np.zeros_like(windows), np.zeros_like(windows)
    for _ in range(count):
        lasts_s = 1 / np.sum(windows / rtts, axis=1)
        time_s += lasts_s
        means += windows * lasts_s[:, None]
        squares += windows**2 * lasts_s[:, None]
        lost += _send(windows, loss, rtts, draw)
    return CoupledWindows(
        mean_windows_packets=means / time_s[:, None],
        mean_squares_packets2=squares / time_s[:, None],
        packets_per_s=count / time_s,
        lost_share=lost / count,
    )


def _send(windows: FloatArray, loss: FloatArray, rtts: FloatArray, draw: np.random.Generator) -> FloatArray:
    """Send one packet of each connection, change its window in place, and return which were lost."""
    up_to = np.cumsum(windows / rtts, axis=1)
    total = up_to[:, -1]
    subflow = np.sum(draw.random(len(windows))[:, None] * total[:, None] >= up_to[:, :-1], axis=1)
    lost = draw.random(len(windows)) < loss[subflow]
    own = windows[np.arange(len(windows)), subflow]
    coupled = np.max(windows / rtts**2, axis=1) / total**2
    windows[np.arange(len(windows)), subflow] = np.where(lost, own / 2, own + np.minimum(coupled, 1 / own))
    return np.asarray(lost, dtype=float)
