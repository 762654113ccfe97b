r"""Published flow-size distributions, with their sources and cautions, by name.

The points lie in ``data/workloads/*.csv``, where they come from in ``data/workloads/index.toml`` and its README; what
one can ask of a distribution (distribution function, quantile, shares, expectations, samples) in
:mod:`capsmodel.workloads.sizes`.

====================  ======================  =============================  ============  ===============
Quantity              Symbol                  Name                           Unit          Equation
====================  ======================  =============================  ============  ===============
flow sizes            :math:`F(x)`            :func:`load_workload`          byte          repflow u (V-A)
mean size             :math:`E[X]`            ``mean_bytes``                 byte
second, third moment  :math:`E[X^2], E[X^3]`  ``second_moment_bytes2``, ...  byte², byte³
arrival rate          :math:`\rho C/(8E[X])`  ``arrival_rate_per_s``         1/s
provenance                                    :func:`workload_source`
names                                         :func:`workload_names`
====================  ======================  =============================  ============  ===============
"""

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from reprlib import repr as shortened
from typing import Any, overload

import numpy as np
from numpy.typing import ArrayLike

from capsmodel.checks import (
    FloatArray,
    FloatOrArray,
    ParameterError,
    closed_form,
    did_you_mean,
    non_negative,
    one_number,
    positive,
    require,
)
from capsmodel.datafiles import data_path
from capsmodel.metrics import arrival_rate_per_s
from capsmodel.text_tables import read_toml
from capsmodel.workloads.sizes import SizeDistribution

# Whole packets are kept as one step of the distribution each; 5 million are 80 MB.
_MOST_PACKETS = 5_000_000


class PacketSizes(SizeDistribution):
    """Flow sizes in packets, as the flow-completion-time formulas take them.

    Examples
    --------
    >>> PacketSizes.fixed(10).mean_packets
    10.0
    """

    @property
    def mean_packets(self) -> float:
        """Mean, in packets."""
        return self._moment(1)

    @property
    def second_moment_packets2(self) -> float:
        """Second moment, in packets²."""
        return self._moment(2)

    @property
    def third_moment_packets3(self) -> float:
        """Third moment, in packets³."""
        return self._moment(3)


def packet_sizes(sizes: PacketSizes) -> PacketSizes:
    """Return `sizes`, or raise :class:`ParameterError` if they are not in packets (bytes look just the same).

    Examples
    --------
    >>> packet_sizes(PacketSizes.fixed(10)).mean_packets
    10.0
    """
    require(
        isinstance(sizes, PacketSizes),
        f"sizes is a {type(sizes).__name__}, but it must be in packets: call sizes.in_packets(1500)",
    )
    return sizes


class FlowSizes(SizeDistribution):
    """Flow sizes in bytes of payload.

    Examples
    --------
    >>> sizes = FlowSizes([0, 100_000, 1_000_000], [0, 0.5, 1])
    >>> sizes.mean_bytes, round(sizes.byte_share_below(100_000), 6)
    (300000.0, 0.083333)
    """

    @property
    def mean_bytes(self) -> float:
        """Mean, in bytes."""
        return self._moment(1)

    @property
    def second_moment_bytes2(self) -> float:
        """Second moment, in bytes²."""
        return self._moment(2)

    @property
    def third_moment_bytes3(self) -> float:
        """Third moment, in bytes³."""
        return self._moment(3)

    def in_packets(self, mss_bytes: float, *, whole: bool = False) -> PacketSizes:
        """Return the same distribution in packets of `mss_bytes` payload.

        Parameters
        ----------
        mss_bytes : float
            Payload of a full packet, in bytes, above 0.
        whole : bool
            Round each flow up to whole packets (an atom on every packet count); otherwise sizes are divided.

        Raises
        ------
        ParameterError
            If `mss_bytes` is not above 0, or whole packets would make more than 5 million atoms.

        Examples
        --------
        >>> FlowSizes.uniform(0, 3000).in_packets(1500).mean_packets
        1.0
        >>> FlowSizes.uniform(0, 3000).in_packets(1500, whole=True).mean_packets
        1.5
        """
        mss = one_number(positive, "mss_bytes", mss_bytes)
        if not whole:
            return PacketSizes(self.sizes / mss, self.cdf_values, name=self.name)
        last = int(max(np.ceil(self.sizes[-1] / mss), 1))
        least = f"{self.sizes[-1] / _MOST_PACKETS:g}"
        require(last <= _MOST_PACKETS, f"mss_bytes = {mss:g}, but that makes {last} packets: give at least {least}")
        packets = np.arange(1, last + 1)
        upto = self._cdf(np.minimum(packets * mss, self.sizes[-1]))
        steps = np.column_stack([np.concatenate([[0.0], upto[:-1]]), upto]).ravel()
        return PacketSizes(np.repeat(packets.astype(np.float64), 2), steps, name=self.name)

    @overload
    def arrival_rate_per_s(
        self, load: float, *, rate_bps: float, mss_bytes: float = ..., header_bytes: float = ...
    ) -> float: ...
    @overload
    def arrival_rate_per_s(
        self, load: ArrayLike, *, rate_bps: ArrayLike, mss_bytes: float = ..., header_bytes: float = ...
    ) -> FloatArray: ...
    @closed_form
    def arrival_rate_per_s(
        self, load: ArrayLike, *, rate_bps: ArrayLike, mss_bytes: float = 1460, header_bytes: float = 0
    ) -> FloatOrArray:
        r"""Return the flow arrivals per second that offer `load` to a link.

        Parameters
        ----------
        load : array_like
            Load ρ, at least 0: offered bits over capacity. Which link is the caller's to say.
        rate_bps : array_like
            Capacity C, in bits per second, above 0.
        mss_bytes : float
            Payload of a packet, in bytes; matters only with headers.
        header_bytes : float
            Header and framing of a packet that count as load, in bytes; 0 counts payload alone.

        Returns
        -------
        float or ndarray
            Arrivals per second, of the broadcast shape; a float for scalars.

        Raises
        ------
        ParameterError
            If an argument leaves its range.

        Notes
        -----
        :math:`\lambda=\dfrac{\rho C}{8E[X](1+h/\mathrm{mss})}`. Public generators differ in h: 0 (HPCC),
        40 on 1460 (PIAS), 90 on 1448 (TrafficGenerator); a last, short packet is charged by its payload, as they do.

        Examples
        --------
        >>> FlowSizes.fixed(1_250_000).arrival_rate_per_s(0.8, rate_bps=10e9)
        800.0
        """
        per_byte = 1 + non_negative("header_bytes", header_bytes) / positive("mss_bytes", mss_bytes)
        return arrival_rate_per_s(load, mean_bytes=self.mean_bytes * per_byte, rate_bps=rate_bps)


