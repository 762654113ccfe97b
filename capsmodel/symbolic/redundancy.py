"""Repair packets, blocking-probability estimators and traffic overhead as SymPy forms.

============== =============== ============================ ======= ===========================
Quantity       Symbol          Name                         Unit    Equation
============== =============== ============================ ======= ===========================
blocking       p_B, P_b        blocking_prob                1       caps u (VI-A, VI-B), cdcps u
smoothed RTT   RTT_smooth      smoothed_rtt                 s       caps u (VI-A, VI-B)
repair packets r, α            repair_packets               packets caps u (VI-B), cdcps Eq. 4-5
overhead       η               traffic_overhead             1       caps Eq. 7
============== =============== ============================ ======= ===========================
"""

import sympy as sp

from capsmodel.symbolic.decoding import P_b, alpha, k, p_B, r, x
from capsmodel.symbolic.forms import Derivation, Formula, Step, same

g = sp.Symbol("g", positive=True)
s = sp.Symbol("s", positive=True)
n_L, n, m_L, m = sp.symbols("n_L n m_L m", integer=True, nonnegative=True)
RTT_smooth, RTT_avg = sp.symbols("RTT_smooth RTT_avg", positive=True)

_CODED_TRAFFIC = s * r / k
OVERHEAD = _CODED_TRAFFIC / (s + s * g + _CODED_TRAFFIC)
OVERHEAD_CLOSED = p_B / (1 + g * (1 - p_B))
_UNIT = {k: "source packets of the unit", p_B: "probability that a packet is blocked"}
_PAIR = {x: "source packets of the unit", P_b: "probability that a packet is blocked"}

FORMULAS = (
    Formula(
        "blocking_prob",
        "caps",
        "u (VI-A, VI-B) blocking probability",
        sp.Eq(p_B, n_L / n),
        {n_L: "ACKs whose RTT exceeds twice the average", n: "ACKs of the sampling period"},
        "capsmodel.coding.blocking.blocking_prob_twice_average",
    ),
    Formula(
        "smoothed_rtt",
        "caps",
        "u (IX-C) smoothed RTT",
        sp.Eq(sp.Symbol("RTT_new"), sp.Rational(7, 8) * RTT_smooth + RTT_avg / 8),
        {RTT_smooth: "smoothed RTT so far, s", RTT_avg: "mean RTT of the sampling period, s"},
        "capsmodel.coding.blocking.smoothed_rtt_s",
    ),
    Formula(
        "repair_packets",
        "caps",
        "u (VI-B) redundancy",
        sp.Eq(r, sp.ceiling(k * p_B / (1 - p_B))),
        _UNIT,
        "capsmodel.coding.redundancy.repair_packets",
    ),
    Formula(
        "traffic_overhead",
        "caps",
        "Eq. 7",
        sp.Eq(sp.Symbol("eta"), OVERHEAD_CLOSED),
        {p_B: "probability that a packet is blocked", g: "packets of long flows for each packet of a short flow"},
        "capsmodel.coding.redundancy.traffic_overhead",
    ),
    Formula(
        "blocking_prob_cdcps",
        "cdcps",
        "u (V-B) blocking probability",
        sp.Eq(P_b, m_L / m),
        {m_L: "ACKs whose RTT exceeds the average", m: "all ACKs"},
        "capsmodel.coding.blocking.blocking_prob_above_average",
    ),
    Formula(
        "repair_condition",
        "cdcps",
        "Eq. 4",
        sp.Ge((1 - P_b) * (x + alpha), x),
        {**_PAIR, alpha: "redundant packets"},
        printed=sp.Ge((1 - P_b) * (x + alpha), k),
    ),
    Formula(
        "repair_packets_cdcps",
        "cdcps",
        "Eq. 5",
        sp.Eq(alpha, sp.ceiling(x / (1 - P_b) - x)),
        _PAIR,
        "capsmodel.coding.redundancy.repair_packets",
    ),
)


