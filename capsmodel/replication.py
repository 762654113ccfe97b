r"""What sending short flows several times does to the load.

Every short flow goes out n times over n queues with independent arrivals; the extra copies raise the load of all queues
alike. A short flow waits only if all its queues are busy.

===================== ==================================== =================================== ==== ================
Quantity              Symbol                               Name                                Unit Equation
===================== ==================================== =================================== ==== ================
short-flow byte share :math:`\epsilon`                     :func:`short_byte_share`            1    repflow u (IV-B)
load of each queue    :math:`\rho_n=(1+(n-1)\epsilon)\rho` :func:`replicated_load`             1    repflow u (IV-B)
load of virtual queue :math:`\rho_n^n`                     :func:`effective_load`              1    repflow u (IV-B)
break-even load       :math:`(1+(n-1)\epsilon)^{-n/(n-1)}` :func:`replication_break_even_load` 1    repflow u (IV-B)
===================== ==================================== =================================== ==== ================
"""

from typing import Any

import numpy as np
import numpy.typing as npt

from capsmodel._checks import plain, positive, probability, require, whole
from capsmodel.workloads import PacketSizes

# RepFlow's border between short and long: 100 KB (of 1024 B) in packets of 1500 B.
SHORT_PACKETS = 68


def in_packets(sizes: PacketSizes) -> PacketSizes:
    """Return `sizes`, or raise :class:`ParameterError` if they are not in packets (bytes look just the same).

    Examples
    --------
    >>> in_packets(PacketSizes.fixed(10)).mean_packets
    10.0
    """
    require(
        isinstance(sizes, PacketSizes),
        f"sizes is a {type(sizes).__name__}, but it must be in packets: call sizes.in_packets(1500)",
    )
    return sizes


def short_byte_share(sizes: PacketSizes, *, short_packets: float = SHORT_PACKETS) -> float:
    r"""Return ε, the share of all data in flows of at most `short_packets`.

    Parameters
    ----------
    sizes : PacketSizes
        Law of the flow sizes.
    short_packets : float
        Border S_L between short and long flows, in packets, above 0.

    Returns
    -------
    float
        Share in [0, 1].

    Raises
    ------
    ParameterError
        If the border is not above 0 or `sizes` are not in packets.

    Notes
    -----
    :math:`\epsilon=E[X;X\le S_L]/E[X]`. RepFlow sets 0.05 for web search; its Table III measures 0.033, and the
    public table of that workload gives 0.010.

    References
    ----------
    repflow u (IV-B) short-flow byte share

    Examples
    --------
    >>> from capsmodel import workloads
    >>> round(short_byte_share(workloads.load_workload("websearch").in_packets(1500)), 4)
    0.0103
    """
    return float(in_packets(sizes).byte_share_below(positive("short_packets", short_packets)))


def replicated_load(load: npt.ArrayLike, *, short_byte_share: npt.ArrayLike, replicas: npt.ArrayLike = 2) -> Any:
    r"""Return the load of each queue when every short flow is sent `replicas` times.

    Parameters
    ----------
    load : array_like
        Load ρ without replication, in [0, 1).
    short_byte_share : array_like
        Share ε of the data in short flows, in [0, 1].
    replicas : array_like
        Copies n of a short flow in all, at least 1; RepFlow sends 2.

    Returns
    -------
    float or ndarray
        :math:`(1+(n-1)\epsilon)\rho`, of the broadcast shape; 1 or more means that the queue is unstable.

    Raises
    ------
    ParameterError
        If an argument leaves its range.

    Notes
    -----
    The extra copies are spread over all queues evenly.

    References
    ----------
    repflow u (IV-B) replicated load

    Examples
    --------
    >>> round(replicated_load(0.5, short_byte_share=0.05), 6)
    0.525
    """
    rho, share = probability("load", load), probability("short_byte_share", short_byte_share, one=True)
    return plain((1 + (whole("replicas", replicas, minimum=1) - 1) * share) * rho)


def effective_load(load: npt.ArrayLike, *, short_byte_share: npt.ArrayLike, replicas: npt.ArrayLike = 2) -> Any:
    r"""Return the load of the virtual queue that a replicated short flow sees.

    Parameters
    ----------
    load, short_byte_share, replicas : array_like
        As :func:`replicated_load`.

    Returns
    -------
    float or ndarray
        :math:`\rho_n^n`, the probability that all n queues are busy, of the broadcast shape.

    Raises
    ------
    ParameterError
        If an argument leaves its range.

    Notes
    -----
    Assumes that the n queues are independent, and that a flow which finds them all busy waits as in
    one queue of that load. Both are RepFlow's; n = 2 is printed, other n follow the same argument. The second is no
    identity: the least of two independent waits has another distribution than the wait at load ρ².

    References
    ----------
    repflow u (IV-B) effective load

    Examples
    --------
    >>> round(effective_load(0.5, short_byte_share=0.05), 6)
    0.275625
    """
    busy = replicated_load(load, short_byte_share=short_byte_share, replicas=replicas)
    return plain(np.asarray(busy) ** np.asarray(replicas))


def replication_break_even_load(short_byte_share: npt.ArrayLike, *, replicas: npt.ArrayLike = 2) -> Any:
    r"""Return the load above which replication no longer helps short flows.

    Parameters
    ----------
    short_byte_share : array_like
        Share ε of the data in short flows, in [0, 1].
    replicas : array_like
        Copies n of a short flow in all, at least 2.

    Returns
    -------
    float or ndarray
        :math:`(1+(n-1)\epsilon)^{-n/(n-1)}`, of the broadcast shape.

    Raises
    ------
    ParameterError
        If an argument leaves its range.

    Notes
    -----
    The root of :math:`\rho_n^n=\rho`. It is always below the load 1/(1+(n-1)ε) at which the queues become unstable.

    References
    ----------
    repflow u (IV-B) break-even load

    Examples
    --------
    >>> replication_break_even_load([0.05, 0.1]).round(3).tolist()
    [0.907, 0.826]
    """
    share = probability("short_byte_share", short_byte_share, one=True)
    n = whole("replicas", replicas, minimum=2)
    return plain((1 + (n - 1) * share) ** (-n / (n - 1)))