@dataclass(frozen=True)
class WorkloadSource:
    """Where a distribution comes from.

    Parameters
    ----------
    name, title : str
        Name in the toolkit and description.
    source, path, snapshot : str
        Public repository, file in it, and year and month of the commit that was read.
    unit : str
        Unit of the source file, "bytes" or "packets".
    mss_bytes : int or None
        Bytes that a packet of the source was taken for; None if the source counts bytes.
    mean_published_bytes : float or None
        Mean that the source itself states, in bytes; None if it states none.
    caution : str
        What to know before using it.
    """

    name: str
    title: str
    source: str
    path: str
    snapshot: str
    unit: str
    caution: str
    mss_bytes: int | None = None
    mean_published_bytes: float | None = None


@cache
def _index() -> Mapping[str, Any]:
    """Return the index, which is read once: an experiment asks for its sizes in each of some thousand runs."""
    return read_toml(data_path("workloads/index.toml"))[1]


def workload_names() -> tuple[str, ...]:
    """Return the names of all distributions, without the aliases, in the order of the index.

    Examples
    --------
    >>> len(workload_names()), workload_names()[0]
    (21, 'websearch_dctcp')
    """
    return tuple(_index()["workload"])


def workload_source(name: str) -> WorkloadSource:
    """Return where distribution `name` (or an alias) comes from and its cautions.

    Parameters
    ----------
    name : str
        One of :func:`workload_names`, or the alias ``"websearch"`` (``websearch_dctcp``, bytes) or ``"datamining"``
        (``datamining_pfabric_pkts``, the packet table: the only kind that fits the 35 MB and 7.4 MB of the papers).

    Raises
    ------
    ParameterError
        If there is no such distribution; the message names the nearest ones.

    Examples
    --------
    >>> workload_source("datamining").name
    'datamining_pfabric_pkts'
    """
    require(isinstance(name, str), f"workload is a {type(name).__name__}, but it must be a name, as in 'websearch'")
    index = _index()
    full_name = index["aliases"].get(name, name)
    if full_name not in index["workload"]:
        known = [*index["workload"], *index["aliases"]]
        advice = did_you_mean(name, known, otherwise="capsmodel workloads lists all")
        raise ParameterError(f"workload {shortened(name)} is not known: {advice}")
    return WorkloadSource(name=full_name, **index["workload"][full_name])


def load_workload(name: str) -> FlowSizes:
    """Return the flow-size distribution `name`, in bytes.

    Parameters
    ----------
    name : str
        One of :func:`workload_names`, or an alias, see :func:`workload_source`.

    Returns
    -------
    FlowSizes
        The distribution, linear between the published points.

    Raises
    ------
    ParameterError
        If there is no such distribution; the message names the nearest ones.

    Notes
    -----
    Tables in packets were turned into bytes with the 1460 B of their own simulator. No paper prints its
    table; these are the public ones that fit what the papers state.

    References
    ----------
    caps u (IX) workloads; repflow u (V-A) workloads; cdcps u (VI-C) workloads.

    Examples
    --------
    Web search: over 95% of the bytes in the 30% of flows above 1 MB (repflow V-A).

    >>> sizes = load_workload("websearch")
    >>> round(sizes.mean_bytes), round(1 - sizes.byte_share_below(1e6), 4)
    (1711250, 0.9496)
    """
    return _read(workload_source(name).name)


@cache
def _read(name: str) -> FlowSizes:
    points = np.loadtxt(data_path(f"workloads/{name}.csv"), delimiter=",", skiprows=1, usecols=(0, 1))
    return FlowSizes(points[:, 0], points[:, 1], name=name)
