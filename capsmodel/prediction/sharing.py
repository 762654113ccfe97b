r"""Slowdown of flows that share links fairly: two host links, and links inside a fabric that several hosts fill.

====================== =================================================== =========================== ====
Quantity               Symbol                                              Name                        Unit
====================== =================================================== =========================== ====
wait in M/G/m          :math:`C(m,\rho)`, for a real m                     :func:`erlang_c`            1
slowdown by inner      :math:`\sum_c2q_cC(m_c,\rho_c)/(p_c(1-\rho_c))`     :func:`inner_links`         1
links
slowdown at a port     :math:`1/((1-\rho/u)(1-\rho/u+\rho))`               :func:`port_slowdown`       1
slowdown of long flows :math:`D=1/(1-\rho)`, that less 1, and that of      :func:`fair_share_slowdown` 1
                       inner links
====================== =================================================== =========================== ====

The NIC of a host is in use while a flow has packets. A port to which two or more flows send is not always: where
windows are cut they leave a share 1 - u of it. One flow alone has its NIC before it, and is not cut.

A flow alone takes at most the rate of its host, so that an inner link of the rate of p hosts (its *pool*) is shared
only when more than about p of its flows are at full rate: it is an M/G/m queue under processor sharing (Fredj et al.,
CCR 31, 2001). Its flows are slowed elsewhere too, at two host links, where a flow has a share
:math:`1/(1+\rho/(1-\rho))` of the rate on average: :math:`m=p(1+\rho/(1-\rho))` servers. Packets that are sprayed pool
all parallel links.

The sum over links is that of balanced fairness with flows stored and forwarded, a conservative value that does not
depend on the distribution of sizes (Bonald and Proutière, Performance Evaluation 55, 2004). Beside flows that share
max-min fair it is at most 4% off where a leaf has four hosts and more, and up to 20% high in a fat-tree of four pods,
whose inner links hold the flows of two hosts.
"""

from collections.abc import Sequence

import numpy as np
from numpy.typing import ArrayLike
from scipy import special

from capsmodel.checks import FloatOrArray, closed_form, plain, positive, probability, require
from capsmodel.prediction.fabric import FabricModel, LinkLayer

MOST_LOAD = 0.99
"""Load of a layer of links up to which there are predictions."""


@closed_form
def erlang_c(servers: ArrayLike, *, load: ArrayLike) -> FloatOrArray:
    r"""Return the probability that a job of the M/M/m queue waits, for a real number of servers.

    Parameters
    ----------
    servers : array_like
        m, above 0.
    load : array_like
        Load ρ of each server, in [0, 1).

    Returns
    -------
    float or ndarray
        C, in [0, 1], of the broadcast shape; a float for scalars.

    Raises
    ------
    ParameterError
        If an argument leaves its range.

    Notes
    -----
    With :math:`a=m\rho`, :math:`1/B=\Gamma(m+1,a)e^aa^{-m}` (Erlang's loss formula for a real m) and
    :math:`C=B/(1-\rho(1-B))`.

    References
    ----------
    Beyond the papers; Jagerman, Bell System Technical Journal 53 (1974), for a real m.

    Examples
    --------
    >>> round(erlang_c(1, load=0.3), 12)  # one server: its load
    0.3
    """
    m, rho = np.broadcast_arrays(positive("servers", servers), probability("load", load))
    offered = np.maximum(m * rho, np.finfo(float).tiny)
    log_loss = m * np.log(offered) - offered - special.gammaln(m + 1) - np.log(special.gammaincc(m + 1, offered))
    loss = np.exp(log_loss)
    return plain(np.where(rho > 0, loss / (1 - rho * (1 - loss)), 0.0))


def port_probs(load: float, use: float) -> tuple[float, float, float]:
    r"""Return how often no flow, one flow, and more than one send to a host.

    Parameters
    ----------
    load : float
        Load ρ of the link to the host, below `use`.
    use : float
        Share u of the link that two or more flows use together, in (0, 1]; one alone uses all of it.

    Notes
    -----
    Processor sharing with a rate that depends on the number of flows: :math:`P(n)=P(0)\,\rho\,r^{n-1}` with
    :math:`r=\rho/u`, so that :math:`P(0)=(1-r)/(1-r+\rho)`.

    References
    ----------
    Beyond the papers; Cohen, Acta Informatica 12 (1979), on generalized processor sharing.

    Examples
    --------
    >>> [round(prob, 12) for prob in port_probs(0.5, 1.0)]
    [0.5, 0.25, 0.25]
    """
    ratio = load / use
    none = (1 - ratio) / (1 - ratio + load)
    return none, load * none, load * ratio / (1 - ratio + load)


