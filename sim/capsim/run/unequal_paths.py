r"""Coding units over unequal paths, packet by packet: what :class:`~capsmodel.PathLosses` computes, sent through links.

====================================  ==========  ===============================  ====  =======================
Quantity                              Symbol      Name                             Unit  Equation
====================================  ==========  ===============================  ====  =======================
packets of a unit that are lost       L_n         ``SentUnits.lost_packets``       1     caps Eq. 2, unequal
units that do not decode              L_n > r     ``SentUnits.failed``             1     the same
====================================  ==========  ===============================  ====  =======================

The set-up is the preset ``unequal-paths``. Each unit is a flow of k packets, sent once: what the code of the scheme
adds, how a switch spreads packets over links, which of them a link loses and what a receiver decodes are those of any
run. Where losses come in runs, units that follow each other see the same run; so only each so-manyth unit counts, far
enough from the one before that what it meets is as good as independent.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from math import ceil, gcd, log
from typing import Any

import msgspec
import numpy as np
import numpy.typing as npt

from capsim.fabric.kinds import ParallelPaths
from capsim.fabric.listed import Listed
from capsim.fabric.wiring import LinkChange
from capsim.results.result import Result
from capsim.run.coding_units import MSS_BYTES, PACKET_BYTES
from capsim.run.simulation import simulate
from capsim.scenario.scenario import Scenario, load_scenario
from capsmodel.checks import one_number, require, whole
from capsmodel.coding.paths.losses import PathLosses

__all__ = ["SentUnits", "sent_units", "sent_units_scenario", "units_apart"]

_UNIT_GAP_PACKETS = 4
_MOST_AT_ONCE = 20_000  # units of one run
_REMEMBERED = 1e-3  # of what a loss burst has told


@dataclass(frozen=True)
class SentUnits:
    """Units that count: packets of each that were lost, and whether it was not decoded, shape (units,)."""

    lost_packets: npt.NDArray[np.int64]
    failed: npt.NDArray[np.bool_]


def sent_units_scenario(
    k: int, *, r: int, losses: PathLosses, units: int, seed: int = 1, payload: str = "", first_turn: int = 0
) -> Scenario:
    """Return the preset ``unequal-paths`` with other units and losses.

    Parameters
    ----------
    k, r : int
        Source packets, at least 1, and repair packets, at least 0, of a unit.
    losses : PathLosses
        Losses of paths, independent or in runs of packets; weights are whole, and 1 for paths with runs. Delays, which
        count with a deadline only, are left out.
    units : int
        How many are sent, one after the other; the turns of paths go on from one to the next.
    seed : int
        Seed of the run.
    payload : str
        Code whose packets are sent with their bytes (``rs``, ``ldpc``, ``rlnc``), which takes a hundred times as
        long; without it any k packets decode.
    first_turn : int
        Turn of the first packet of all.

    Raises
    ------
    ParameterError
        If the losses have what is not sent: a deadline, paths that are down, runs in time or interleaved, a
        first path.

    Examples
    --------
    >>> scenario = sent_units_scenario(4, r=1, losses=PathLosses([0.1, 0.2], spread="in-turn"), units=10)
    >>> scenario.fabric.paths, [link.loss_prob for link in scenario.fabric.links]
    (2, [0.1, 0.2])
    """
    k, r, units = (
        int(one_number(whole, name, value, minimum=least))
        for name, value, least in (("k", k, 1), ("r", r, 0), ("units", units, 1))
    )
    _check(losses)
    base, order = load_scenario("unequal-paths"), np.roll(_links(losses), -first_turn)
    assert isinstance(base.fabric, ParallelPaths)
    gap_s = 8 * (k + r + _UNIT_GAP_PACKETS) * PACKET_BYTES / base.fabric.rate_bps
    fabric = msgspec.structs.replace(
        base.fabric,
        paths=len(order),
        links=tuple(
            _link(losses, path, place)
            for place, path in enumerate(order.tolist(), start=1)
            if losses.paths[path].loss > 0
        ),
        buffer_packets=max(1024, k + r),
    )
    flow_bytes = k * MSS_BYTES
    # The sender derives r = ceil(k p / (1 - p)) from a blocking probability; this value of p gives the chosen r.
    share = (r - 0.5) / (k + r - 0.5) if r else 0.0
    transport = {"initial_window_packets": k, "max_window_bytes": 2 * flow_bytes}
    layer = {"fixed_packets": k, "initial_blocking_prob": share}
    changes: dict[str, dict[str, Any]] = {
        "transport": transport,
        "layer": layer,
        "balancer": {"round_robin": losses.spread == "in-turn"},
    }
    return base.replace(
        fabric=fabric,
        traffic=(Listed(flows=tuple((0, 1, flow_bytes, number * gap_s) for number in range(units))),),
        params=base.params | {role: base.params[role] | values for role, values in changes.items()},
        short_bytes=flow_bytes,
        seed=seed,
        payload=payload,
        end_s=units * gap_s + 1e-3,
    )


def sent_units(
    k: int, *, r: int, losses: PathLosses, units: int, seed: int = 1, payload: str = "", engine: str = "compiled"
) -> Iterator[SentUnits]:
    """Yield units that were sent, run by run; together at least `units` that are independent of each other.

    Any first path is equally likely, as in :meth:`PathLosses.failure_table`: where the turns of successive units have
    a common divisor with the number of paths, further runs begin with other paths.

    Parameters
    ----------
    k, r, losses, payload
        As in :func:`sent_units_scenario`.
    units : int
        How many count.
    seed : int
        Seed of all runs.
    engine : {"compiled", "reference"}
        Engine.

    Examples
    --------
    >>> found = list(sent_units(4, r=1, losses=PathLosses(0.5), units=100, seed=1))
    >>> lost = np.concatenate([each.lost_packets for each in found])
    >>> bool(np.all((lost > 1) == np.concatenate([each.failed for each in found])))
    True
    """
    _check(losses)
    n, first = k + r, int(one_number(whole, "seed", seed))
    m, apart = len(_links(losses)), units_apart(losses, n)
    starts = gcd(n, m) if losses.spread == "in-turn" else 1
    wanted = ceil(units / starts)
    for start in range(starts):
        for begun in range(0, wanted, max(1, _MOST_AT_ONCE // apart)):
            count = min(wanted - begun, max(1, _MOST_AT_ONCE // apart))
            scenario = sent_units_scenario(
                k,
                r=r,
                losses=losses,
                units=1 + (count - 1) * apart,
                seed=int(np.random.default_rng([first, start, begun]).integers(2**62)),
                payload=payload,
                first_turn=start,
            )
            yield _read(simulate(scenario, engine=engine, progress=None), n, apart)


def _read(result: Result, n: int, apart: int) -> SentUnits:
    """Return what became of each `apart`-th unit."""
    flows = result.flows.iloc[::apart]
    require(bool((flows["packets_sent"] == n).all()), "a unit was not sent once: its timeout lies before the end")
    return SentUnits(flows["packets_dropped"].to_numpy(np.int64), ~flows["finished"].to_numpy(np.bool_))


def _check(losses: PathLosses) -> None:
    """Refuse what the scenario does not have."""
    absent = {
        "a deadline": losses.deadline_s is not None,
        "paths that are down": losses.down_paths > 0 or any(path.down for path in losses.paths),
        "loss bursts in time": losses.burst_s is not None,
        "interleaved units": losses.interleave > 1,
        "a first path": losses.first_path != "any",
    }
    for what, is_asked in absent.items():
        require(not is_asked, f"losses with {what} are not simulated: leave that out")
    plain = np.ptp(losses.weights) == 0
    whole_weights = np.all(np.asarray(losses.weight) == np.round(np.asarray(losses.weight)))
    require(plain or (whole_weights and not losses.has_runs), "weights are simulated when whole and without runs")


def _links(losses: PathLosses) -> npt.NDArray[np.int64]:
    """Return the path that each link stands for, in the order of their turns: a path of weight 2 has two links."""
    return np.arange(losses.n_paths) if np.ptp(losses.weights) == 0 else np.asarray(losses.turns, np.int64)


def _link(losses: PathLosses, path: int, place: int) -> LinkChange:
    path_losses = losses.paths[path]
    independent = (
        path_losses.burst_packets is None
        or path_losses.loss in (0, 1)
        or path_losses.burst_packets * (1 - path_losses.loss) <= 1
    )
    burst = None if independent else path_losses.burst_packets
    return LinkChange(
        between=("left", "right"), one_way=True, parallel=place, loss_prob=path_losses.loss, loss_burst_packets=burst
    )


def units_apart(losses: PathLosses, n: int) -> int:
    """Return how many units of n packets lie between the beginnings of two that count; 1 for independent losses.

    The number has no divisor in common with that of the paths, so that in turn units begin with each path.
    """
    m = len(_links(losses))
    runs = [
        path.burst_packets * (1 - path.loss) for path in losses.paths if path.burst_packets and 0 < path.loss < 1
    ]  # 1/(1 - correlation) of packets that follow each other on a path
    if not runs or max(runs) <= 1:
        return 1
    apart = ceil(-log(_REMEMBERED) * max(runs) * m / n) + 1
    while gcd(apart, m) > 1:
        apart += 1
    return apart
