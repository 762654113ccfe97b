r"""How far a run of Poisson flows that begins with an empty network comes to its load.

Flows arrive at N hosts of rate C with sizes X and a load ρ of the links from hosts. A flow takes about

.. math:: D=\frac{8X}{C}\,\frac{1+\rho}{(1-\rho)^2}

of the time that matters here: 8X/C alone; times (1+ρ)/(1-ρ), its mean slowdown on two links that share their rates,
its sender's and its receiver's; times 1/(1-ρ), by which a shared link settles more slowly than flows that do not meet.
A run whose arrivals last for less than the largest D never has the number of flows in progress that belongs to its
load, and its completion times are those of a lower load, however many seeds there are.

======================= ======================================== ====================== ====
Quantity                Symbol                                   Name                   Unit
======================= ======================================== ====================== ====
flows in progress       :math:`\rho s`, Little's law             :func:`in_progress`    1
time to settle          D of the largest flow                    :func:`settling_s`     s
settled share           G, flows in progress over the steady     :func:`settled_share`  1
                        number
bias of the slowdown    :math:`-(1-G)(s-1)/s`,                   :func:`run_bias`       1
                        :math:`s=(1+\rho)/(1-\rho)`
half-width              of the mean slowdown of long flows       :func:`run_precision`  1
flows for a half-width  of the mean slowdown of long flows       :func:`run_flows`      1
flows for a share       n(G)                                     :func:`run_length`     1
======================= ======================================== ====================== ====

What the formulas leave out: a transport that keeps flows longer than sharing does, links between switches that are
loaded more than those of hosts, and paths chosen by a hash.
"""

import numpy as np
import numpy.typing as npt
import scipy  # scipy.optimize is loaded at its first use: it takes a third of the import of capsim

from capsmodel.checks import closed_form, non_negative, one_number, positive, require, whole
from capsmodel.units import BITS_PER_BYTE
from capsmodel.workloads.sizes import SizeDistribution

_SHARES = 0.999  # the largest settled share for which a number of flows is given


def mean_slowdown(load: float) -> float:
    r"""Return the mean slowdown :math:`(1+\rho)/(1-\rho)` of a flow on two links that share their rates, a ratio.

    Parameters
    ----------
    load : float
        Load ρ of both links, in [0, 1).

    Raises
    ------
    ParameterError
        If `load` leaves its range.

    Notes
    -----
    One M/G/1 queue that shares its rate has the slowdown 1/(1-ρ); of two in a row the slower one counts, and the other
    adds :math:`\rho/(1-\rho)`.

    Examples
    --------
    >>> mean_slowdown(0.5)
    3.0
    """
    share = _load(load)
    return (1 + share) / (1 - share)


def in_progress(carried: float, *, slowdown: float) -> float:
    r"""Return the mean number of flows in progress, :math:`\rho s` (Little's law).

    Parameters
    ----------
    carried : float
        Load ρ that the flows meant ask of the links of a host, at least 0; of several hosts the sum.
    slowdown : float
        How many times as long as alone the flows last, weighted by their sizes: s, at least 1, as
        :func:`mean_slowdown`.

    Raises
    ------
    ParameterError
        If an argument leaves its range, or the number is beyond every float.

    Examples
    --------
    >>> in_progress(0.5, slowdown=mean_slowdown(0.5))  # to one host
    1.5
    """
    load, times = one_number(non_negative, "carried", carried), one_number(positive, "slowdown", slowdown)
    require(times >= 1, f"slowdown = {times:g}, but no flow is faster than alone: it must be at least 1")
    require(
        load * times < np.inf, f"carried = {load:g} and slowdown = {times:g} give more flows than there are numbers"
    )
    return load * times


def settling_s(flow_bytes: npt.ArrayLike, *, load: float, rate_bps: float) -> npt.NDArray[np.float64]:
    """Return D of flows of `flow_bytes` bytes, in seconds: how long they are felt at this load.

    Parameters
    ----------
    flow_bytes : array_like
        Sizes, in bytes, at least 0.
    load : float
        Load ρ of the links of hosts, in [0, 1).
    rate_bps : float
        Rate C of a host, in bits per second, above 0.

    Raises
    ------
    ParameterError
        If an argument leaves its range.

    Examples
    --------
    >>> float(settling_s(125_000_000, load=0.5, rate_bps=1e9))  # 1 s alone, 3 s when shared
    6.0
    """
    sizes = np.asarray(non_negative("flow_bytes", flow_bytes))
    share, rate = _load(load), one_number(positive, "rate_bps", rate_bps)
    times_s: npt.NDArray[np.float64] = BITS_PER_BYTE * sizes / rate * mean_slowdown(share) / (1 - share)
    return times_s


