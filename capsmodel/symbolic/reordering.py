"""Reordering probability and duplicate-ACK thresholds as SymPy forms.

====================== ====== =========================== ======= ============================
Quantity               Symbol Name                        Unit    Equation
====================== ====== =========================== ======= ============================
flow is reordered      P_r    reordering_prob             1       cdcps Eq. 1, 3
good path              P_g    uncongested_prob            1       cdcps Eq. 2
packets before a loss         packets_before_first_loss   packets mmptcp u (footnote 2)
duplicate ACKs                dup_ack_threshold           ACKs    mmptcp u (2.4)
share of the window           subflow_window_share        1       mmptcp u (3.11)
====================== ====== =========================== ======= ============================
"""

import sympy as sp

from capsmodel.symbolic.forms import Derivation, Formula, Step, between, same, telescoping

i, S, n = sp.symbols("i S n", integer=True, positive=True)
a, n_g = sp.symbols("a n_g", integer=True, nonnegative=True)
P_g, P_b, p = sp.symbols("P_g P_b p", positive=True)
P_r = sp.Symbol("P_r")
m = sp.Symbol("m", integer=True, nonnegative=True)
N_paths, K, n_subflows, BDP = sp.symbols("N_paths K n BDP", integer=True, positive=True)
dupthresh = sp.Symbol("dupthresh", integer=True, positive=True)

_FIRST_BLOCKED = P_g ** (i - 1) * P_b * (1 - P_b ** (S - i))
_IN_ORDER = P_g**a * P_b ** (S - a)
_REORDERED = sp.Sum(_FIRST_BLOCKED, (i, 1, S - 1))
_PATHS = {P_g: n_g / n, P_b: 1 - n_g / n}

FORMULAS = (
    Formula(
        "reordering_prob",
        "cdcps",
        "Eq. 1",
        sp.Eq(P_r, _REORDERED),
        {S: "flow size, packets", P_g: "probability of an uncongested path", P_b: "probability of a congested path"},
        "capsmodel.reordering.probability.reordering_prob",
    ),
    Formula(
        "uncongested_prob",
        "cdcps",
        "Eq. 2",
        sp.Eq(P_g, n_g / n),
        {n_g: "uncongested paths", n: "parallel paths"},
    ),
    Formula(
        "reordering_prob_paths",
        "cdcps",
        "Eq. 3",
        sp.Eq(P_r, _REORDERED.subs(_PATHS)),
        {S: "flow size, packets", n_g: "uncongested paths", n: "parallel paths"},
        "capsmodel.reordering.probability.reordering_prob",
    ),
    Formula(
        "packets_before_first_loss",
        "mmptcp",
        "u (footnote 2) packets before the first loss",
        sp.Eq(sp.Symbol("E[min]"), 1 / (1 - (1 - p) ** n)),
        {n: "paths", p: "loss probability of each packet"},
        "capsmodel.reordering.dup_acks.packets_before_first_loss",
    ),
    Formula(
        "dup_ack_threshold",
        "mmptcp",
        "u (2.4) topology-based threshold",
        sp.Eq(dupthresh, 3 + (K / 2) ** 2),
        {K: "pods of the fat-tree; (K/2)^2 equal-cost paths between pods"},
        "capsmodel.reordering.dup_acks.dup_ack_threshold_fat_tree",
        printed=sp.Eq(dupthresh, 3 + N_paths),
    ),
    Formula(
        "limited_transmit_segments",
        "mmptcp",
        "u (2.4) modified Limited Transmit",
        sp.Eq(sp.Symbol("segments"), dupthresh - 1),
        {dupthresh: "duplicate ACKs that trigger a fast retransmission"},
        "capsmodel.reordering.dup_acks.limited_transmit_segments",
    ),
    Formula(
        "subflow_window_share",
        "mmptcp",
        "u (3.11) minimum windows",
        sp.Eq(sp.Symbol("share"), sp.Rational(2) * n_subflows / BDP),
        {n_subflows: "subflows", BDP: "bandwidth-delay product, packets"},
        "capsmodel.multipath.subflows.subflow_minimum_window_share",
    ),
)


