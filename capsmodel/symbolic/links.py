"""Flow alone on its path, flows that share links, and packets that draw their queue, as derivations of no paper.

=============================== ===== ====================================== =============
Quantity                        Name                                         Unit
=============================== ===== ====================================== =============
least completion time           FCT   `derive_store_and_forward`             s
mean slowdown of shared links   s     `derive_fair_share`                    1
wait at the shortest of d       W     `derive_drawn_queues`                  service times
=============================== ===== ====================================== =============
"""

import sympy as sp

from capsmodel.symbolic.forms import Derivation, Step, same, telescoping
from capsmodel.symbolic.queueing import rho

X, h, i, j = sp.symbols("X h i j", integer=True, positive=True)
tau, delay, drawn = sp.symbols("tau d d", positive=True)
n, level = sp.symbols("n i", integer=True, nonnegative=True)

FOUR_LINKS = X * tau + 3 * tau + 4 * delay
TWO_LINKS = (1 + rho) / (1 - rho)
QUEUE_TAIL = rho ** ((drawn**level - 1) / (drawn - 1))


def derive_store_and_forward() -> Derivation:
    """Derive the completion time of a flow that is alone on links of one rate.

    Returns
    -------
    Derivation
        From the moment at which packet i has left link j to X τ + 3 τ + 4 d over four links.

    References
    ----------
    Beyond the papers: store and forward, as in any textbook on networks.

    Examples
    --------
    >>> print(derive_store_and_forward().result)
    Eq(FCT, X*tau + 4*d + 3*tau)
    """
    left = sp.Function("t")
    solved = (i + j - 1) * tau + (j - 1) * delay
    there, free = solved.subs(j, j - 1) + delay, solved.subs(i, i - 1)
    fct, last = sp.Symbol("FCT"), (X + h - 1) * tau + h * delay
    return Derivation(
        "store_and_forward",
        "",
        (),
        (
            Step(
                "Packet i leaves link j when it is there, packet i - 1 has left, and it is sent",
                sp.Eq(left(i, j), sp.Max(left(i, j - 1) + delay, left(i - 1, j)) + tau),
            ),
            Step(
                "The first two come at the same moment, so that no packet waits",
                sp.Eq(left(i, j), solved),
                (same(there, free), same(free + tau, solved), same(solved.subs(j, 1), i * tau)),
            ),
            Step(
                "The last of X packets has crossed the last of h links",
                sp.Eq(fct, last),
                (same(solved.subs({i: X, j: h}) + delay, last),),
            ),
            Step("Four links", sp.Eq(fct, FOUR_LINKS), (same(last.subs(h, 4), FOUR_LINKS),)),
        ),
    )


def derive_fair_share() -> Derivation:
    """Derive the mean slowdown of flows that share the links of sender and receiver equally.

    Returns
    -------
    Derivation
        From the geometric number of flows at a link to (1 + ρ)/(1 - ρ) over two links.

    References
    ----------
    Beyond the papers: Kleinrock, Queueing Systems II, 1976, processor sharing.

    Examples
    --------
    >>> print(derive_fair_share().result)
    Eq(s, (rho + 1)/(1 - rho))
    """
    number = sp.Symbol("nbar", positive=True)
    geometric, mean, alone = (1 - rho) * rho**n, rho / (1 - rho), 1 / (1 - rho)
    return Derivation(
        "fair_share",
        "",
        (),
        (
            Step(
                "Arrivals and departures balance between n and n + 1 flows",
                sp.Eq(sp.Symbol("P_n"), geometric),
                (same(geometric.subs(n, n + 1), rho * geometric), telescoping(geometric, -(rho**n), n)),
            ),
            Step(
                "The mean number, a sum that telescopes",
                sp.Eq(number, mean),
                (telescoping(n * geometric, -(n + mean) * rho**n, n),),
            ),
            Step(
                "Little's law: time over time alone, at one link",
                sp.Eq(number / rho, alone),
                (same(mean / rho, alone),),
            ),
            Step(
                "Each of two links adds what it would add alone",
                sp.Eq(sp.Symbol("s"), TWO_LINKS),
                (same(1 + 2 * (alone - 1), TWO_LINKS),),
            ),
        ),
    )


def derive_drawn_queues() -> Derivation:
    """Derive how long queues are if each packet joins the shortest of d that are drawn.

    Returns
    -------
    Derivation
        From the balance of arrivals and departures to the exponents (d^i - 1)/(d - 1), 2^i - 1 for two queues.

    References
    ----------
    Beyond the papers: Mitzenmacher, The power of two choices in randomized load balancing, 2001.

    Examples
    --------
    >>> print(derive_drawn_queues().result)
    Eq(s[i], rho**(2**i - 1))
    """
    share, wait = sp.IndexedBase("s"), sp.Symbol("W")
    joined = rho * share[level - 1] ** drawn
    kept = share[level] - joined
    gained, lost = rho * (share[level - 1] ** drawn - share[level] ** drawn), share[level] - share[level + 1]
    exponent = (drawn**level - 1) / (drawn - 1)
    one = rho / (1 - rho)
    return Derivation(
        "drawn_queues",
        "",
        (),
        (
            Step("As many ports get a packet number i as lose it", sp.Eq(gained, lost)),
            Step(
                "Summed over all lengths from i on, both sides telescope",
                sp.Eq(joined, share[level]),
                (same(lost - gained, kept - kept.subs(level, level + 1)),),
            ),
            Step(
                "Each exponent is d times the one before and 1, and the first is 0",
                sp.Eq(share[level], QUEUE_TAIL),
                (same(1 + drawn * exponent.subs(level, level - 1), exponent), same(exponent.subs(level, 0), 0)),
            ),
            Step(
                "Little's law gives the time at a port; the wait is one service less",
                sp.Eq(wait, sp.Sum(share[level], (level, 1, sp.oo)) / rho - 1),
            ),
            Step(
                "One queue drawn: exponents 1, 2, 3",
                sp.Eq(wait, one),
                (
                    same(sp.limit(exponent, drawn, 1), level),
                    telescoping(rho**level, -(rho**level) / (1 - rho), level),
                    same(rho / (1 - rho) / rho - 1, one),
                ),
            ),
            Step(
                "Two queues drawn: exponents 1, 3, 7",
                sp.Eq(share[level], QUEUE_TAIL.subs(drawn, 2)),
                (same(exponent.subs(drawn, 2), 2**level - 1),),
            ),
        ),
    )


DERIVATIONS = (derive_store_and_forward, derive_fair_share, derive_drawn_queues)
