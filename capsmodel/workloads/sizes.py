r"""Distribution of a size: a piecewise-linear distribution function with steps, and everything exact about it.

A distribution is a list of points :math:`(x_i,F_i)`. Between two points the mass :math:`p_i=F_{i+1}-F_i` is spread
evenly; two points of one size are a step: that much mass on that very size. This is the rule of the traffic generators
that the published tables come from (linear in the distribution function).

"Exact" is meant of the points as they are held, in doubles. Near 1 these are :math:`2^{-53}` apart, so that a mass
:math:`p` is known to :math:`2^{-53}/p`, and a moment that rests on it too: where 0.99999 is printed, a table's last
flows have a mass of :math:`10^{-5}(1\pm10^{-11})` (third moment of ``fb_memcached_cisco``: :math:`4\cdot10^{-12}`).

=====================  =================================  ====================  ===================
Quantity               Symbol                             Name                  Unit
=====================  =================================  ====================  ===================
distribution function  :math:`F(x)`                       ``cdf``               1
quantile               :math:`F^{-1}(q)`                  ``quantile``          size
share of flows         :math:`F(x)`                       ``flow_share_below``  1
share of bytes         :math:`\epsilon=E[X;X\le x]/E[X]`  ``byte_share_below``  1, repflow u (IV-B)
partial expectation    :math:`E[g(X);a<X\le b]`           ``expectation``       of g
=====================  =================================  ====================  ===================
"""

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Literal, Self, overload

import numpy as np
import numpy.typing as npt
from numpy.typing import ArrayLike

from capsmodel.checks import (
    SUM_TOLERANCE,
    FloatArray,
    FloatOrArray,
    IntArray,
    Rng,
    as_floats,
    closed_form,
    generator,
    non_negative,
    plain,
    probability,
    require,
)

# 16 nodes integrate a function like 1/x over one octave to rounding (error 6**-32).
_NODES, _WEIGHTS = np.polynomial.legendre.leggauss(16)

# A panel that starts at 0 is cut into this many octaves; the rest, below 1e-6 of it, is one panel.
_OCTAVES_ABOVE_ZERO = 20