def derive_reordering_prob() -> Derivation:
    """Derive the closed form of cdcps Eq. 1, also for equal path probabilities, and its symmetry.

    Returns
    -------
    Derivation
        From the sum over the first blocked packet to 1 - (P_g^(S+1) - P_b^(S+1)) / (P_g - P_b), and its limit.

    References
    ----------
    cdcps Eq. 1.

    Examples
    --------
    >>> print(derive_reordering_prob().result)
    Eq(P_r, 1 - (S + 1)/2**S)
    """
    bad = 1 - P_g
    first, second = -(P_g ** (i - 1)), P_g ** (i - 1) * P_b ** (S - i + 2) / (P_g - P_b)
    closed = 1 - (P_g ** (S + 1) - P_b ** (S + 1)) / (P_g - P_b)
    summed = between(first, i, 1, S - 1) - between(second, i, 1, S - 1)
    strings = P_g**a * P_b ** (S - a + 1) / (P_g - P_b)
    half = {P_g: sp.Rational(1, 2), P_b: sp.Rational(1, 2)}
    term_at_half = sp.Rational(1, 2) ** i - sp.Rational(1, 2) ** S
    even = 1 - (S + 1) * sp.Rational(1, 2) ** S
    primitive_at_half = -2 * sp.Rational(1, 2) ** i - i * sp.Rational(1, 2) ** S
    return Derivation(
        "reordering_prob",
        "cdcps",
        ("Eq. 1",),
        (
            Step("Packet i is the first on a congested path and a later one is not", sp.Eq(P_r, _REORDERED)),
            Step(
                "The two probabilities add to 1, so each term is a difference T(i+1) - T(i)",
                sp.Eq(sp.Function("T")(i), first - second),
                (telescoping(_FIRST_BLOCKED.subs(P_b, bad), (first - second).subs(P_b, bad), i),),
            ),
            Step(
                "So the sum is T(S) - T(1)",
                sp.Eq(P_r, closed),
                (same(summed.subs(P_b, bad), closed.subs(P_b, bad)),),
            ),
            Step(
                "The quotient is the sum over the S + 1 strings in order: all good before all bad",
                sp.Eq(P_r, 1 - sp.Sum(_IN_ORDER, (a, 0, S))),
                (telescoping(_IN_ORDER, strings, a), same(1 - between(strings, a, 0, S), closed)),
            ),
            Step(
                "It does not change when the two trade places, so equal probabilities are its stationary point",
                sp.Eq(P_r, closed),
                (same(closed, closed.subs({P_g: P_b, P_b: P_g}, simultaneous=True)),),
            ),
            Step(
                "There, by the sum itself",
                sp.Eq(P_r, even),
                (
                    same(_FIRST_BLOCKED.subs(half), term_at_half),
                    telescoping(term_at_half, primitive_at_half, i),
                    same(between(primitive_at_half, i, 1, S - 1), even),
                ),
            ),
        ),
    )


def derive_packets_before_first_loss() -> Derivation:
    """Derive the mean of the smallest of n geometric numbers, mmptcp footnote 2.

    Returns
    -------
    Derivation
        From the tail of the minimum to 1 / (1 - (1-p)^n).

    References
    ----------
    mmptcp u (footnote 2) packets before the first loss.

    Examples
    --------
    >>> derive_packets_before_first_loss().holds()
    True
    """
    mean = sp.Symbol("E[min]")
    tail = (1 - p) ** (n * m)
    primitive = -tail / (1 - (1 - p) ** n)
    return Derivation(
        "packets_before_first_loss",
        "mmptcp",
        ("u (footnote 2) packets before the first loss",),
        (
            Step(
                "All n paths pass their first m packets",
                sp.Eq(sp.Function("P")(sp.Symbol("min") > m), tail),
                (same(tail, ((1 - p) ** m) ** n),),
            ),
            Step("The mean of a count is the sum of its tail", sp.Eq(mean, sp.Sum(tail, (m, 0, sp.oo)))),
            Step(
                "Each term is a difference T(m+1) - T(m)",
                sp.Eq(sp.Function("T")(m), primitive),
                (telescoping(tail, primitive, m),),
            ),
            Step(
                "T vanishes at infinity, so the mean is -T(0)",
                sp.Eq(mean, 1 / (1 - (1 - p) ** n)),
                (same(-primitive.subs(m, 0), 1 / (1 - (1 - p) ** n)),),
            ),
        ),
    )


DERIVATIONS = (derive_reordering_prob, derive_packets_before_first_loss)
