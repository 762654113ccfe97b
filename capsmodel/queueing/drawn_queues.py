r"""Many equal queues, where each packet joins the shortest of a few that are drawn: the power of two choices.

Packets arrive as a Poisson process at a switch with :math:`n` equal ports. For each packet :math:`d` ports are drawn,
all equally likely, and the one with the fewest packets takes it, the packet in service included; of equal ones any.
That is DRILL(d, 0). As :math:`n\to\infty` queues become independent of each other.

========================  ===============  ==============================  =============  ======================
Quantity                  Symbol           Name                            Unit           Equation
========================  ===============  ==============================  =============  ======================
at least i packets        :math:`s_i`      :func:`drawn_queues_tail`       1              Mitzenmacher
mean wait                 :math:`E[W]`     :func:`drawn_queues_mean_wait`  service times  :math:`\sum s_i/\rho-1`
========================  ===============  ==============================  =============  ======================
"""

from functools import cache
from typing import Literal, get_args, overload

import numpy as np
from numpy.typing import ArrayLike

from capsmodel.checks import (
    FloatArray,
    FloatOrArray,
    choice,
    closed_form,
    one_number,
    plain,
    probability,
    require,
    whole,
)

__all__ = ["ServiceOfPorts", "drawn_queues_mean_wait", "drawn_queues_tail"]

ServiceOfPorts = Literal["exponential", "constant"]

_NEGLIGIBLE = 1e-16  # share of queues longer than those that are looked at
_SETTLED = 1e-13
_MOST_LOAD = 0.99  # the iteration for constant service takes about 6 / (1 - load) steps
_MOST_DRAWN = 1000


@overload
def drawn_queues_tail(packets: float, *, load: float, drawn: int, service: ServiceOfPorts = ...) -> float: ...
@overload
def drawn_queues_tail(
    packets: ArrayLike, *, load: ArrayLike, drawn: int, service: ServiceOfPorts = ...
) -> FloatArray: ...
@closed_form
def drawn_queues_tail(
    packets: ArrayLike, *, load: ArrayLike, drawn: int, service: ServiceOfPorts = "exponential"
) -> FloatOrArray:
    r"""Return the share of queues that hold at least so many packets, the one in service included.

    Parameters
    ----------
    packets : array_like
        Packets :math:`i`, a whole number of at least 0. Broadcasts.
    load : array_like
        Load ρ of each port, in [0, 1); at most 0.99 for constant service. Broadcasts.
    drawn : int
        Queues :math:`d` that are drawn for each packet, 1 to 1000; from 2 on for constant service.
    service : {"exponential", "constant"}, optional
        Distribution of the service time.

    Returns
    -------
    float or ndarray
        :math:`s_i`, of the broadcast shape; for exponential service :math:`\rho^{(d^i-1)/(d-1)}`, which is
        :math:`\rho^i` for one queue drawn.

    Raises
    ------
    ParameterError
        If an argument leaves its range.

    Notes
    -----
    A packet finds a queue of at least i packets, the shortest of those drawn, with probability :math:`s_i^d`. So queues
    with i packets get packets at the rate

    .. math:: \lambda_i = \rho\,\frac{s_i^d-s_{i+1}^d}{s_i-s_{i+1}}

    for each service time, and in the limit of many queues each one is a queue of its own with these rates. With
    exponential service the balance :math:`\rho(s_{i-1}^d-s_i^d)=s_i-s_{i+1}` has the solution above. With constant
    service the packets left behind by a departure are a Markov chain, whose step is a pure birth process with the rates
    :math:`\lambda_i` over one service time; how long it holds each number of packets gives :math:`s_i`, and the rates
    anew, until both agree.

    *Assumptions.* The limit :math:`n\to\infty`; a finite number of ports adds a term of the order of :math:`1/n`. It
    makes no difference there whether the queues drawn are distinct. That queues become independent is proved for
    exponential service (Vvedenskaya, Dobrushin, Karpelevich 1996); for constant service at small load only (Bramson,
    Lu, Prabhakar 2012), and assumed beyond.

    References
    ----------
    Beyond the papers; Mitzenmacher, IEEE Transactions on Parallel and Distributed Systems 12 (2001), Eq. 4.

    Examples
    --------
    >>> drawn_queues_tail([0, 1, 2, 3], load=0.5, drawn=2).tolist()
    [1.0, 0.5, 0.125, 0.0078125]
    >>> round(drawn_queues_tail(2, load=0.5, drawn=2, service="constant"), 4)
    0.0665
    """
    numbers, rho = np.broadcast_arrays(whole("packets", packets), probability("load", load))
    number, constant = _arguments(rho, drawn, service)
    if not constant:
        with np.errstate(over="ignore"):
            exponent = numbers if number == 1 else (float(number) ** numbers - 1) / (number - 1)
        return plain(rho**exponent)
    probs = np.zeros(rho.shape)
    for at in np.ndindex(rho.shape):
        tail = _constant_tail(float(rho[at]), number)
        probs[at] = tail[int(numbers[at])] if numbers[at] < len(tail) else 0.0
    return plain(probs)


