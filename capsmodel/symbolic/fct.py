"""Flow completion time with and without replication as SymPy forms.

=================== ============ ========================== ============= =======================
Quantity            Symbol       Name                       Unit          Equation
=================== ============ ========================== ============= =======================
rounds              m            rounds                     1             repflow u (IV-A)
short flow          FCT_X, E[FCT] short_fct, mean_fct       1             repflow Eq. 1, 3, 5, 6
long flow           FCT^L        long_fct, mean_fct_long    1             repflow Eq. 2, 7, 8
short, percentile                tail_fct                   1             repflow Eq. 11-12
long, percentile                 tail_fct_long              1             repflow Eq. 13-14
loads               ρ            effective_load and others  1             repflow u (IV-B)
=================== ============ ========================== ============= =======================

Completion times are divided by those without contention, so they have no unit.
"""

import sympy as sp

from capsmodel.symbolic.forms import Derivation, Formula, Step, between, same, telescoping
from capsmodel.symbolic.queueing import MEAN_WAIT, WAIT_PERCENTILE, M, mean_size, mean_wait, rho

X, k, x, S_L, x_0, J, N, P = sp.symbols("X k x S_L x_0 J N P", positive=True)
epsilon = sp.Symbol("epsilon", positive=True)
i = sp.Symbol("i", integer=True, positive=True)
j = sp.Symbol("j", integer=True, nonnegative=True)
W = sp.IndexedBase("W")
f, F = sp.Function("f"), sp.Function("F")
mean_long, mean_long_replicated = sp.symbols("E[FCT^{L}] E[FCT^{L}_{rep}]", positive=True)
_mean, _replicated, _tail = sp.symbols("E[FCT] E[FCT_{rep}] FCTtilde")
_m = sp.Symbol("m")

ROUNDS = sp.log(X / k + 1, 2)
EFFECTIVE_LOAD = (1 + epsilon) ** 2 * rho**2
REPLICATED_LOAD = (1 + epsilon) * rho
MEAN_FCT = MEAN_WAIT * J + 1
MEAN_FCT_LONG = rho / (2 * (1 - rho)) + 1
REPLICATED_WAIT = MEAN_WAIT.subs(rho, EFFECTIVE_LOAD)
EXCESS = 2 * sp.log(10) - 1  # of the 99th percentile of the wait over its mean, in means (Eq. 10)

