"""Completion time (FCT) of long flows, with and without replication of short ones, as SymPy forms.

================  ============  ========================  ====  =============
Quantity          Symbol        Name                      Unit  Equation
================  ============  ========================  ====  =============
long flow         FCT^L_X       long_fct                  1     repflow Eq. 2
long flows, mean  E[FCT^L]      mean_fct_long             1     repflow Eq. 7
same, two copies  E[FCT^L_rep]  mean_fct_long_replicated  1     repflow Eq. 8
long flows, tail  FCTtilde^L    tail_fct_long             1     repflow Eq. 13
same, two copies  FCTtilde_rep  tail_fct_long_replicated  1     repflow Eq. 14
================  ============  ========================  ====  =============

Completion times are divided by those without contention, so their unit is 1.
"""

import sympy as sp

from capsmodel.symbolic.fct import AVERAGES, EXCESS, MODEL, REPLICATED_LOAD, W, X, epsilon, i
from capsmodel.symbolic.forms import Derivation, Formula, Step, same
from capsmodel.symbolic.queueing import MEAN_WAIT, WAIT_PERCENTILE, M, mean_wait, rho

P = sp.Symbol("P", positive=True)
mean_long, mean_long_replicated = sp.symbols("E[FCT^{L}] E[FCT^{L}_{rep}]", positive=True)
_tail = sp.Symbol("FCTtilde")

MEAN_FCT_LONG = rho / (2 * (1 - rho)) + 1
_LONG_FLOW = sp.Eq(sp.Symbol("FCT^L_X"), sp.Sum(W[i], (i, 1, X / M)) / X + 1)
_MEAN_OF_ONE = "mean of 1 over packets, long flows"

FORMULAS = (
    Formula(
        "long_fct",
        "repflow",
        "Eq. 2",
        _LONG_FLOW,
        {X: "flow size, packets", M: "burst, packets", W: "wait of each burst, packet times"},
    ),
    Formula(
        "mean_fct_long",
        "repflow",
        "Eq. 7",
        sp.Eq(mean_long, MEAN_FCT_LONG),
        {rho: "load"},
        "capsmodel.fct.long_flows.mean_fct_long",
    ),
    Formula(
        "mean_fct_long_replicated",
        "repflow",
        "Eq. 8",
        sp.Eq(mean_long_replicated, MEAN_FCT_LONG.subs(rho, REPLICATED_LOAD)),
        {rho: "load", epsilon: AVERAGES[epsilon]},
        "capsmodel.fct.long_flows.mean_fct_long",
    ),
    Formula(
        "tail_fct_long",
        "repflow",
        "Eq. 13",
        sp.Eq(sp.Symbol("FCTtilde^L"), mean_long + EXCESS * mean_wait * P),
        {mean_long: "Eq. 7", mean_wait: "Eq. 4, packet times", P: _MEAN_OF_ONE},
        "capsmodel.fct.long_flows.tail_fct_long",
    ),
    Formula(
        "tail_fct_long_replicated",
        "repflow",
        "Eq. 14",
        sp.Eq(sp.Symbol("FCTtilde^L_rep"), mean_long_replicated + EXCESS * MEAN_WAIT.subs(rho, REPLICATED_LOAD) * P),
        {mean_long_replicated: "Eq. 8", **MODEL, epsilon: AVERAGES[epsilon], P: _MEAN_OF_ONE},
        "capsmodel.fct.long_flows.tail_fct_long",
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
    repflow Eq. 2, 7-8.

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
    repflow Eq. 13.

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


DERIVATIONS = (derive_mean_fct_long, derive_tail_fct_long)