@closed_form
def settled_share(
    sizes: SizeDistribution, *, load: float, rate_bps: float, arrivals_s: float, warm_up_s: float = 0.0
) -> float:
    r"""Return the settled share: the flows in progress that an average counted arrival finds, over their steady number.

    Parameters
    ----------
    sizes : SizeDistribution
        Flow sizes X, in bytes.
    load : float
        Load ρ of the links of hosts, in [0, 1).
    rate_bps : float
        Rate C of a host, in bits per second, above 0.
    arrivals_s : float
        Time T from the first arrival to the last, in seconds, above `warm_up_s`.
    warm_up_s : float
        Time w whose arrivals are not counted, in seconds, at least 0.

    Returns
    -------
    float
        G, in [0, 1].

    Raises
    ------
    ParameterError
        If an argument leaves its range.

    Notes
    -----
    .. math:: G(w,T)=1-\frac{E[((D-w)^+)^2-((D-T)^+)^2]}{2E[D](T-w)}

    This is exact for flows that last D and do not meet (M/G/∞) in a network that is empty at 0; the D that is put in
    allows for flows that share links. In simulations of 8 and 16 hosts at loads of 0.3 to 0.6 it is within 0.1 of the
    flows in progress that were found. For T above the largest D and w = 0 it is :math:`1-E[D^2]/(2E[D]T)`.

    Examples
    --------
    >>> one_size = SizeDistribution.fixed(125_000_000)  # D = 6 s
    >>> round(settled_share(one_size, load=0.5, rate_bps=1e9, arrivals_s=60.0), 12)
    0.95
    """
    rate, time_s = one_number(positive, "rate_bps", rate_bps), one_number(positive, "arrivals_s", arrivals_s)
    warm_s = one_number(non_negative, "warm_up_s", warm_up_s)
    require(warm_s < time_s, f"warm_up_s = {warm_s:g}, but it must be below arrivals_s = {time_s:g}")
    per_byte_s = float(settling_s(1, load=load, rate_bps=rate))
    if per_byte_s == 0:
        return 1.0
    mean = _mean(sizes)
    lacking = _square_above(sizes, warm_s / per_byte_s) - _square_above(sizes, time_s / per_byte_s)
    share = lacking * per_byte_s / (2 * mean * (time_s - warm_s))
    return float(min(1.0, max(0.0, 1.0 - share)))


@closed_form
def run_bias(
    sizes: SizeDistribution, *, load: float, rate_bps: float, arrivals_s: float, warm_up_s: float = 0.0
) -> float:
    r"""Return by which share of itself the mean slowdown of long flows is too low in a run that begins empty, as -0.1.

    Parameters
    ----------
    sizes, load, rate_bps, arrivals_s, warm_up_s
        As of :func:`settled_share`.

    Returns
    -------
    float
        In (-1, 0].

    Raises
    ------
    ParameterError
        If an argument leaves its range.

    Notes
    -----
    :math:`-(1-G)(s-1)/s` with :math:`s=(1+\rho)/(1-\rho)`: what a flow waits for others grows with their number.

    Examples
    --------
    >>> one_size = SizeDistribution.fixed(125_000_000)
    >>> round(run_bias(one_size, load=0.5, rate_bps=1e9, arrivals_s=60.0), 12)  # 5% of two thirds
    -0.033333333333
    """
    share = settled_share(sizes, load=load, rate_bps=rate_bps, arrivals_s=arrivals_s, warm_up_s=warm_up_s)
    slowdown = mean_slowdown(load)
    return -(1.0 - share) * (slowdown - 1.0) / slowdown


@closed_form
def run_precision(
    sizes: SizeDistribution, *, load: float, hosts: float, flows: float, long_bytes: float = 1e5
) -> float:
    r"""Return the half-width of the 95% interval that one run gives the mean slowdown of its long flows, as a share.

    Parameters
    ----------
    sizes : SizeDistribution
        Flow sizes X, in bytes.
    load : float
        Load ρ of the links of hosts, in (0, 1).
    hosts : int
        Hosts N that send, at least 2.
    flows : int
        Flows counted, at least 1.
    long_bytes : float
        Flows above this size are long, in bytes: in results all that are not short (`short_bytes` of a scenario), of
        which most share links for their whole time. Predictions are more particular
        (:data:`capsmodel.prediction.completion.LONG_BYTES`).

    Returns
    -------
    float
        Half-width over the mean; inf where no flow is long.

    Raises
    ------
    ParameterError
        If an argument leaves its range.

    Notes
    -----
    :math:`1.96\sqrt{\frac{2\rho}{(1-\rho)^2}\left(\frac{2\tau}{NT}+\frac1{n_l}\right)}` over the mean slowdown s, with
    the correlation time :math:`\tau=E[D^2]/(2E[D])` and :math:`n_l` long flows. Of runs shorter than 10 τ it is too
    wide: these agree with one another, and are biased alike.

    Examples
    --------
    >>> one_size = SizeDistribution.fixed(125_000_000)
    >>> round(run_precision(one_size, load=0.5, hosts=16, flows=1600), 3)
    0.065
    """
    share, number = one_number(positive, "load", _load(load)), one_number(whole, "flows", flows, minimum=1)
    senders = one_number(whole, "hosts", hosts, minimum=2)
    mean = _mean(sizes)
    many = number * (1.0 - float(sizes.cdf(one_number(non_negative, "long_bytes", long_bytes))))
    if many == 0:
        return float("inf")
    # T and tau in units of the time that a host takes to send one byte
    tau = _square_above(sizes, 0.0) / (2 * mean) * mean_slowdown(share) / (1 - share)
    time = number * mean / (share * senders)
    variance = 2 * share / (1 - share) ** 2 * (2 * tau / (time * senders) + 1 / many)
    return float(1.96 * variance**0.5 / mean_slowdown(share))