@overload
def drawn_queues_mean_wait(load: float, *, drawn: int, service: ServiceOfPorts = ...) -> float: ...
@overload
def drawn_queues_mean_wait(load: ArrayLike, *, drawn: int, service: ServiceOfPorts = ...) -> FloatArray: ...
@closed_form
def drawn_queues_mean_wait(load: ArrayLike, *, drawn: int, service: ServiceOfPorts = "exponential") -> FloatOrArray:
    r"""Return the mean wait of a packet that joins the shortest of the queues drawn, in mean service times.

    Parameters
    ----------
    load, drawn, service
        As in :func:`drawn_queues_tail`.

    Returns
    -------
    float or ndarray
        :math:`E[W]=\sum_{i\ge1}s_i/\rho-1` by Little's law, of the shape of `load`; 0 at load 0. For exponential
        service :math:`\sum_{i\ge2}\rho^{(d^i-d)/(d-1)}`.

    Raises
    ------
    ParameterError
        As :func:`drawn_queues_tail`.

    References
    ----------
    Beyond the papers; Mitzenmacher, IEEE Transactions on Parallel and Distributed Systems 12 (2001).

    Examples
    --------
    >>> [round(drawn_queues_mean_wait(0.9, drawn=drawn), 3) for drawn in (1, 2, 3)]
    [9.0, 1.614, 1.028]
    """
    rho = probability("load", load)
    number, constant = _arguments(rho, drawn, service)
    if constant:
        # Little's law; the first term of the sum is ρ itself.
        waits = [_constant_tail(float(each), number)[2:].sum() / each if each else 0.0 for each in rho.flat]
        return plain(np.reshape(waits, rho.shape))
    if number == 1:
        return plain(rho / (1 - rho))
    total, exponent = np.zeros(rho.shape), float(number)
    while np.any(rho**exponent > _NEGLIGIBLE):
        total = total + rho**exponent
        exponent = number * (exponent + 1)
    return plain(total)


def _arguments(load: FloatArray, drawn: int, service: ServiceOfPorts) -> tuple[int, bool]:
    """Return the number of queues drawn, and whether the service is constant."""
    number = int(one_number(whole, "drawn", drawn, minimum=1))
    require(number <= _MOST_DRAWN, f"drawn = {number}, but at most {_MOST_DRAWN} queues are drawn")
    choice("service", service, get_args(ServiceOfPorts))
    constant = service == "constant"
    if constant:
        require(number > 1, "drawn = 1 with constant service is the M/D/1 queue: take mg1_wait_prob or mg1_mean_wait")
        require(load <= _MOST_LOAD, f"load is above {_MOST_LOAD}, where the tail for constant service takes too long")
    return number, constant


@cache
def _constant_tail(load: float, drawn: int) -> FloatArray:
    """Return s_i of queues with constant service from i = 0 until it is negligible."""
    longest = 1
    while drawn_queues_tail(longest, load=load, drawn=drawn) > _NEGLIGIBLE:
        longest += 1
    tail = drawn_queues_tail(np.arange(longest + 1), load=load, drawn=drawn)
    change = 1.0
    while change > _SETTLED:
        last, tail = tail, _next_tail(tail, load, drawn)
        change = float(np.max(np.abs(tail - last)))
    tail.flags.writeable = False
    return tail


def _next_tail(tail: FloatArray, load: float, drawn: int) -> FloatArray:
    """Return the tail of one queue whose arrivals depend on it by the tail of the others."""
    beyond = np.append(tail[1:], 0.0)
    rates = load * sum(tail**power * beyond ** (drawn - 1 - power) for power in range(drawn))  # the quotient, as a sum
    after, spent = _births(rates)
    begin = np.maximum(np.arange(len(tail) - 1), 1)  # packets when a service begins, by those left behind before
    balance = after[begin][:, 1:].T - np.eye(len(begin))
    balance[-1] = 1.0  # one of the equations follows from the others; in its place, that the probabilities add up to 1
    left_behind = np.linalg.solve(balance, np.eye(len(begin))[-1])
    held = load * left_behind @ spent[begin]  # share of time with so many packets while serving
    held[0] = 1 - load
    return np.asarray(np.cumsum(held[::-1])[::-1])


def _births(rates: FloatArray) -> tuple[FloatArray, FloatArray]:
    """Return, by number before and after, the chances of a birth process over one unit of time, and times spent."""
    from scipy.linalg import expm  # loads SciPy's linear algebra

    size = len(rates)
    rates = np.append(rates[:-1], 0.0)  # no more than the last number
    both = np.zeros((2 * size, 2 * size))
    both[:size, :size] = np.diag(rates[:-1], 1) - np.diag(rates)
    both[:size, size:] = np.eye(size)  # the integral of the first block
    exponential = expm(both)
    return exponential[:size, :size], exponential[:size, size:]
