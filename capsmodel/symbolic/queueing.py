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

from capsmodel.symbolic.forms import Derivation, Formula, Step, same, telescoping

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

n, j = sp.symbols("n j", integer=True, nonnegative=True)
_S, _mean = sp.Symbol("S"), sp.Function("E")
_APART = sp.Sum(sp.Abs(_S - j), (j, 0, n))
_MEAN_APART = (3 * n + 1) * (n + 2) / 12

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


def derive_shorter_wait() -> Derivation:
    """Derive the mean of the shorter of two waits behind bursts of M packets, at two independent queues of one load.

    Returns
    -------
    Derivation
        From the rests of bursts that add up to a wait to ρ^2 (4 - ρ) M / (12 (1 - ρ)).

    References
    ----------
    Beyond repflow Eq. 6, which approximates this mean; the wait is that of Eq. 4.

    Examples
    --------
    >>> print(derive_shorter_wait().result)
    Eq(E(Min(W_1, W_2)), M*rho**2*(4 - rho)/(12 - 12*rho))
    """
    one, two = sp.symbols("W_1 W_2")
    distance = _mean(sp.Abs(one - two))
    rest = (1 - sp.exp(-s * M)) / (s * M)  # the transform of a uniform number between 0 and M
    quadratic = 3 * n**2 * (1 - rho) ** 2 + n * (1 - rho) * (7 - rho) + 2 * (1 + 3 * rho - rho**2)
    primitive = -(rho**n) * quadratic / (12 * (1 - rho) ** 3)
    summed = M * rho * (6 - 4 * rho + rho**2) / (6 * (1 - rho))
    result = rho**2 * (4 - rho) * M / (12 * (1 - rho))
    return Derivation(
        "shorter_wait",
        "repflow",
        ("Eq. 4",),
        (
            Step(
                "A wait is a part U of each of N bursts, uniform in 0 to 1; N is geometric",
                sp.Eq(sp.Symbol("W"), M * sp.Sum(sp.IndexedBase("U")[j], (j, 1, sp.Symbol("N")))),
                (same((1 - rho) / (1 - rho * rest), (1 - rho) * s / (s - rho / M * (1 - sp.exp(-s * M)))),),
            ),
            Step(
                "With 1 - U for the j parts of the second, two waits of n parts differ by S - j",
                sp.Eq(distance, M * (1 - rho) ** 2 * sp.Sum(rho**n * _mean(_APART), (n, 1, sp.oo))),
            ),
            *_mean_apart(),
            Step(
                "Summed over n",
                sp.Eq(distance, summed),
                (
                    telescoping(rho**n * _MEAN_APART, primitive, n),
                    same(-M * (1 - rho) ** 2 * primitive.subs(n, 1), summed),
                ),
            ),
            Step(
                "The shorter wait is the mean of Eq. 4 less half of the distance",
                sp.Eq(_mean(sp.Min(one, two)), result),
                (same(MEAN_WAIT - summed / 2, result),),
            ),
        ),
    )


def _mean_apart() -> tuple[Step, Step]:
    """Return the lines about a sum S of n uniform numbers and its distances from 0 to n."""
    f, m = sp.Symbol("f", positive=True), sp.Symbol("m", integer=True, nonnegative=True)
    place = m + f
    nearby = sp.Sum(place - j, (j, 0, m)).doit() + sp.Sum(j - place, (j, m + 1, n)).doit()
    from_all = _S**2 - n * _S + n * (n + 1) / 2 + f * (1 - f)
    square = n / sp.S(12) + n**2 / 4
    return (
        Step(
            "Distances of the sum S, a whole number and f, from all j",
            sp.Eq(_APART, from_all),
            (same(nearby, from_all.subs(_S, place)),),
        ),
        Step(
            "S has the mean n/2 and the variance n/12, and f is uniform",
            sp.Eq(_mean(_APART), _MEAN_APART),
            (
                same(square - n * n / 2 + n * (n + 1) / 2 + sp.Rational(1, 6), _MEAN_APART),
                same(sp.integrate(f * (1 - f), (f, 0, 1)), sp.Rational(1, 6)),
            ),
        ),
    )


DERIVATIONS = (derive_mean_wait, derive_wait_percentile, derive_shorter_wait)