def derive_overhead() -> Derivation:
    """Derive the closed form of caps Eq. 7 and the sign of its slope.

    Returns
    -------
    Derivation
        From the share of redundant packets to p/(1 + g(1 - p)), which falls with g: the text of Fig. 10(a) says rises.

    References
    ----------
    caps Eq. 7.

    Examples
    --------
    >>> print(derive_overhead().result)
    Eq(Derivative(eta, g), -p_B*(1 - p_B)/(g*(1 - p_B) + 1)**2)
    """
    eta = sp.Symbol("eta")
    proportion = k * p_B / (1 - p_B)
    slope = -p_B * (1 - p_B) / (1 + g * (1 - p_B)) ** 2
    return Derivation(
        "overhead",
        "caps",
        ("Eq. 7",),
        (
            Step("Repair packets over all: s source packets of short flows, s g of long flows", sp.Eq(eta, OVERHEAD)),
            Step(
                "The repair packets that make up for the blocked ones, not rounded up",
                sp.Eq(r, proportion),
                (same((1 - p_B) * (k + proportion), k),),
            ),
            Step(
                "Inserted; s and k cancel",
                sp.Eq(eta, OVERHEAD_CLOSED),
                (same(OVERHEAD.subs(r, proportion), OVERHEAD_CLOSED),),
            ),
            Step(
                "The derivative in g is negative: overhead falls as long flows grow",
                sp.Eq(sp.Derivative(eta, g), slope),
                (same(sp.diff(OVERHEAD_CLOSED, g), slope),),
            ),
        ),
    )


def derive_repair_packets() -> Derivation:
    """Derive the ceiling rule of cdcps Eq. 5 (caps VI-B) from Eq. 4.

    Returns
    -------
    Derivation
        From (1 - P_b)(x + α) >= x to the smallest whole α; with the printed right-hand side k no such rule follows.

    References
    ----------
    cdcps Eq. 4-5; caps u (VI-B) redundancy.

    Examples
    --------
    >>> derive_repair_packets().holds()
    True
    """
    slack = (1 - P_b) * (x + alpha) - x
    threshold = x / (1 - P_b) - x
    return Derivation(
        "repair_packets",
        "cdcps",
        ("Eq. 4", "Eq. 5"),
        (
            Step("As many unblocked packets are expected as the unit has source packets", sp.Ge(slack + x, x)),
            Step(
                "The excess grows with each repair packet, by a positive share of it",
                sp.Eq(sp.Derivative(slack, alpha), 1 - P_b),
                (same(sp.diff(slack, alpha), 1 - P_b),),
            ),
            Step(
                "It is zero at the threshold, so the condition is: no fewer than the threshold",
                sp.Ge(alpha, threshold),
                (same(slack.subs(alpha, threshold), 0), same(threshold, x * P_b / (1 - P_b))),
            ),
            Step("The smallest whole number that satisfies it", sp.Eq(alpha, sp.ceiling(threshold))),
        ),
    )


def derive_missed_share() -> Derivation:
    """Derive which blocked packets the rule "twice the average" of caps misses.

    Returns
    -------
    Derivation
        From the RTT beside a long flow, between half and all of its largest, to the share below twice the average.

    References
    ----------
    caps u (VI-A, VI-B) blocking probability.

    Examples
    --------
    >>> derivation = derive_missed_share()
    >>> derivation.holds(), sp.solve(derivation.result.rhs - 1, p_B)[-1]
    (True, 9/14)
    """
    u, half = sp.Symbol("u", positive=True), sp.Rational(1, 2)
    density = sp.Rational(8, 3) * u
    mean, below = sp.integrate(u * density, (u, half, 1)), (4 * u**2 - 1) / 3
    threshold = 2 * p_B * mean
    return Derivation(
        "missed_share",
        "caps",
        ("u (VI-A, VI-B) blocking probability",),
        (
            Step(
                "Density of the RTT between half and all, proportional to it",
                sp.Eq(sp.Function("f")(u), density),
                (same(sp.integrate(density, (u, half, 1)), 1),),
            ),
            Step("Its mean", sp.Eq(sp.Symbol("ubar"), mean), (same(mean, sp.Rational(7, 9)),)),
            Step(
                "Twice the average of all, while other RTTs are short against L",
                sp.Eq(sp.Symbol("threshold"), threshold),
            ),
            Step(
                "Blocked packets below it are missed, from half on",
                sp.Eq(sp.Symbol("missed"), below.subs(u, threshold)),
                (same(sp.diff(below, u), density), same(below.subs(u, half), 0)),
            ),
        ),
    )


DERIVATIONS = (derive_overhead, derive_repair_packets, derive_missed_share)
