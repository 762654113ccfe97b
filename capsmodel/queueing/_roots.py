r"""Roots between two ends, and what the decay rate of a wait needs of the exponential function.

==========================  =================  ==========================  ====  =================
Quantity                    Symbol             Name                        Unit  Equation
==========================  =================  ==========================  ====  =================
root of a function                             :func:`bracketed_root`      of x  Chandrupatla 1997
rest of the exponential     :math:`e^x-1-x`    :func:`exp_remainder`       1
its logarithm                                  :func:`log_exp_remainder`   1
==========================  =================  ==========================  ====  =================

The tail of a wait falls as :math:`e^{-\theta t}`, where :math:`\theta` solves :math:`\theta=\lambda(E[e^{\theta
S}]-1)` (Lundberg). Near load 1 both sides agree in almost all their digits. Without the part :math:`\rho\theta` that
they have in common,

.. math:: (1-\rho)\,\theta=\lambda\,E\left[e^{\theta S}-1-\theta S\right],

no digit is lost.
"""

import math
from collections.abc import Callable

import numpy as np
from numpy.polynomial.polynomial import polyval

from capsmodel.checks import FloatArray

__all__ = ["bracketed_root", "exp_remainder", "log_exp_remainder"]

_EPSILON = float(np.finfo(np.float64).eps)
_MOST_STEPS = 2000  # more than halving from the largest float64 to the smallest takes

_SERIES = [1 / math.factorial(power) for power in range(2, 21)]  # the first left out is 1/21! = 2e-20
_NO_SUM = 500.0  # beyond, 1 + x is nothing beside exp(x), which overflows at 709


def exp_remainder(x: FloatArray) -> FloatArray:
    r"""Return :math:`e^x-1-x` with all its digits, also near 0.

    Examples
    --------
    >>> float(exp_remainder(np.array(1e-9)))
    5.000000001666667e-19
    """
    near = np.abs(x) < 1
    small = np.where(near, x, 0.0)
    return np.where(near, small**2 * polyval(small, _SERIES), np.expm1(x) - x)


def log_exp_remainder(x: FloatArray) -> FloatArray:
    r"""Return :math:`\ln(e^x-1-x)` for x above 0, also where the exponential function overflows.

    Examples
    --------
    >>> log_exp_remainder(np.array([1.0, 1000.0])).round(6).tolist()
    [-0.330893, 1000.0]
    """
    return np.where(x > _NO_SUM, x, np.log(exp_remainder(np.minimum(x, _NO_SUM))))


def bracketed_root(
    function: Callable[[FloatArray], FloatArray], low: FloatArray, high: FloatArray, *, scale: float = 0.0
) -> FloatArray:
    """Return where a function of arrays is 0, element by element, down to rounding.

    Parameters
    ----------
    function : callable
        Elementwise function of an array of the shape of `low`, with different signs at `low` and at `high`.
    low, high : ndarray
        Ends, of one shape.
    scale : float
        Size below which a root need not be more precise than at that size.

    Notes
    -----
    Chandrupatla's method: inverse quadratic interpolation where three values allow it, bisection elsewhere.

    References
    ----------
    T. R. Chandrupatla. A new hybrid quadratic/bisection algorithm for finding the zero of a nonlinear function without
    using derivatives. Advances in Engineering Software 28(3), pp. 145-149, 1997.

    Examples
    --------
    >>> bracketed_root(lambda x: x**2 - 2, np.array([0.0]), np.array([2.0])).round(15).tolist()
    [1.414213562373095]
    """
    new, old = np.array(high, np.float64), np.array(low, np.float64)
    at_new, at_old = function(new), function(old)
    before, at_before = old.copy(), at_old.copy()
    part = np.full(new.shape, 0.5)
    for _ in range(_MOST_STEPS):
        allowed = 2 * _EPSILON * np.maximum(np.where(np.abs(at_new) < np.abs(at_old), np.abs(new), np.abs(old)), scale)
        length = np.abs(old - new)
        is_open = (length > 2 * allowed) & (at_new != 0) & (at_old != 0)
        if not is_open.any():
            break
        least = allowed / np.where(is_open, length, 1.0)
        tried = np.where(is_open, new + np.clip(part, least, 1 - least) * (old - new), new)
        at_tried = np.where(is_open, function(tried), at_new)
        same = np.sign(at_tried) == np.sign(at_new)
        before, at_before = np.where(same, new, old), np.where(same, at_new, at_old)
        old, at_old = np.where(same, old, new), np.where(same, at_old, at_new)
        new, at_new = tried, at_tried
        part = _next_part(new, old, before, at_new, at_old, at_before)
    return np.where(np.abs(at_new) < np.abs(at_old), new, old)


def _next_part(
    new: FloatArray, old: FloatArray, before: FloatArray, at_new: FloatArray, at_old: FloatArray, at_before: FloatArray
) -> FloatArray:
    """Return which part of the way from the newest point to the other end is tried next."""
    with np.errstate(all="ignore"):
        along = (new - old) / (before - old)
        share = (at_new - at_old) / (at_before - at_old)
        curved = (share**2 < along) & ((1 - share) ** 2 < 1 - along)
        first = at_new / (at_old - at_new) * at_before / (at_old - at_before)
        second = (before - new) / (old - new) * at_new / (at_before - at_new) * at_old / (at_before - at_old)
        root = first + second
    return np.where(curved & np.isfinite(root), root, 0.5)
