"""Linked increase and its balance with losses, DC2-MTCP Eq. 2, 3 and 7 to 9, as SymPy forms.

================ ============ ================== ======= ==================
Quantity         Symbol       Name               Unit    Equation
================ ============ ================== ======= ==================
aggressiveness   α            lia_alpha          1       dc2mtcp Eq. 2
window growth    ΔW_i         lia_increase       packets dc2mtcp Eq. 2
balance                       balance            packets dc2mtcp Eq. 3
path loss        p_i          path_loss_prob     1       dc2mtcp Eq. 7
one path         W_i^s        single_path_window packets dc2mtcp Eq. 8
best single path max W^s/RTT  best_path_rate     1/s     dc2mtcp Eq. 9
================ ============ ================== ======= ==================

A sum or maximum over i runs over the n subflows.
"""

import sympy as sp

from capsmodel.symbolic.forms import INDEX as i
from capsmodel.symbolic.forms import LARGEST, Derivation, Formula, Step, same

n = sp.Symbol("n", integer=True, positive=True)
W, RTT, p = (sp.IndexedBase(name, positive=True) for name in ("W", "RTT", "p"))
alpha, W_i, W_total, p_i, W_s = sp.symbols("alpha W_i W_total p_i W_i^s", positive=True)

OVER_SUBFLOWS = (i, 1, n)
SUM_OF_WINDOWS = sp.Sum(W[i], OVER_SUBFLOWS)
SUM_OF_RATES = sp.Sum(W[i] / RTT[i], OVER_SUBFLOWS)
LIA_ALPHA = SUM_OF_WINDOWS * LARGEST(W[i] / RTT[i] ** 2) / SUM_OF_RATES**2
PATH_LOSS = 2 * alpha / (2 * alpha + W_i * W_total)
PATH_LOSS_PRINTED = 2 * alpha / (2 * alpha + W_i) * W_total
BALANCE = (alpha / W_total * (1 - p_i), W_i / 2 * p_i)
SINGLE_PATH = sp.sqrt(2 * (1 - p_i) / p_i)
_BEST_PATH = LARGEST(SINGLE_PATH.subs(p_i, p[i]) / RTT[i])

SUBFLOWS = {n: "subflows", W: "window of each subflow, packets"}
LIA = {alpha: "aggressiveness of LIA", W_total: "sum of the windows, packets"}
_PATHS = {**SUBFLOWS, RTT: "RTT of each subflow, s"}

FORMULAS = (
    Formula("lia_alpha", "dc2mtcp", "Eq. 2", sp.Eq(alpha, LIA_ALPHA), _PATHS, "capsmodel.multipath.lia.lia_alpha"),
    Formula(
        "lia_increase",
        "dc2mtcp",
        "Eq. 2",
        sp.Eq(sp.Symbol(r"\Delta W_{i}"), sp.Min(alpha / W_total, 1 / W_i)),
        {**LIA, W_i: "window of the subflow, packets"},
        "capsmodel.multipath.lia.lia_increase",
    ),
    Formula(
        "balance",
        "dc2mtcp",
        "Eq. 3",
        sp.Eq(*BALANCE),
        {**LIA, W_i: "window of the subflow, packets", p_i: "its loss probability"},
    ),
    Formula(
        "path_loss_prob",
        "dc2mtcp",
        "Eq. 7",
        sp.Eq(p_i, PATH_LOSS),
        {**LIA, W_i: "window of the subflow, packets"},
        "capsmodel.multipath.lia.lia_loss_prob",
        printed=sp.Eq(p_i, PATH_LOSS_PRINTED),
    ),
    Formula(
        "single_path_window",
        "dc2mtcp",
        "Eq. 8",
        sp.Eq(W_s, SINGLE_PATH),
        {p_i: "loss probability of the path"},
        "capsmodel.multipath.lia.single_path_window",
    ),
    Formula(
        "best_path_rate",
        "dc2mtcp",
        "Eq. 9",
        sp.Eq(SUM_OF_RATES, _BEST_PATH),
        {p: "loss probability of each path", RTT: _PATHS[RTT]},
        "capsmodel.multipath.lia.best_path_rate_per_s",
        printed=sp.Le(SUM_OF_RATES, _BEST_PATH),
    ),
)


def derive_path_loss() -> Derivation:
    """Derive dc2mtcp Eq. 7 from Eq. 3, Eq. 8 from it, and that the printed Eq. 7 is no solution.

    Returns
    -------
    Derivation
        From the balance of growth and loss to p_i; the printed fraction exceeds it unless W_total = 1.

    References
    ----------
    dc2mtcp Eq. 3, 7-8.

    Examples
    --------
    >>> derive_path_loss().holds()
    True
    """
    growth, cut = BALANCE
    excess = (
        2 * alpha * (W_total - 1) * (2 * alpha + W_i * (W_total + 1)) / (2 * alpha + W_i) / (2 * alpha + W_i * W_total)
    )
    example = {alpha: 1, W_i: 10, W_total: 40}
    single = {alpha: 1, W_i: W_s, W_total: W_s}
    return Derivation(
        "path_loss",
        "dc2mtcp",
        ("Eq. 3", "Eq. 7", "Eq. 8"),
        (
            Step("Growth by acknowledgements balances the halving by losses", sp.Eq(growth, cut)),
            Step(
                "Linear in the loss probability, solved",
                sp.Eq(p_i, PATH_LOSS),
                (same((growth - cut).subs(p_i, PATH_LOSS), 0), same(sp.diff(growth - cut, p_i, 2), 0)),
            ),
            Step(
                "The printed form exceeds the solution by this",
                sp.Eq(sp.Symbol("excess"), excess),
                (same(PATH_LOSS_PRINTED - PATH_LOSS, excess),),
            ),
            Step(
                "For aggressiveness 1 and windows of 10 and 40 packets it gives no probability",
                sp.Eq(sp.Symbol("p_printed"), sp.Rational(20, 3)),
                (same(PATH_LOSS_PRINTED.subs(example), sp.Rational(20, 3)),),
            ),
            Step(
                "One path has aggressiveness 1 and all of the window, for which it is solved",
                sp.Eq(W_s, SINGLE_PATH),
                (
                    same(LIA_ALPHA.subs(n, 1).replace(LARGEST, lambda term: term).doit().subs(i, 1), 1),
                    same((growth - cut).subs(single).subs(W_s, SINGLE_PATH), 0),
                ),
            ),
        ),
    )


