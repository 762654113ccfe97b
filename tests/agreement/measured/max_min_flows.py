"""Flows that share links max-min fair, without packets: the rung between formula and packets, on the same flows.

Between two arrivals or departures each flow has the rate that progressive filling gives it: all rates grow alike, and
those of a link stop when it is full. A flow crosses the links of its two hosts and, up and down, each layer between
switches: one link of it, drawn for each flow, or all of them together where packets are sprayed.
"""

import numba as nb
import numpy as np
import numpy.typing as npt

from capsmodel.prediction.fabric import FabricModel

__all__ = ["links_of_flows", "max_min_times"]

Floats = npt.NDArray[np.float64]
Ints = npt.NDArray[np.int64]
_NO_RATE = 1e-9


@nb.njit(cache=False)  # type: ignore[untyped-decorator]
def _rates(active: Ints, links: Ints, capacity: Floats, rate: Floats) -> int:
    """Set the rate of each active flow, return how many links are full with two flows and more.

    The last link stands for none, and is never full.
    """
    free, flows = capacity.copy(), np.zeros(len(capacity), np.int64)
    for flow in active:
        rate[flow] = -1.0
        for link in links[flow]:
            flows[link] += 1
    flows[-1] = 0
    several = flows >= 2
    left = len(active)
    while left:
        shares = np.array([free[link] / flows[link] if flows[link] > 0 else np.inf for link in range(len(free) - 1)])
        full = np.argmin(shares)
        for flow in active:
            if rate[flow] < 0 and (links[flow] == full).any():
                rate[flow] = shares[full]
                left -= 1
                for link in links[flow]:
                    free[link] = max(0.0, free[link] - shares[full])
                    flows[link] -= 1
    return int(np.sum(several & (free < _NO_RATE)))


@nb.njit(cache=False)  # type: ignore[untyped-decorator]
def max_min_times(start_s: Floats, size: Floats, links: Ints, capacity: Floats) -> tuple[Floats, float]:
    """Return the completion times of flows, in seconds, and the share of links that several flows fill, over time.

    The times are NaN of flows that the last arrival leaves in progress.

    Parameters
    ----------
    start_s : ndarray
        Rising, in seconds.
    size : ndarray
        In the unit of `capacity` times seconds.
    links : ndarray of shape (flows, links of a flow)
        Numbers of links; the last of `capacity` stands for none.
    capacity : ndarray
        Of each link, and one number more.
    """
    left, rate, times = size.copy(), np.zeros(len(size)), np.full(len(size), np.nan)
    active, now, following = np.zeros(0, np.int64), 0.0, 0
    shared, shared_s = 0, 0.0
    while following < len(size):
        ends = np.array([left[flow] / rate[flow] for flow in active])
        first = np.argmin(ends) if len(ends) else -1
        arrives = start_s[following] - now
        step = min(arrives, ends[first]) if len(ends) else arrives
        for flow in active:
            left[flow] -= rate[flow] * step
        now += step
        shared_s += shared * step
        if len(ends) and ends[first] < arrives:
            times[active[first]] = now - start_s[active[first]]
            active = np.delete(active, first)
        else:
            active = np.append(active, following)
            following += 1
        shared = _rates(active, links, capacity, rate)
    return times, shared_s / now / (len(capacity) - 1)


def links_of_flows(
    fabric: FabricModel, src: Ints, dst: Ints, *, path: str, rng: np.random.Generator
) -> tuple[Ints, Floats]:
    """Return the links of flows between hosts, and the capacities of links in rates of a host."""
    hosts = int(max(src.max(), dst.max())) + 1
    total = 2 * hosts + sum(
        2 * -(-hosts // layer.hosts) * (1 if path == "sprayed" else layer.links) for layer in fabric.layers
    )
    links, capacity = [src, hosts + dst], [np.ones(2 * hosts)]
    for layer in fabric.layers:
        groups = -(-hosts // layer.hosts)
        crosses = src // layer.hosts != dst // layer.hosts
        width = 1 if path == "sprayed" else layer.links
        each = layer.rate_bps / fabric.rate_bps * layer.links / width
        taken = rng.integers(0, width, len(src))
        for ends in (src, dst):
            first = sum(map(len, capacity))
            links.append(np.where(crosses, first + ends // layer.hosts * width + taken, total))
            capacity.append(np.full(groups * width, each))
    return np.stack(links, axis=1), np.concatenate([*capacity, [np.inf]])
