"""Waiting time in an M/G/1 queue as RepFlow uses it, as SymPy forms.

================ ====== =============== ============ =============
Quantity         Symbol Name            Unit         Equation
================ ====== =============== ============ =============
mean wait        E[W]   mean_wait       packet times repflow Eq. 4
tail of the wait P(W>w) wait_tail       1            repflow Eq. 9
99th percentile  W̃      wait_percentile packet times repflow Eq. 10
================ ====== =============== ============ =============
"""

import sympy as sp

from capsmodel.symbolic.forms import Derivation, Formula, Step, same

rho, M, w, s = sp.symbols("rho M w s", positive=True)
mean_burst, second_moment_burst = sp.symbols("E[B] E[B^{2}]", positive=True)
mean_size, second_moment_size = sp.symbols("E[X] E[X^{2}]", positive=True)
mean_wait = sp.Symbol("E[W]", positive=True)

MEAN_WAIT = rho * M / (2 * (1 - rho))
WAIT_PERCENTILE = sp.log(10) * rho * M / (1 - rho)
_GENERAL = rho / (2 * (1 - rho)) * second_moment_burst / mean_burst
_BURSTS = {
    rho: "load",
    mean_burst: "mean burst, packets",
    second_moment_burst: "second moment of the burst, packets squared",
}
_EXPONENT = -w * 2 * (1 - rho) / rho
_WAIT_TAIL = sp.exp(_EXPONENT * mean_burst / second_moment_burst)
_tail = sp.Function("P")(sp.Symbol("W") > w)

FORMULAS = (
    Formula(
        "mean_wait",
        "repflow",
        "Eq. 4",
        sp.Eq(mean_wait, _GENERAL),
        _BURSTS,
        "capsmodel.queueing.mg1.mg1_mean_wait",
    ),
    Formula(
        "wait_tail",
        "repflow",
        "Eq. 9",
        sp.Eq(_tail, _WAIT_TAIL),
        {**_BURSTS, w: "wait, packet times"},
        "capsmodel.queueing.mg1.effective_bandwidth_wait_prob",
        printed=sp.Eq(_tail, sp.exp(_EXPONENT * mean_size / second_moment_size)),
    ),
    Formula(
        "wait_percentile",
        "repflow",
        "Eq. 10",
        sp.Eq(sp.Symbol("Wtilde"), WAIT_PERCENTILE),
        {rho: "load", M: "burst, packets"},
        "capsmodel.queueing.mg1.effective_bandwidth_wait_quantile",
    ),
)


def derive_mean_wait() -> Derivation:
    """Derive repflow Eq. 4 from the Pollaczek-Khinchine transform of the M/G/1 wait.

    Returns
    -------
    Derivation
        From the transform to ρ M / (2 (1 - ρ)) for bursts of M packets.

    References
    ----------
    repflow Eq. 4.

    Examples
    --------
    >>> print(derive_mean_wait().result)
    Eq(E[W], M*rho/(2 - 2*rho))
    """
    rate, remainder = rho / mean_burst, sp.Function("R")(s)
    service = 1 - mean_burst * s + second_moment_burst * s**2 / 2 + remainder * s**3
    transform = (1 - rho) * s / (s - rate * (1 - sp.Function("B")(s)))
    # Numerator and denominator divided by s, so that s = 0 can be inserted.
    regular = (1 - rho) / (1 - rho + rate * (second_moment_burst * s / 2 + remainder * s**2))
    mean = -sp.diff(regular, s).subs(s, 0).doit()
    return Derivation(
        "mean_wait",
        "repflow",
        ("Eq. 4",),
        (
            Step(
                "Pollaczek-Khinchine for the transform E[exp(-s W)] of the wait", sp.Eq(sp.Function("W")(s), transform)
            ),
            Step("That of the burst, E[exp(-s B)], with a remainder R", sp.Eq(sp.Function("B")(s), service)),
            Step(
                "Inserted and reduced by s; at s = 0 it is 1, as a probability must be",
                sp.Eq(sp.Function("W")(s), regular),
                (same(transform.subs(sp.Function("B")(s), service), regular), same(regular.subs(s, 0), 1)),
            ),
            Step("The mean is minus its slope at 0", sp.Eq(mean_wait, _GENERAL), (same(mean, _GENERAL),)),
            Step(
                "For bursts of M packets",
                sp.Eq(mean_wait, MEAN_WAIT),
                (same(_GENERAL.subs({mean_burst: M, second_moment_burst: M**2}), MEAN_WAIT),),
            ),
        ),
    )


def derive_wait_percentile() -> Derivation:
    """Derive repflow Eq. 10 from Eq. 9, and that Eq. 9 needs the burst and not the flow size.

    Returns
    -------
    Derivation
        From the exponential tail to its 99th percentile; with the burst the tail has the mean of Eq. 4.

    References
    ----------
    repflow Eq. 9-10.

    Examples
    --------
    >>> derive_wait_percentile().holds()
    True
    """
    scale = 2 * (1 - rho) / (rho * M)
    constant = sp.Symbol("c", positive=True)
    tail = sp.exp(-w * scale)
    # Integrated with a positive constant in place of the scale, whose sign SymPy cannot know.
    area = sp.integrate(sp.exp(-w * constant), (w, 0, sp.oo)).subs(constant, scale)
    return Derivation(
        "wait_percentile",
        "repflow",
        ("Eq. 9", "Eq. 10"),
        (
            Step(
                "Effective bandwidth, a bound on the tail for bursts of M packets, taken for the tail",
                sp.Eq(_tail, tail),
                (same(_WAIT_TAIL.subs({mean_burst: M, second_moment_burst: M**2}), tail),),
            ),
            Step("Its mean is the area below it, that of Eq. 4", sp.Eq(mean_wait, area), (same(area, MEAN_WAIT),)),
            Step(
                "At the 99th percentile the tail is one in a hundred",
                sp.Eq(sp.Symbol("Wtilde"), WAIT_PERCENTILE),
                (
                    same(sp.exp(sp.simplify(-WAIT_PERCENTILE * scale)), sp.Rational(1, 100)),
                    same(WAIT_PERCENTILE, 2 * sp.log(10) * MEAN_WAIT),
                ),
            ),
        ),
    )


DERIVATIONS = (derive_mean_wait, derive_wait_percentile)