def derive_best_path_rate() -> Derivation:
    """Derive that dc2mtcp Eq. 9 is an equality.

    Returns
    -------
    Derivation
        From Eq. 7 and 8 to a connection that has exactly the rate of the best single path, for any number of subflows.

    References
    ----------
    dc2mtcp Eq. 2, 7-9.

    Examples
    --------
    >>> derive_best_path_rate().holds()
    True
    """
    rates, largest, rtt = sp.symbols("T M RTT_i", positive=True)
    of_alpha = W_total * largest / rates**2
    square = W_i * W_total / alpha
    share = W_i / rtt**2 / largest
    return Derivation(
        "best_path_rate",
        "dc2mtcp",
        ("Eq. 2", "Eq. 7", "Eq. 8", "Eq. 9"),
        (
            Step(
                "Eq. 2, with T the rate of the connection and M the largest of window over squared RTT",
                sp.Eq(alpha, of_alpha),
                (
                    same(
                        LIA_ALPHA.replace(LARGEST, lambda _: largest).subs(
                            {SUM_OF_WINDOWS: W_total, SUM_OF_RATES: rates}
                        ),
                        of_alpha,
                    ),
                ),
            ),
            Step(
                "Square of the single-path window at the loss of Eq. 7",
                sp.Eq(W_s**2, square),
                (same((SINGLE_PATH**2).subs(p_i, PATH_LOSS), square),),
            ),
            Step(
                "Square of its rate, with this aggressiveness",
                sp.Eq((W_s / rtt) ** 2, share * rates**2),
                (same(square.subs(alpha, of_alpha) / rtt**2, share * rates**2),),
            ),
            Step(
                "The factor of T squared is at most 1, and 1 on the subflow that gives M",
                sp.Eq(LARGEST(W_s / rtt), rates),
                (same(share.subs(W_i, largest * rtt**2), 1),),
            ),
        ),
    )


def derive_random_sawtooth() -> Derivation:
    """Derive that dc2mtcp Eq. 8 is the root mean square of a window that losses at random halve, and not its mean.

    Returns
    -------
    Derivation
        From the balance over packets to the mean over time as a share of Eq. 8, 0.926, for little loss.

    References
    ----------
    dc2mtcp Eq. 8.

    Examples
    --------
    >>> print(derive_random_sawtooth().steps[1].expression)
    Eq(E(W**2), (2 - 2*p)/p)
    """
    p, y, s, u, one, number = sp.symbols("p Y s u W x", positive=True)
    k = sp.Symbol("k", integer=True, nonnegative=True)
    mean, of_packets, inverse = sp.Function("E"), sp.Function("E_p"), sp.Symbol("m", positive=True)
    square, factor = 2 * (1 - p) / p, 1 / (1 + s * sp.S(4) ** -k)
    transform = sp.Product(factor, (k, 0, sp.oo))
    return Derivation(
        "random_sawtooth",
        "dc2mtcp",
        ("Eq. 8",),
        (
            Step(
                "Over packets: one lets the window grow by 1/W, or is lost and halves it",
                sp.Eq((1 - p) * of_packets(1 / one), p / 2 * of_packets(one)),
            ),
            Step(
                "Time weighs a packet by 1/W, so that the mean square over time is that of Eq. 8",
                sp.Eq(mean(one**2), square),
                (same(square * inverse / inverse, SINGLE_PATH.subs(p_i, p) ** 2),),
            ),
            Step(
                "Y is p W W / 2: it is quartered by a loss, and gains an exponential number until the next",
                sp.Eq(of_packets(sp.exp(-s * y)), transform),
                (
                    same((one + 1 / one) ** 2 - one**2 - 1 / one**2, 2),
                    same(sp.integrate(sp.exp(-number - s * number), (number, 0, sp.oo)), factor.subs(k, 0)),
                    same(factor.subs({s: s / 4, k: k - 1}, simultaneous=True), factor),
                ),
            ),
            Step(
                "Weighed by 1/W again: the mean over time, as a share of Eq. 8",
                sp.Eq(mean(one) / W_s, 1 / of_packets(1 / sp.sqrt(y))),
                (same(1 / (sp.sqrt(p / 2) * inverse) / sp.sqrt(2 / p), 1 / inverse),),
            ),
            Step(
                "The transform at s = u u, integrated over u, gives the mean of that root",
                sp.Eq(mean(one) / W_s, sp.sqrt(sp.pi) / sp.Integral(2 * transform.subs(s, u**2), (u, 0, sp.oo))),
                (same(sp.integrate(2 * sp.exp(-(u**2) * y), (u, 0, sp.oo)), sp.sqrt(sp.pi / y)),),
            ),
        ),
    )


DERIVATIONS = (derive_path_loss, derive_best_path_rate, derive_random_sawtooth)