@closed_form
def run_flows(
    sizes: SizeDistribution, *, load: float, hosts: float, half_width: float, long_bytes: float = 1e5
) -> float:
    r"""Return how many flows a run must count for a half-width of the mean slowdown of its long flows.

    Parameters
    ----------
    sizes, load, hosts, long_bytes
        As of :func:`run_precision`.
    half_width : float
        Of the 95% interval, over the mean, in (0, 1).

    Returns
    -------
    float
        Number of flows, a whole number, at least 1; inf where no flow is long.

    Raises
    ------
    ParameterError
        If an argument leaves its range.

    Notes
    -----
    The half-width falls with the root of the number of flows: :math:`n=\lceil(w(1)/w)^2\rceil` with w(n) of
    :func:`run_precision`.

    Examples
    --------
    >>> run_flows(SizeDistribution.fixed(125_000_000), load=0.5, hosts=16, half_width=0.065)
    1617.0
    """
    target = one_number(positive, "half_width", half_width)
    require(target < 1, f"half_width = {target:g}, but it must be below 1: it is a share of the mean")
    of_one = run_precision(sizes, load=load, hosts=hosts, flows=1, long_bytes=long_bytes)
    return float(np.ceil(np.round((of_one / target) ** 2, 6)))


@closed_form
def run_length(sizes: SizeDistribution, *, load: float, hosts: float, settled: float = 0.9) -> float:
    r"""Return how many flows a run that begins empty needs for a settled share.

    Parameters
    ----------
    sizes : SizeDistribution
        Flow sizes X, in bytes.
    load : float
        Load ρ of the links of hosts, in (0, 1).
    hosts : int
        Hosts N that send, at least 2.
    settled : float
        Settled share G to reach, in (0, 0.999].

    Returns
    -------
    float
        Number of flows, a whole number, at least 1; the rate of the links drops out.

    Raises
    ------
    ParameterError
        If an argument leaves its range.

    Notes
    -----
    Where arrivals then last longer than the largest D,

    .. math:: n=\frac{N\rho(1+\rho)}{2(1-G)(1-\rho)^2}\,\frac{E[X^2]}{E[X]^2}

    and below the root of :func:`settled_share`, which is less.

    Examples
    --------
    >>> run_length(SizeDistribution.fixed(1000), load=0.5, hosts=16, settled=0.9)
    240.0
    """
    share, senders = one_number(positive, "load", _load(load)), one_number(whole, "hosts", hosts, minimum=2)
    target = one_number(positive, "settled", settled)
    require(target <= _SHARES, f"settled = {target:g}, but it must be in (0, {_SHARES}]")
    per_flow_s = BITS_PER_BYTE * _mean(sizes) / (share * senders)  # between two arrivals at hosts of 1 bit/s
    factor = mean_slowdown(share) / (1 - share)
    most = senders * share * factor * _square_above(sizes, 0.0) / (2 * (1 - target) * _mean(sizes) ** 2)

    def missing(flows: float) -> float:
        return settled_share(sizes, load=share, rate_bps=1.0, arrivals_s=flows * per_flow_s) - target

    least = most * 1e-9
    flows = most if missing(most) <= 0 else scipy.optimize.brentq(missing, least, most) if missing(least) < 0 else least
    return float(max(1.0, np.ceil(np.round(flows, 6))))


def _load(load: float) -> float:
    share = one_number(non_negative, "load", load)
    require(share < 1, f"load = {share:g}, but it must be below 1: above there is no steady state")
    return share


def _mean(sizes: SizeDistribution) -> float:
    is_one = not isinstance(sizes, type) and hasattr(sizes, "expectation")
    require(is_one, f"sizes is {type(sizes).__name__}, but it must be a distribution of sizes, as SizeDistribution")
    return sizes.expectation(lambda x: x)


def _square_above(sizes: SizeDistribution, least: float) -> float:
    """Return :math:`E[((X-least)^+)^2]`, in square bytes."""
    return sizes.expectation(lambda x: (x - least) ** 2, above=least)


__all__ = [
    "in_progress",
    "mean_slowdown",
    "run_bias",
    "run_flows",
    "run_length",
    "run_precision",
    "settled_share",
    "settling_s",
]