_SIZES = {
    f: "density of the flow size",
    F: "its distribution function",
    S_L: "threshold between short and long, packets",
}
_MODEL = {rho: "load", M: "burst, packets"}
_AVERAGES = {
    J: "mean of rounds over packets, short flows",
    N: "as J with one round at the 99th percentile of the wait",
    P: "mean of 1 over packets, long flows",
    epsilon: "byte share of short flows",
}
_LONG_FLOW = sp.Eq(sp.Symbol("FCT^L_X"), sp.Sum(W[i], (i, 1, X / M)) / X + 1)


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
        "long_fct",
        "repflow",
        "Eq. 2",
        _LONG_FLOW,
        {X: "flow size, packets", M: "burst, packets", W: "wait of each burst, packet times"},
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
        {**_MODEL, J: _AVERAGES[J]},
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
        {rho: "load", epsilon: _AVERAGES[epsilon]},
        "capsmodel.fct.replication.replicated_load",
    ),
    Formula(
        "effective_load",
        "repflow",
        "u (IV-B) effective load",
        sp.Eq(sp.Symbol("rho_eff"), EFFECTIVE_LOAD),
        {rho: "load", epsilon: _AVERAGES[epsilon]},
        "capsmodel.fct.replication.effective_load",
    ),
    Formula(
        "break_even_load",
        "repflow",
        "u (IV-B) break-even load",
        sp.Eq(sp.Symbol("rho_even"), (1 + epsilon) ** -2),
        {epsilon: _AVERAGES[epsilon]},
        "capsmodel.fct.replication.replication_break_even_load",
    ),
    Formula(
        "mean_fct_replicated",
        "repflow",
        "Eq. 6",
        sp.Eq(_replicated, REPLICATED_WAIT * J + 1),
        {**_MODEL, J: _AVERAGES[J], epsilon: _AVERAGES[epsilon]},
        "capsmodel.fct.completion.mean_fct",
    ),
    Formula(
        "mean_fct_long",
        "repflow",
        "Eq. 7",
        sp.Eq(mean_long, MEAN_FCT_LONG),
        {rho: "load"},
        "capsmodel.fct.completion.mean_fct_long",
    ),
    Formula(
        "mean_fct_long_replicated",
        "repflow",
        "Eq. 8",
        sp.Eq(mean_long_replicated, MEAN_FCT_LONG.subs(rho, REPLICATED_LOAD)),
        {rho: "load", epsilon: _AVERAGES[epsilon]},
        "capsmodel.fct.completion.mean_fct_long",
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
        {**_MODEL, N: _AVERAGES[N], epsilon: _AVERAGES[epsilon]},
        "capsmodel.fct.completion.tail_fct",
    ),
    Formula(
        "tail_fct_long",
        "repflow",
        "Eq. 13",
        sp.Eq(sp.Symbol("FCTtilde^L"), mean_long + EXCESS * mean_wait * P),
        {mean_long: "Eq. 7", mean_wait: "Eq. 4, packet times", P: _AVERAGES[P]},
        "capsmodel.fct.completion.tail_fct_long",
    ),
    Formula(
        "tail_fct_long_replicated",
        "repflow",
        "Eq. 14",
        sp.Eq(sp.Symbol("FCTtilde^L_rep"), mean_long_replicated + EXCESS * MEAN_WAIT.subs(rho, REPLICATED_LOAD) * P),
        {mean_long_replicated: "Eq. 8", **_MODEL, epsilon: _AVERAGES[epsilon], P: _AVERAGES[P]},
        "capsmodel.fct.completion.tail_fct_long",
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
    repflow u (IV-A) rounds

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
    repflow Eq. 1, 3-5

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
                sp.Eq(sp.Symbol("E[FCT_X]"), of_size),
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
    repflow u (IV-B) effective load; repflow Eq. 6

    Examples
    --------
    >>> print(derive_break_even().result)
    Eq(rho, (epsilon + 1)**(-2))
    """
    even = (1 + epsilon) ** -2
    gain = REPLICATED_WAIT - MEAN_WAIT
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
            Step("Less the wait without replicas", sp.Eq(sp.Symbol("gain"), sign), (same(gain, sign),)),
            Step("It is negative below the load where it vanishes", sp.Eq(rho, even), (same(gain.subs(rho, even), 0),)),
        ),
    )


def derive_mean_fct_long() -> Derivation:
    """Derive repflow Eq. 7 and 8 from Eq. 2.

    Returns
    -------
    Derivation
        From X/M bursts that wait E[W] each to a form without size and burst.

    References
    ----------
    repflow Eq. 2, 7-8

    Examples
    --------
    >>> derive_mean_fct_long().holds()
    True
    """
    replicated = REPLICATED_LOAD / (2 * (1 - REPLICATED_LOAD)) + 1
    bursts = sp.Symbol("n")
    waits = sp.Sum(MEAN_WAIT, (i, 1, bursts)).doit().subs(bursts, X / M) / X + 1
    return Derivation(
        "mean_fct_long",
        "repflow",
        ("Eq. 2", "Eq. 4", "Eq. 7", "Eq. 8"),
        (
            Step(
                "Waits of X/M bursts, per packet", sp.Eq(sp.Symbol("FCT^{L}_{X}"), sp.Sum(W[i], (i, 1, X / M)) / X + 1)
            ),
            Step(
                "In the mean each waits as in Eq. 4; X and M cancel",
                sp.Eq(mean_long, MEAN_FCT_LONG),
                (same(waits, MEAN_FCT_LONG),),
            ),
            Step(
                "With the replicas' bytes in the queue",
                sp.Eq(mean_long_replicated, replicated),
                (same(MEAN_FCT_LONG.subs(rho, REPLICATED_LOAD), replicated),),
            ),
        ),
    )


def derive_tail_fct_long() -> Derivation:
    """Derive repflow Eq. 13 for a flow of X packets.

    Returns
    -------
    Derivation
        From one burst at the 99th percentile of the wait to Eq. 7 plus an excess over X.

    References
    ----------
    repflow Eq. 13

    Examples
    --------
    >>> derive_tail_fct_long().holds()
    True
    """
    tail = ((X / M - 1) * MEAN_WAIT + WAIT_PERCENTILE) / X + 1
    excess = MEAN_FCT_LONG + EXCESS * MEAN_WAIT / X
    result = mean_long + EXCESS * mean_wait * P
    return Derivation(
        "tail_fct_long",
        "repflow",
        ("Eq. 7", "Eq. 10", "Eq. 13"),
        (
            Step("One of X/M bursts waits as in Eq. 10, the others as in Eq. 4", sp.Eq(_tail, tail)),
            Step("Gathered", sp.Eq(_tail, excess), (same(tail, excess),)),
            Step(
                "Averaged over long flows, of which 1/X has the mean P",
                sp.Eq(_tail, result),
                (same(result.subs({mean_long: MEAN_FCT_LONG, mean_wait: MEAN_WAIT}), excess.subs(X, 1 / P)),),
            ),
        ),
    )


DERIVATIONS = (derive_rounds, derive_mean_fct, derive_break_even, derive_mean_fct_long, derive_tail_fct_long)
