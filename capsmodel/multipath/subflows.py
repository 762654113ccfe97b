r"""Subflows of MMPTCP: how many a flow opens, what share of a path their windows take, how many flows leave a pod.

================================  ==============  ====================================  ====  ====================
Quantity                          Symbol          Name                                  Unit  Equation
================================  ==============  ====================================  ====  ====================
subflows of a flow                –               :func:`subflow_count`                 1     mmptcp u (2.5, 3.11)
share of a path of their windows  :math:`2m/BDP`  :func:`subflow_minimum_window_share`  1     mmptcp u (3.11)
a flow leaves its pod             –               :func:`cross_pod_prob`                1     beyond the papers
================================  ==============  ====================================  ====  ====================
"""

from typing import overload

from numpy.typing import ArrayLike

from capsmodel.checks import FloatArray, FloatOrArray, Layer, choice, closed_form, plain, positive, require, whole

_SUBFLOWS: dict[Layer, float] = {"core": 8.0, "aggregation": 4.0, "access": 1.0}


@closed_form
def subflow_count(location: Layer) -> float:
    """Return how many subflows MMPTCP opens for a flow, by the layer where the flow turns down.

    Parameters
    ----------
    location : {"core", "aggregation", "access"}
        Receiver in another pod, in the same pod, or on the same access switch.

    Returns
    -------
    float
        8, 4 or 1 subflows. They are the paper's choice for an 8-ary fat-tree, not its 16, 4 and 1 paths.

    Raises
    ------
    ParameterError
        If `location` is none of the three layers.

    References
    ----------
    mmptcp u (2.5, 3.11) subflow count.

    Examples
    --------
    >>> subflow_count("aggregation")
    4.0
    """
    choice("location", location, _SUBFLOWS)
    return _SUBFLOWS[location]


@overload
def subflow_minimum_window_share(n_subflows: float, *, bdp_packets: float) -> float: ...
@overload
def subflow_minimum_window_share(n_subflows: ArrayLike, *, bdp_packets: ArrayLike) -> FloatArray: ...
@closed_form
def subflow_minimum_window_share(n_subflows: ArrayLike, *, bdp_packets: ArrayLike) -> FloatOrArray:
    """Return the share of a path's bandwidth-delay product that the minimum windows of the subflows take, as a ratio.

    Parameters
    ----------
    n_subflows : array_like
        Subflows :math:`m`, a whole number of at least 1; each keeps at least 2 packets in flight. Broadcasts.
    bdp_packets : array_like
        Bandwidth-delay product in packets, positive. Broadcasts.

    Returns
    -------
    float or ndarray
        :math:`2m` over the bandwidth-delay product, of the broadcast shape; above 1 the queue must hold the rest.

    Raises
    ------
    ParameterError
        If `n_subflows` is no whole number of at least 1, or `bdp_packets` is not positive.

    References
    ----------
    mmptcp u (3.11) minimum windows.

    Examples
    --------
    >>> round(subflow_minimum_window_share(8, bdp_packets=30), 3)
    0.533
    """
    return plain(2 * whole("n_subflows", n_subflows, minimum=1) / positive("bdp_packets", bdp_packets))


@overload
def cross_pod_prob(pods: float, *, hosts_per_pod: float) -> float: ...
@overload
def cross_pod_prob(pods: ArrayLike, *, hosts_per_pod: ArrayLike) -> FloatArray: ...
@closed_form
def cross_pod_prob(pods: ArrayLike, *, hosts_per_pod: ArrayLike) -> FloatOrArray:
    r"""Return the probability that a uniformly chosen other host lies in another pod.

    Parameters
    ----------
    pods : array_like
        Pods :math:`K`, a whole number of at least 1. Broadcasts.
    hosts_per_pod : array_like
        Hosts :math:`h` in each pod, a whole number of at least 1; :math:`(K/2)^2` without oversubscription. Broadcasts.

    Returns
    -------
    float or ndarray
        :math:`(K-1)h/(Kh-1)`, of the broadcast shape; also for each flow of a random permutation without fixed points.

    Raises
    ------
    ParameterError
        If an argument is no whole number of at least 1, or there is only one host.

    References
    ----------
    Beyond the papers; mmptcp Section 3.5 prints 85% for 8 pods of 16 hosts, for which it gives 88%.

    Examples
    --------
    >>> cross_pod_prob(8, hosts_per_pod=16) == 112 / 127
    True
    """
    n_pods = whole("pods", pods, minimum=1)
    hosts = whole("hosts_per_pod", hosts_per_pod, minimum=1)
    require(n_pods * hosts > 1, "pods and hosts_per_pod give one host, but a flow needs two")
    return plain((n_pods - 1) * hosts / (n_pods * hosts - 1))
