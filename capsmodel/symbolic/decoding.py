"""Decoding probability of a coding unit as SymPy forms.

================== ============== ==================== ==== =======================
Quantity           Symbol         Name                 Unit Equation
================== ============== ==================== ==== =======================
exactly j blocked  p_B(j), P_b(i) blocked_packets_prob 1    caps Eq. 1, cdcps Eq. 6
unit decodes       p_S, P_d       decode_prob          1    caps Eq. 2, cdcps Eq. 7
first w decode all                first_arrivals_prob  1    caps u (VI-C, Fig. 7)
================== ============== ==================== ==== =======================
"""

import sympy as sp

from capsmodel.symbolic.forms import Derivation, Formula, Step, same, telescoping

k, w = sp.symbols("k w", integer=True, positive=True)
r, j = sp.symbols("r j", integer=True, nonnegative=True)
p_B = sp.Symbol("p_B", positive=True)

x = sp.Symbol("x", integer=True, positive=True)
alpha, i = sp.symbols("alpha i", integer=True, nonnegative=True)
P_b = sp.Symbol("P_b", positive=True)

BLOCKED = sp.binomial(k + r, j) * p_B**j * (1 - p_B) ** (k + r - j)
DECODES = sp.Sum(BLOCKED, (j, 0, r))

_UNIT = {k: "source packets of the unit", r: "repair packets of the unit", p_B: "probability that a packet is blocked"}
_PAIR = {x: "source packets of the unit", alpha: "redundant packets", P_b: "probability that a packet is blocked"}
_PAIR_BLOCKED = sp.binomial(x + alpha, i) * P_b**i * (1 - P_b) ** (x + alpha - i)

FORMULAS = (
    Formula(
        "blocked_packets_prob",
        "caps",
        "Eq. 1",
        sp.Eq(sp.Function("p_B")(j), BLOCKED),
        {**_UNIT, j: "blocked packets"},
        "capsmodel.coding.decoding.blocked_packets_prob",
    ),
    Formula(
        "decode_prob",
        "caps",
        "Eq. 2",
        sp.Eq(sp.Symbol("p_S"), DECODES),
        _UNIT,
        "capsmodel.coding.decoding.decode_prob",
    ),
    Formula(
        "first_arrivals_prob",
        "caps",
        "u (VI-C, Fig. 7) example",
        sp.Eq(sp.Symbol("p"), sp.binomial(2 * k, k) ** (w / k) / sp.binomial(2 * w, w)),
        {k: "source packets of the unit, as many as repair packets", w: "packets of the window, a multiple of k"},
        "capsmodel.coding.decoding.units_decoded_by_first_arrivals_prob",
    ),
    Formula(
        "blocked_packets_prob_cdcps",
        "cdcps",
        "Eq. 6",
        sp.Eq(sp.Function("P_b")(i), _PAIR_BLOCKED),
        {**_PAIR, i: "blocked packets"},
        "capsmodel.coding.decoding.blocked_packets_prob",
    ),
    Formula(
        "decode_prob_cdcps",
        "cdcps",
        "Eq. 7",
        sp.Eq(sp.Symbol("P_d"), sp.Sum(_PAIR_BLOCKED, (i, 0, alpha))),
        _PAIR,
        "capsmodel.coding.decoding.decode_prob",
    ),
)


def derive_incomplete_beta() -> Derivation:
    """Derive the binomial tail of caps Eq. 2 as a regularised incomplete beta function.

    Returns
    -------
    Derivation
        From the sum to I_{1-p}(k, r+1): both sides are 1 at p = 0 and have the same derivative in p.

    References
    ----------
    caps Eq. 2.

    Examples
    --------
    >>> derive_incomplete_beta().holds()
    True
    """
    p, t = p_B, sp.Symbol("t", positive=True)
    tail = sp.Function("p_S")(p)
    term = BLOCKED
    primitive = -(k + r) * sp.binomial(k + r - 1, j - 1) * p ** (j - 1) * (1 - p) ** (k + r - j)
    # The sum over j = 0..r is T(r+1) - T(0), and T(0) = 0 because no set has -1 elements.
    slope = primitive.subs(j, r + 1)
    density = t ** (k - 1) * (1 - t) ** r
    beta = sp.gamma(k) * sp.gamma(r + 1) / sp.gamma(k + r + 1)
    integral = sp.Integral(density, (t, 0, 1 - p)) / sp.Symbol("B")
    beta_slope = -density.subs(t, 1 - p) / beta
    return Derivation(
        "incomplete_beta",
        "caps",
        ("Eq. 2",),
        (
            Step("Probability that at most r of the k + r packets are blocked", sp.Eq(tail, DECODES)),
            Step(
                "Each term's derivative in p is a difference T(j+1) - T(j)",
                sp.Eq(sp.Function("T")(j), primitive),
                (telescoping(sp.diff(term, p), primitive, j), same(primitive.subs(j, 0), 0)),
            ),
            Step("T(0) is 0, so the derivative of the sum is T(r+1)", sp.Eq(sp.diff(tail, p), slope)),
            Step(
                "The beta integral from 0 to 1 - p has this derivative, with B = B(k, r+1)",
                sp.Eq(tail, integral),
                (same(slope, beta_slope), same(sp.diff(integral * sp.Symbol("B"), p), -density.subs(t, 1 - p))),
            ),
            Step(
                "Both are 1 where nothing is blocked, so they are equal for all p",
                sp.Eq(tail, sp.Function("I_{1-p_B}")(k, r + 1)),
                (same(term.subs({j: 0}).subs(p, 0), 1), same(term.subs(j, r + 1).subs(p, 0), 0)),
            ),
        ),
    )


DERIVATIONS = (derive_incomplete_beta,)
