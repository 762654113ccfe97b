"""Completion time (FCT) of short flows, with and without replication, as SymPy forms; long flows are in `fct_long`.

=====================  ==============  ===========================  ====  ===============
Quantity               Symbol          Name                         Unit  Equation
=====================  ==============  ===========================  ====  ===============
rounds                 m               rounds                       1     repflow u (IV-A)
short flow             FCT_X           short_fct                    1     repflow Eq. 1
short flows, mean      E[FCT]          mean_fct, mean_fct_of_wait   1     repflow Eq. 3, 5
same, two copies       E[FCT_rep]      mean_fct_replicated          1     repflow Eq. 6
short flows, tail      FCTtilde        tail_fct                     1     repflow Eq. 11
same, two copies       FCTtilde_rep    tail_fct_replicated          1     repflow Eq. 12
loads with two copies  ρ_2, ρ_eff      replicated_load and others   1     repflow u (IV-B)
=====================  ==============  ===========================  ====  ===============

Completion times are divided by those without contention, so their unit is 1.
"""

import sympy as sp

from capsmodel.symbolic.forms import Derivation, Formula, Step, between, same, telescoping
from capsmodel.symbolic.queueing import MEAN_WAIT, M, mean_size, mean_wait, rho

X, k, x, S_L, x_0, J, N = sp.symbols("X k x S_L x_0 J N", positive=True)
epsilon = sp.Symbol("epsilon", positive=True)
i = sp.Symbol("i", integer=True, positive=True)
j = sp.Symbol("j", integer=True, nonnegative=True)
W = sp.IndexedBase("W")
f, F = sp.Function("f"), sp.Function("F")
_mean, _replicated, _tail = sp.symbols("E[FCT] E[FCT_{rep}] FCTtilde")
_m = sp.Symbol("m")

ROUNDS = sp.log(X / k + 1, 2)
EFFECTIVE_LOAD = (1 + epsilon) ** 2 * rho**2
REPLICATED_LOAD = (1 + epsilon) * rho
MEAN_FCT = MEAN_WAIT * J + 1
REPLICATED_WAIT = MEAN_WAIT.subs(rho, EFFECTIVE_LOAD)
EXCESS = 2 * sp.log(10) - 1  # of the 99th percentile of the wait over its mean, in means (Eq. 10)

_SIZES = {
    f: "density of the flow size",
    F: "its distribution function",
    S_L: "threshold between short and long, packets",
}
MODEL = {rho: "load", M: "burst, packets"}
AVERAGES = {
    J: "mean of rounds over packets, short flows",
    N: "as J with one round at the 99th percentile of the wait",
    epsilon: "byte share of short flows",
}


def _over_short(numerator: sp.Expr, smallest: sp.Expr) -> sp.Expr:
    return sp.Integral(numerator.subs(X, x) / x * f(x) / F(S_L), (x, smallest, S_L))


FORMULAS = (
    Formula(
        "rounds",
        "repflow",
        "u (IV-A) rounds",
        sp.Eq(_m, ROUNDS),
        {X: "flow size, packets", k: "initial window, packets"},
        "capsmodel.fct.slow_start.rounds",
    ),
    Formula(
        "short_fct",
        "repflow",
        "Eq. 1",
        sp.Eq(sp.Symbol("FCT_X"), sp.Sum(W[i], (i, 1, ROUNDS)) / X + 1),
        {X: "flow size, packets", k: "initial window, packets", W: "wait of each round, packet times"},
    ),
    Formula(
        "mean_fct_of_wait",
        "repflow",
        "Eq. 3",
        sp.Eq(_mean, mean_wait * _over_short(ROUNDS, sp.S.Zero) + 1),
        {mean_wait: "mean wait, packet times", k: "initial window, packets", **_SIZES},
        "capsmodel.fct.completion.mean_fct",
    ),
    Formula(
        "mean_fct",
        "repflow",
        "Eq. 5",
        sp.Eq(_mean, MEAN_FCT),
        {**MODEL, J: AVERAGES[J]},
        "capsmodel.fct.completion.mean_fct",
    ),
    Formula(
        "short_byte_share",
        "repflow",
        "u (IV-B) short-flow byte share",
        sp.Eq(epsilon, sp.Integral(x * f(x), (x, 0, S_L)) / mean_size),
        {f: _SIZES[f], S_L: _SIZES[S_L], mean_size: "mean flow size, packets"},
        "capsmodel.fct.replication.short_byte_share",
    ),
    Formula(
        "replicated_load",
        "repflow",
        "u (IV-B) replicated load",
        sp.Eq(sp.Symbol("rho_2"), REPLICATED_LOAD),
        {rho: "load", epsilon: AVERAGES[epsilon]},
        "capsmodel.fct.replication.replicated_load",
    ),
    Formula(
        "effective_load",
        "repflow",
        "u (IV-B) effective load",
        sp.Eq(sp.Symbol("rho_eff"), EFFECTIVE_LOAD),
        {rho: "load", epsilon: AVERAGES[epsilon]},
        "capsmodel.fct.replication.effective_load",
    ),
    Formula(
        "break_even_load",
        "repflow",
        "u (IV-B) break-even load",
        sp.Eq(sp.Symbol("rho_even"), (1 + epsilon) ** -2),
        {epsilon: AVERAGES[epsilon]},
        "capsmodel.fct.replication.replication_break_even_load",
    ),
    Formula(
        "mean_fct_replicated",
        "repflow",
        "Eq. 6",
        sp.Eq(_replicated, REPLICATED_WAIT * J + 1),
        {**MODEL, J: AVERAGES[J], epsilon: AVERAGES[epsilon]},
        "capsmodel.fct.completion.mean_fct",
    ),
    Formula(
        "tail_fct",
        "repflow",
        "Eq. 11",
        sp.Eq(_tail, mean_wait * _over_short(ROUNDS + EXCESS, x_0) + 1),
        {mean_wait: "mean wait, packet times", k: "initial window, packets", x_0: "smallest flow, packets", **_SIZES},
        "capsmodel.fct.completion.tail_fct",
        printed=sp.Eq(_tail, mean_wait * _over_short(ROUNDS + EXCESS, sp.S.Zero) + 1),
    ),
    Formula(
        "tail_fct_replicated",
        "repflow",
        "Eq. 12",
        sp.Eq(sp.Symbol("FCTtilde_rep"), REPLICATED_WAIT * N + 1),
        {**MODEL, N: AVERAGES[N], epsilon: AVERAGES[epsilon]},
        "capsmodel.fct.completion.tail_fct",
    ),
)