def port_slowdown(load: float, use: float) -> float:
    r"""Return the mean slowdown of flows at a link that two or more use together for a share of the time, a ratio.

    Parameters as of :func:`port_probs`.

    Notes
    -----
    By Little's law :math:`\sum_n nP(n)/\rho=1/((1-r)(1-r+\rho))`.

    Examples
    --------
    >>> [round(port_slowdown(0.5, use), 12) for use in (1.0, 0.8)]
    [2.0, 3.047619047619]
    """
    ratio = load / use
    return 1 / ((1 - ratio) * (1 - ratio + load))


def pool(fabric: FabricModel, layer: LinkLayer, *, path: str) -> float:
    """Return the rate that a flow finds in a layer in rates of a host: of one link, or of all when sprayed."""
    return layer.rate_bps / fabric.rate_bps * (layer.links if path == "sprayed" else 1)


def inner_load(fabric: FabricModel, layer: LinkLayer, *, load: float) -> float:
    """Return the load of a layer at a load of the links of hosts; refuse one above `MOST_LOAD`."""
    inner = load * fabric.load_ratio(layer)
    rule = f"above {MOST_LOAD:g} no run comes to a steady state: lower the load"
    require(inner <= MOST_LOAD, f"{layer.name} are asked for {inner:.2f} of what they carry: {rule}")
    return inner


def inner_link(fabric: FabricModel, layer: LinkLayer, *, load: float, path: str) -> tuple[float, float]:
    """Return what one link of a layer adds to the slowdown of a flow that crosses it, and how often one has to wait."""
    inner = inner_load(fabric, layer, load=load)
    shared = pool(fabric, layer, path=path)
    waits = float(erlang_c(shared * (1 + _others(load)), load=inner))
    return waits / (shared * (1 - inner)), waits


def inner_links(fabric: FabricModel, *, load: float, path: str, crossed: Sequence[LinkLayer] | None = None) -> float:
    """Return what inner links add to the mean slowdown: of all flows, or of those that cross some layers."""
    if crossed is None:
        return sum(2 * layer.share * inner_link(fabric, layer, load=load, path=path)[0] for layer in fabric.layers)
    return sum(2 * inner_link(fabric, layer, load=load, path=path)[0] for layer in crossed)


def host_links_slowdown(load: float, *, port_use: float = 1.0) -> float:
    """Return the mean slowdown of flows at the links of two hosts: the slower one counts, the other adds its share."""
    return 1 / (1 - load) + port_slowdown(load, port_use) - 1


def fair_share_slowdown(fabric: FabricModel, *, load: float, path: str = "sprayed", port_use: float = 1.0) -> float:
    r"""Return the mean slowdown D of flows that share all links of a fabric fairly, a ratio.

    Parameters
    ----------
    fabric : FabricModel
        The fabric.
    load : float
        Load ρ of the links of hosts, in [0, 1), with all that they carry.
    path : {"one", "sprayed"}
        Whether a flow has one path or uses all.
    port_use : float
        Share u of a receiver's port that two or more flows use together, above ρ and at most 1.

    Raises
    ------
    ParameterError
        If a layer of links has a load above `MOST_LOAD`.

    Notes
    -----
    .. math::
        D=\frac{1}{1-\rho}+\frac{1}{(1-\rho/u)(1-\rho/u+\rho)}-1+\sum_c\frac{2q_c\,C(m_c,\rho_c)}{p_c(1-\rho_c)}

    of which the first three terms are :math:`(1+\rho)/(1-\rho)` where u is 1. Poisson arrivals, random pairs; it
    depends on the sizes by their mean alone.

    References
    ----------
    Beyond the papers; Bonald and Proutière (2004).

    Examples
    --------
    >>> fabric = FabricModel.leaf_spine(leaves=4, hosts_per_leaf=4, spines=4, rate_bps=100e9, delay_s=1e-6)
    >>> [round(fair_share_slowdown(fabric, load=0.6, path=path), 2) for path in ("sprayed", "one")]
    [4.02, 4.79]
    """
    return host_links_slowdown(load, port_use=port_use) + inner_links(fabric, load=load, path=path)


def _others(load: float) -> float:
    return load / (1 - load)


__all__ = [
    "MOST_LOAD",
    "erlang_c",
    "fair_share_slowdown",
    "host_links_slowdown",
    "inner_link",
    "inner_links",
    "inner_load",
    "pool",
    "port_probs",
    "port_slowdown",
]