@dataclass(frozen=True, eq=False)
class SizeDistribution:
    """A distribution of flow sizes in an unnamed unit.

    Use :class:`capsmodel.workloads.catalogue.FlowSizes` for bytes, :class:`capsmodel.workloads.catalogue.PacketSizes`
    for packets.

    Parameters
    ----------
    sizes : array_like
        Sizes x_i, at least 0, never falling; the last above 0.
    cdf_values : array_like
        F at these sizes, in [0, 1], never falling, ending in 1; a sum that misses 1 by rounding, at most 1e-12, becomes
        1. A first value above 0 is mass on the first size.
    name : str, optional
        Name for messages and tables.

    Raises
    ------
    ParameterError
        If the points are no distribution function of sizes.
    """

    sizes: FloatArray
    cdf_values: FloatArray
    name: str = field(default="", kw_only=True)

    def __post_init__(self) -> None:
        sizes = np.atleast_1d(non_negative("sizes", self.sizes))
        values = np.atleast_1d(_ending_at_one(self.cdf_values))
        require(sizes.ndim == 1 and sizes.shape == values.shape, "sizes and cdf_values must be two lists of one length")
        require(sizes.size > 0, "sizes is empty: give at least one point")
        require(np.diff(sizes) >= 0, "sizes falls somewhere, but points are listed by increasing size")
        require(np.diff(values) >= 0, "cdf_values falls somewhere, but a distribution function never falls")
        require(values[-1] == 1, f"cdf_values ends at {values[-1]:.15g}, but it must end at 1")
        require(sizes[-1] > 0, "all sizes are 0, but a flow carries at least some data")
        if values[0] > 0:
            sizes, values = np.concatenate([sizes[:1], sizes]), np.concatenate([[0.0], values])
        for attribute, array in (("sizes", sizes.copy()), ("cdf_values", values.copy())):
            array.setflags(write=False)
            object.__setattr__(self, attribute, array)

    @classmethod
    def fixed(cls, size: float) -> Self:
        """Return the distribution of flows that all have `size`.

        Examples
        --------
        >>> SizeDistribution.fixed(70_000).quantile(0.5)
        70000.0
        """
        return cls(np.array([size, size]), np.array([0.0, 1.0]), name=f"fixed {size:g}")

    @classmethod
    def uniform(cls, low: float, high: float) -> Self:
        """Return the distribution of flows spread evenly from `low` to `high`.

        Examples
        --------
        >>> SizeDistribution.uniform(15_000, 100_000).quantile(0.5)
        57500.0
        """
        return cls(np.array([low, high]), np.array([0.0, 1.0]), name=f"uniform {low:g} to {high:g}")

    @classmethod
    def measured(cls, sizes: ArrayLike, *, name: str = "measured") -> Self:
        r"""Return the distribution of a sample: each of n measured sizes has probability 1/n, other sizes none.

        Parameters
        ----------
        sizes : array_like
            Measured sizes in any order, at least one, at least 0, the largest above 0.
        name : str
            Name for messages and tables.

        Raises
        ------
        ParameterError
            If there is no size, or one is negative or infinite.

        Notes
        -----
        :math:`F(x)=\#\{i:x_i\le x\}/n`, a step at every size. Lines between the sorted sizes would spread the mass of
        each down to the next smaller one, and make the mean short by :math:`(x_{(n)}-x_{(1)})/(2n)`.

        Examples
        --------
        >>> sizes = SizeDistribution.measured([5_000, 1_000, 1_000, 20_000])
        >>> sizes.cdf([1_000, 4_999, 5_000]).tolist(), sizes.quantile([0.5, 0.51]).tolist()
        ([0.5, 0.5, 0.75], [1000.0, 5000.0])
        """
        values, counts = np.unique(non_negative("sizes", sizes), return_counts=True)
        require(values.size > 0, "sizes is empty: give at least one measured size")
        return cls.steps(values, np.cumsum(counts) / counts.sum(), name=name)

    @classmethod
    def steps(cls, sizes: ArrayLike, cdf_values: ArrayLike, *, name: str = "steps") -> Self:
        """Return the distribution whose F is a step function: a size has what F rises by there, others have nothing.

        Parameters
        ----------
        sizes, cdf_values : array_like
            As of the class, each size with F from it on.
        name : str
            Name for messages and tables.

        Raises
        ------
        ParameterError
            If the points are no distribution function of sizes.

        Examples
        --------
        >>> sizes = SizeDistribution.steps([1_000, 5_000, 20_000], [0.5, 0.75, 1])
        >>> sizes.cdf([1_000, 4_999, 5_000]).tolist(), sizes.quantile([0.5, 0.51]).tolist()
        ([0.5, 0.5, 0.75], [1000.0, 5000.0])
        """
        given = cls(as_floats("sizes", sizes), as_floats("cdf_values", cdf_values))
        before = np.concatenate([[0.0], given.cdf_values[:-1]])
        return cls(np.repeat(given.sizes, 2), np.stack([before, given.cdf_values], axis=1).ravel(), name=name)

    @classmethod
    def mixture(cls, parts: Sequence[Self], *, shares: Sequence[float], by: Literal["flows", "data"] = "flows") -> Self:
        """Return a mixture of distributions.

        Parameters
        ----------
        parts : sequence
            Distributions of this class.
        shares : sequence of float
            Share of each part, at least 0; scaled to sum to 1.
        by : {"flows", "data"}
            Whether a share counts flows or bytes. "Half web search, half data mining" differs a lot: with equal
            shares of the data there are 4.5 web-search flows for each data-mining flow.

        Raises
        ------
        ParameterError
            If the shares do not match the parts or are all 0.

        Examples
        --------
        >>> short, long = SizeDistribution.fixed(10_000), SizeDistribution.fixed(1_000_000)
        >>> SizeDistribution.mixture([short, long], shares=[0.9, 0.1]).cdf(10_000)
        0.9
        """
        weights = np.atleast_1d(non_negative("shares", shares))
        require(len(parts) == weights.size > 0, f"{weights.size} shares for {len(parts)} parts: give one for each")
        if by == "data":
            weights = weights / [part._mean for part in parts]
        require(weights.sum() > 0, "shares are all 0: at least one must be above 0")
        weights = weights / weights.sum()
        at = np.unique(np.concatenate([part.sizes for part in parts]))
        before = sum(w * part._cdf_before(at) for w, part in zip(weights, parts, strict=True))
        upto = sum(w * part._cdf(at) for w, part in zip(weights, parts, strict=True))
        values = np.column_stack([before, upto]).ravel()
        name = " + ".join(part.name for part in parts)
        return cls(np.repeat(at, 2), np.maximum.accumulate(values), name=name)

    @cached_property
    def _masses(self) -> FloatArray:
        return np.diff(self.cdf_values)

    def _moment_below(self, x: FloatArray, order: int) -> FloatArray:
        """E[X**order; X <= x], by adding the positive terms of (b**(m+1) - a**(m+1))/((m+1)(b-a))."""
        low, high = self.sizes[:-1], self.sizes[1:]
        whole = self._masses * _power_mean(low, high, order)
        sums = np.concatenate([[0.0], np.cumsum(whole)])
        last = np.searchsorted(self.sizes, x, side="right") - 1
        inside = np.clip(last, 0, low.size - 1)
        start, width = low[inside], high[inside] - low[inside]
        along = (x - start) / np.where(width > 0, width, 1.0)
        partial = self._masses[inside] * along * _power_mean(start, np.maximum(x, start), order)
        result: FloatArray = np.where(last < 0, 0.0, sums[np.maximum(last, 0)])
        return result + np.where((last >= 0) & (last < low.size), partial, 0.0)

    def _moment(self, order: int) -> float:
        return float(np.sum(self._masses * _power_mean(self.sizes[:-1], self.sizes[1:], order)))

    def mean_of_whole(self) -> float:
        r"""Return the mean of the sizes that :meth:`sample` draws with ``whole=True``: each rounded up, at least 1.

        Notes
        -----
        :math:`E[\lceil X\rceil]` of a part spread from a to b is :math:`(G(b)-G(a))/(b-a)` with
        :math:`G(x)=\int_0^x\lceil t\rceil dt=n(n+1)/2+(x-n)(n+1)` and :math:`n=\lfloor x\rfloor`.

        Examples
        --------
        >>> SizeDistribution([1, 2], [0.5, 1]).mean_of_whole()  # half on 1, half on 2; unrounded 1.25
        1.5
        """
        low, high = self.sizes[:-1], self.sizes[1:]
        width = high - low
        spread = (_ceiling_integral(high) - _ceiling_integral(low)) / np.where(width > 0, width, 1.0)
        return float(self._masses @ np.where(width > 0, spread, np.maximum(np.ceil(low), 1.0)))

    @property
    def _mean(self) -> float:
        return self._moment(1)

    def _cdf(self, x: FloatArray) -> FloatArray:
        return np.minimum(self._interpolated(x, "right"), 1.0)

    def _cdf_before(self, x: FloatArray) -> FloatArray:
        """Left limit of F: without the mass on x itself."""
        return self._interpolated(x, "left")

    def _interpolated(self, x: FloatArray, side: Literal["left", "right"]) -> FloatArray:
        after = np.searchsorted(self.sizes, x, side=side)
        low = np.clip(after - 1, 0, self.sizes.size - 1)
        high = np.clip(after, 0, self.sizes.size - 1)
        width = self.sizes[high] - self.sizes[low]
        along = np.clip((x - self.sizes[low]) / np.where(width > 0, width, 1.0), 0.0, 1.0)
        values = self.cdf_values[low] + along * (self.cdf_values[high] - self.cdf_values[low])
        return np.where(after == 0, 0.0, values)

    @overload
    def cdf(self, x: float) -> float: ...
    @overload
    def cdf(self, x: ArrayLike) -> FloatArray: ...
    @closed_form
    def cdf(self, x: ArrayLike) -> FloatOrArray:
        """Return F(x), the share of flows of at most `x`; steps belong to it.

        Examples
        --------
        >>> SizeDistribution.uniform(0, 100).cdf([25, 200]).tolist()
        [0.25, 1.0]
        """
        return plain(self._cdf(as_floats("x", x)))

    @overload
    def quantile(self, q: float) -> float: ...
    @overload
    def quantile(self, q: ArrayLike) -> FloatArray: ...
    @closed_form
    def quantile(self, q: ArrayLike) -> FloatOrArray:
        """Return the smallest size x with F(x) >= q, for q in [0, 1]; at q = 0 the lower end of the distribution.

        Examples
        --------
        >>> SizeDistribution.uniform(0, 100).quantile(0.99)
        99.0
        """
        probs = probability("q", q, one=True)
        lower_end = int(np.searchsorted(self.cdf_values, 0.0, side="right"))
        high = np.maximum(np.searchsorted(self.cdf_values, probs, side="left"), lower_end)
        along = (probs - self.cdf_values[high - 1]) / (self.cdf_values[high] - self.cdf_values[high - 1])
        low_size, high_size = self.sizes[high - 1], self.sizes[high]
        return plain(np.where(along >= 1, high_size, low_size + along * (high_size - low_size)))

    @overload
    def flow_share_below(self, x: float) -> float: ...
    @overload
    def flow_share_below(self, x: ArrayLike) -> FloatArray: ...
    @closed_form
    def flow_share_below(self, x: ArrayLike) -> FloatOrArray:
        """Return the share of flows of at most `x`; above it is the rest.

        Examples
        --------
        >>> SizeDistribution.uniform(0, 100).flow_share_below(40)
        0.4
        """
        return self.cdf(x)

    @overload
    def byte_share_below(self, x: float) -> float: ...
    @overload
    def byte_share_below(self, x: ArrayLike) -> FloatArray: ...
    @closed_form
    def byte_share_below(self, x: ArrayLike) -> FloatOrArray:
        r"""Return the share of the data that flows of at most `x` carry, ε of RepFlow when x is its threshold.

        Notes
        -----
        :math:`\epsilon=E[X;X\le x]/E[X]`; above `x` is the rest.

        References
        ----------
        repflow u (IV-B) short-flow byte share.

        Examples
        --------
        >>> SizeDistribution.uniform(0, 100).byte_share_below(50)
        0.25
        """
        return plain(np.minimum(self._moment_below(as_floats("x", x), 1) / self._mean, 1.0))

    def expectation(
        self,
        function: Callable[[FloatArray], FloatArray],
        *,
        above: float = -1.0,
        upto: float = np.inf,
        breaks: Iterable[float] = (),
    ) -> float:
        r"""Return :math:`E[g(X);\,\text{above}<X\le\text{upto}]`, right to rounding for a smooth g.

        Parameters
        ----------
        function : callable
            g, elementwise on an array of sizes; analytic between breaks, with no singularity on the interval itself.
        above, upto : float
            Ends of the interval, in the unit of the sizes; the left end is excluded, so that neighbours add up.
        breaks : iterable of float
            Sizes at which g jumps or bends.

        Returns
        -------
        float
            The partial expectation; divide by the share of flows there for the conditional one.

        Notes
        -----
        Gauss-Legendre panels of 16 nodes, each at most an octave wide and ending at every point and break; steps of
        the distribution are summed as they are.

        Examples
        --------
        >>> round(SizeDistribution.uniform(1, 3).expectation(lambda x: 1 / x), 12)  # ln(3)/2
        0.549306144334
        """
        low, high, mass = self.sizes[:-1], self.sizes[1:], self._masses
        atoms = (low == high) & (mass > 0) & (low > above) & (low <= upto)
        spread = (high > low) & (mass > 0) & (high > above) & (low < upto)
        total = float(np.sum(mass[atoms] * function(low[atoms]))) if atoms.any() else 0.0
        if spread.any():
            total += self._panels(function, spread, above=above, upto=upto, breaks=breaks)
        return total

    def _panels(
        self,
        function: Callable[[FloatArray], FloatArray],
        spread: npt.NDArray[np.bool_],
        *,
        above: float,
        upto: float,
        breaks: Iterable[float],
    ) -> float:
        low, high = self.sizes[:-1][spread], self.sizes[1:][spread]
        density = self._masses[spread] / (high - low)
        first, last = max(float(low[0]), above), min(float(high[-1]), upto)
        cuts = np.concatenate([low, high, np.fromiter(breaks, np.float64), [first, last]])
        cuts = cuts[(cuts >= first) & (cuts <= last)]
        least = first if first > 0 else float(np.min(cuts[cuts > 0])) * 2.0**-_OCTAVES_ABOVE_ZERO
        octaves = least * 2.0 ** np.arange(int(np.ceil(np.log2(last / least))))
        edges = np.unique(np.concatenate([cuts, octaves]))
        middle, half = (edges[1:] + edges[:-1]) / 2, (edges[1:] - edges[:-1]) / 2
        segment = np.searchsorted(low, middle, side="right") - 1
        inside = middle < high[segment]
        nodes = middle[inside, np.newaxis] + half[inside, np.newaxis] * _NODES
        return float(np.sum(density[segment[inside]] * half[inside] * (function(nodes) @ _WEIGHTS)))

    @overload
    def sample(self, count: int, *, rng: Rng = ..., whole: Literal[False] = ...) -> FloatArray: ...
    @overload
    def sample(self, count: int, *, rng: Rng = ..., whole: Literal[True]) -> IntArray: ...
    def sample(self, count: int, *, rng: Rng = None, whole: bool = False) -> FloatArray | IntArray:
        """Draw `count` independent sizes by inversion: one uniform number each, in order.

        Parameters
        ----------
        count : int
            How many.
        rng : Generator or int, optional
            Source of randomness, or a seed.
        whole : bool
            Round each size up to a whole number of at least 1 (int64); otherwise sizes are real (float64).

        Examples
        --------
        >>> SizeDistribution.uniform(0, 3).sample(4, rng=1, whole=True).tolist()
        [2, 3, 1, 3]
        """
        sizes = np.asarray(self.quantile(generator(rng).random(count)))
        return np.maximum(np.ceil(sizes), 1).astype(np.int64) if whole else sizes

    def sample_residual(self, count: int, *, rng: Rng = None) -> tuple[IntArray, IntArray]:
        r"""Draw what is left of `count` flows in progress at a moment of the steady state, and their whole sizes.

        Parameters
        ----------
        count : int
            How many.
        rng : Generator or int, optional
            Source of randomness, or a seed.

        Returns
        -------
        left, whole : ndarray of int64
            In the unit of the sizes, rounded up, at least 1.

        Notes
        -----
        A flow is met in progress with a probability in proportion to its size, and at a uniform place within it: whole
        sizes have the density :math:`xf(x)/E[X]`, and what is left is uniform below. This is exact for an M/G/1 queue
        that shares its rate among its flows (processor sharing; Kleinrock, Queueing Systems II, 1976, section 4.4), and
        for flows that do not meet (M/G/∞). A part of the distribution spread from a to b is drawn by
        :math:`\sqrt{a^2+u(b^2-a^2)}`.

        Examples
        --------
        >>> left, whole = SizeDistribution.fixed(100).sample_residual(3, rng=1)
        >>> left.tolist(), whole.tolist()
        ([83, 41, 55], [100, 100, 100])
        """
        source = generator(rng)
        low, high = self.sizes[:-1], self.sizes[1:]
        shares = self._masses * (low + high)
        part = source.choice(len(shares), count, p=shares / shares.sum())
        squares = low[part] ** 2 + source.random(count) * (high[part] ** 2 - low[part] ** 2)
        whole = np.maximum(np.ceil(np.sqrt(squares)), 1)
        left = np.maximum(np.ceil(whole * source.random(count)), 1)
        return left.astype(np.int64), whole.astype(np.int64)


def _ending_at_one(cdf_values: ArrayLike) -> FloatArray:
    """Return the values of a distribution function that ends at 1: what rounding left at its end is made 1."""
    values = as_floats("cdf_values", cdf_values)
    if values.size and abs(values.flat[-1] - 1) <= SUM_TOLERANCE:
        rounded = (values >= min(values.flat[-1], 1.0)) & (values <= 1 + SUM_TOLERANCE)
        values = np.where(rounded, 1.0, values)
    return probability("cdf_values", values, one=True)


def _ceiling_integral(x: FloatArray) -> FloatArray:
    """Return the integral from 0 to x of what t is rounded up to."""
    below = np.floor(x)
    integral: FloatArray = below * (below + 1) / 2 + (x - below) * (below + 1)
    return integral


def _power_mean(low: FloatArray, high: FloatArray, order: int) -> FloatArray:
    """Mean of x**order over [low, high]; low**order where they coincide."""
    total = sum((low**i * high ** (order - i) for i in range(order + 1)), np.zeros_like(low))
    return total / (order + 1)