def derive_rounds() -> Derivation:
    """Derive the number of slow-start rounds of a flow.

    Returns
    -------
    Derivation
        From windows that double to m = log2(X/k + 1).

    References
    ----------
    repflow u (IV-A) rounds.

    Examples
    --------
    >>> derive_rounds().holds()
    True
    """
    sent = k * (2**_m - 1)
    return Derivation(
        "rounds",
        "repflow",
        ("u (IV-A) rounds",),
        (
            Step("m windows that double carry the flow", sp.Eq(sp.Sum(k * 2**j, (j, 0, _m - 1)), X)),
            Step(
                "Each window is a difference T(j+1) - T(j)",
                sp.Eq(sp.Function("T")(j), k * 2**j),
                (telescoping(k * 2**j, k * 2**j, j),),
            ),
            Step("Summed", sp.Eq(sent, X), (same(between(k * 2**j, j, 0, _m - 1), sent),)),
            Step("Solved for m", sp.Eq(_m, ROUNDS), (same(sent.subs(_m, ROUNDS), X),)),
        ),
    )


def derive_mean_fct() -> Derivation:
    """Derive repflow Eq. 5 from Eq. 1 by the mean wait of Eq. 4.

    Returns
    -------
    Derivation
        From the sum of waits to ρ M J / (2 (1 - ρ)) + 1.

    References
    ----------
    repflow Eq. 1, 3-5.

    Examples
    --------
    >>> derive_mean_fct().holds()
    True
    """
    of_size, waits = mean_wait * ROUNDS / X + 1, sp.Sum(mean_wait, (i, 1, _m))
    return Derivation(
        "mean_fct",
        "repflow",
        ("Eq. 1", "Eq. 3", "Eq. 4", "Eq. 5"),
        (
            Step("Waits of m rounds, per packet", sp.Eq(sp.Symbol("FCT_X"), sp.Sum(W[i], (i, 1, _m)) / X + 1)),
            Step(
                "In the mean every round waits E[W]",
                sp.Eq(sp.Symbol("E[FCT_{X}]"), of_size),
                (same(waits.doit().subs(_m, ROUNDS) / X + 1, of_size),),
            ),
            Step("Averaged over short flows", sp.Eq(_mean, mean_wait * J + 1)),
            Step(
                "With the mean wait of Eq. 4",
                sp.Eq(_mean, MEAN_FCT),
                (same((mean_wait * J + 1).subs(mean_wait, MEAN_WAIT), MEAN_FCT),),
            ),
        ),
    )


def derive_break_even() -> Derivation:
    """Derive repflow Eq. 6 and the load at which replication stops helping short flows.

    Returns
    -------
    Derivation
        From the load of two replicas to (1 + ε)^-2.

    References
    ----------
    repflow u (IV-B) effective load; repflow Eq. 6.

    Examples
    --------
    >>> print(derive_break_even().result)
    Eq(rho, (epsilon + 1)**(-2))
    """
    even = (1 + epsilon) ** -2
    added = REPLICATED_WAIT - MEAN_WAIT
    sign = rho * M * (rho / even - 1) / (2 * (1 - rho) * (1 - EFFECTIVE_LOAD))
    return Derivation(
        "break_even",
        "repflow",
        ("u (IV-B) effective load", "Eq. 6", "u (IV-B) break-even load"),
        (
            Step(
                "Two queues, each with the bytes of the replicas, are both busy",
                sp.Eq(sp.Symbol("rho_eff"), EFFECTIVE_LOAD),
                (same(REPLICATED_LOAD**2, EFFECTIVE_LOAD),),
            ),
            Step("The wait of Eq. 4 at this load", sp.Eq(_replicated, REPLICATED_WAIT * J + 1)),
            Step("Additional wait: less that without replicas", sp.Eq(sp.Symbol("added"), sign), (same(added, sign),)),
            Step(
                "It is negative below the load where it vanishes", sp.Eq(rho, even), (same(added.subs(rho, even), 0),)
            ),
        ),
    )


DERIVATIONS = (derive_rounds, derive_mean_fct, derive_break_even)
