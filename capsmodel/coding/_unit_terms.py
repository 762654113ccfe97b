"""Formulas of the search for the best coding unit that hold for floats as for arrays; derived in `_unit_search`."""

from capsmodel.coding._binomial_terms import Real

RESTART = 64
"""Steps of k after which the recurrence starts anew, so that rounding does not add up."""


def next_k_factor(mass: Real, k: Real | float, r: Real) -> Real:
    """Return f_k(r) (k + r)/k, the factor that f and U of k + 1 share."""
    return mass * ((k + r) / k)


def next_mass(mass: Real, prob: Real, k: Real | float, r: Real) -> Real:
    """Return f(r + 1) from f(r)."""
    return mass * prob * (k + r) / (r + 1)


def last_mass(mass: Real, prob: Real, k: Real | float, r: Real) -> Real:
    """Return f(r - 1) from f(r), r > 0."""
    return mass * r / (prob * (k + r - 1))


def buffered_s(short_s: Real, packet_s: Real, k: Real | float) -> Real:
    """Return the delay of a window whose units all decode: RTT_S and the wait for a unit to be complete."""
    return short_s + (k - 1) * packet_s / 2
