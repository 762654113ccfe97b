"""Connection loss, redundancy, timeouts and small quantities of DC2-MTCP as SymPy forms.

==========================  ======  ============================  =========  =================
Quantity                    Symbol  Name                          Unit       Equation
==========================  ======  ============================  =========  =================
redundancy                  γ, γ_1  redundancy_rate and others    packets/s  dc2mtcp Eq. 1, 5
connection loss             p       connection_loss_prob          1          dc2mtcp Eq. 4
timeout                     P_to    timeout_prob                  1          dc2mtcp Eq. 6
redundancy of a small flow  γ_2     small_flow_redundancy         1          dc2mtcp Eq. 10
completion times            –       retransmitted_fct, coded_fct  s          dc2mtcp u (III-A)
option, buffer, work        –       option_length and others      byte, bit  unnumbered
==========================  ======  ============================  =========  =================

A sum or maximum over i runs over the n subflows.
"""

import sympy as sp

from capsmodel.symbolic.congestion import (
    LIA,
    OVER_SUBFLOWS,
    PATH_LOSS,
    PATH_LOSS_PRINTED,
    RTT,
    SUBFLOWS,
    W,
    W_i,
    W_total,
    n,
    p_i,
)
from capsmodel.symbolic.forms import INDEX as i
from capsmodel.symbolic.forms import LARGEST, Derivation, Formula, Step, same, telescoping

rate, BW = sp.IndexedBase("lambda", positive=True), sp.IndexedBase("BW", positive=True)
loss, total_rate, rate_i = sp.symbols("p lambda lambda_i", positive=True)
RTO, RTT_1, RTT_2 = sp.symbols("RTO RTT_1 RTT_2", positive=True)
W_v, W_s = sp.symbols("W_v W_s", integer=True, nonnegative=True)
coded, original = sp.symbols("l m", integer=True, positive=True)
window = sp.Symbol("W_i", integer=True, positive=True)
j, m = sp.symbols("j m", integer=True, nonnegative=True)

_FEW_ARRIVE = sp.Sum(sp.binomial(window, window - j) * p_i ** (window - j) * (1 - p_i) ** j, (j, 0, 2))
_FEW_BEHIND = sp.Sum(sp.binomial(m, j) * p_i ** (m - j) * (1 - p_i) ** j, (j, 0, 2))
TIMEOUT = sp.Piecewise((1 - (1 - p_i) ** window, window <= 3), (_FEW_ARRIVE, True))
TIMEOUT_EXACT = sp.Sum((1 - p_i) ** (window - 1 - m) * p_i * _FEW_BEHIND, (m, 0, window - 1))

_MATRIX = {coded: "coded packets", original: "original packets"}

FORMULAS = (
    Formula(
        "retransmitted_fct",
        "dc2mtcp",
        "u (III-A) example",
        sp.Eq(sp.Symbol("FCT_uncoded"), RTO + RTT_1 / 2),
        {RTO: "retransmission timeout, s", RTT_1: "RTT of the lossy path, s"},
        "capsmodel.multipath.timeouts.retransmitted_fct_s",
    ),
    Formula(
        "coded_fct",
        "dc2mtcp",
        "u (III-A) example",
        sp.Eq(sp.Symbol("FCT_coded"), sp.Rational(3, 2) * RTT_2),
        {RTT_2: "RTT of the other path, s"},
        "capsmodel.multipath.timeouts.coded_fct_s",
    ),
    Formula(
        "option_length",
        "dc2mtcp",
        "u (III-B) option length",
        sp.Eq(sp.Symbol("bytes"), 3 * n - 1),
        {n: "packets mixed"},
        "capsmodel.multipath.coded_transport.coded_option_bytes",
    ),
    Formula(
        "apl_measure",
        "dc2mtcp",
        "u (IV-A) APL measure",
        sp.Eq(sp.Symbol("psi"), W_v - W_s),
        {W_v: "packets between the edges of the window", W_s: "unacknowledged packets among them"},
        "capsmodel.multipath.coding_schedule.pre_coding_measure",
    ),
    Formula(
        "reorder_buffer",
        "dc2mtcp",
        "u (IV-B) reorder buffer",
        sp.Eq(sp.Symbol("B_fr"), sp.Sum(BW[i], OVER_SUBFLOWS) * LARGEST(RTT[i])),
        {n: "subflows", BW: "rate of each subflow, bit/s", RTT: "RTT of each subflow, s"},
        "capsmodel.multipath.timeouts.reorder_buffer_bits",
    ),
    Formula(
        "redundancy_rate",
        "dc2mtcp",
        "u (IV-B) redundancy rate",
        sp.Eq(sp.Symbol("gamma"), loss / (1 - loss) * total_rate),
        {loss: "loss probability of the connection", total_rate: "original packets per second"},
        "capsmodel.multipath.coded_transport.redundancy_rate_per_s",
    ),
    Formula(
        "subflow_redundancy_rate",
        "dc2mtcp",
        "Eq. 1",
        sp.Eq(sp.Symbol("gamma_1^i"), loss / (1 - loss) * rate_i),
        {loss: "loss probability of the connection", rate_i: "original packets per second on the subflow"},
        "capsmodel.multipath.coded_transport.redundancy_rate_per_s",
    ),
    Formula(
        "connection_loss_prob",
        "dc2mtcp",
        "Eq. 4",
        sp.Eq(loss, sp.Sum(W[i] * PATH_LOSS.subs(W_i, W[i]), OVER_SUBFLOWS) / W_total),
        {**SUBFLOWS, **LIA},
        "capsmodel.multipath.coded_transport.connection_loss_prob",
        printed=sp.Eq(loss, sp.Sum(W[i] * PATH_LOSS_PRINTED.subs(W_i, W[i]), OVER_SUBFLOWS) / W_total),
    ),
    Formula(
        "connection_redundancy_rate",
        "dc2mtcp",
        "Eq. 5",
        sp.Eq(sp.Symbol("gamma_1"), sp.Sum(loss / (1 - loss) * rate[i], OVER_SUBFLOWS)),
        {n: "subflows", loss: "loss probability of the connection", rate: "original packets per second of each"},
        "capsmodel.multipath.coded_transport.redundancy_rate_per_s",
    ),
    Formula(
        "timeout_prob",
        "dc2mtcp",
        "Eq. 6",
        sp.Eq(sp.Symbol("P_to"), TIMEOUT),
        {window: "window of the subflow, packets", p_i: "its loss probability"},
        "capsmodel.multipath.timeouts.timeout_prob",
    ),
    Formula(
        "small_flow_redundancy",
        "dc2mtcp",
        "Eq. 10",
        sp.Eq(sp.Symbol("gamma_2"), 1 / W_total),
        {W_total: LIA[W_total]},
        "capsmodel.multipath.coded_transport.small_flow_redundancy_ratio",
    ),
    Formula(
        "decoding_work",
        "dc2mtcp",
        "u (V) decoding work",
        sp.Eq(sp.Symbol("ratio"), coded / (original + coded)),
        _MATRIX,
        "capsmodel.multipath.coded_transport.decoding_work_ratio",
    ),
    Formula(
        "coded_original_ratio",
        "dc2mtcp",
        "u (VI) metrics",
        sp.Eq(sp.Symbol("epsilon"), coded / original),
        _MATRIX,
        "capsmodel.multipath.coded_transport.coded_original_ratio",
    ),
)


def derive_redundancy_rate() -> Derivation:
    """Derive dc2mtcp Eq. 1 as a geometric series, and Eq. 5 as its sum over subflows.

    Returns
    -------
    Derivation
        From coded packets that repair lost packets, coded ones included, to p / (1 - p) for each original packet.

    References
    ----------
    dc2mtcp Eq. 1, 5.

    Examples
    --------
    >>> derive_redundancy_rate().holds()
    True
    """
    ratio, primitive = loss / (1 - loss), -(loss**m) / (1 - loss)
    shares = sp.Sum(ratio * rate[i], OVER_SUBFLOWS)
    return Derivation(
        "redundancy_rate",
        "dc2mtcp",
        ("Eq. 1", "Eq. 5"),
        (
            Step(
                "Of each packet p is lost, of the coded ones for it p again, and so on",
                sp.Eq(sp.Symbol("gamma_1") / total_rate, sp.Sum(loss**m, (m, 1, sp.oo))),
            ),
            Step(
                "Each term is a difference T(m+1) - T(m), and T vanishes at infinity",
                sp.Eq(sp.Function("T")(m), primitive),
                (telescoping(loss**m, primitive, m),),
            ),
            Step(
                "So the sum is -T(1)",
                sp.Eq(sp.Symbol("gamma_1") / total_rate, ratio),
                (same(-primitive.subs(m, 1), ratio), same(1 / (1 - loss) - 1, ratio)),
            ),
            Step(
                "The same for each subflow, summed",
                sp.Eq(sp.Symbol("gamma_1"), ratio * sp.Sum(rate[i], OVER_SUBFLOWS)),
                (same(sp.factor_terms(shares), ratio * sp.Sum(rate[i], OVER_SUBFLOWS)),),
            ),
        ),
    )


def derive_timeout() -> Derivation:
    """Derive where dc2mtcp Eq. 6 is exact and what it misses beyond.

    Returns
    -------
    Derivation
        From the place of the first loss: equal to Eq. 6 for windows of at most 3, above it by 3 p (1-p)^3 for 4.

    References
    ----------
    dc2mtcp Eq. 6.

    Examples
    --------
    >>> print(derive_timeout().result)
    Eq(P_exact - P_to, 3*p_i*(1 - p_i)**3)
    """
    exact, printed = sp.symbols("P_exact P_to")
    missed = 3 * p_i * (1 - p_i) ** 3
    return Derivation(
        "timeout",
        "dc2mtcp",
        ("Eq. 6",),
        (
            Step("m packets follow the first loss, and at most two of them arrive", sp.Eq(exact, TIMEOUT_EXACT)),
            Step(
                "In windows of 1, 2 and 3 at most two can follow, so any loss is a timeout",
                sp.Eq(exact, 1 - (1 - p_i) ** window),
                tuple(same(_at(TIMEOUT_EXACT, size), _at(TIMEOUT, size)) for size in (1, 2, 3)),
            ),
            Step(
                "For 4 the printed form misses one loss with an arrival before it: three places",
                sp.Eq(exact - printed, missed),
                (same(_at(TIMEOUT_EXACT, 4) - _at(TIMEOUT, 4), missed),),
            ),
        ),
    )


def derive_coded_timeout() -> Derivation:
    """Derive how likely a flow times out behind one coded packet of all its packets, by dc2mtcp Eq. 6.

    Returns
    -------
    Derivation
        From n subflows with windows w of at most 3 to the two losses that little loss leaves.

    References
    ----------
    dc2mtcp Eq. 6.

    Examples
    --------
    >>> derivation = derive_coded_timeout()
    >>> derivation.holds(), derivation.steps[2].expression
    (True, Eq(P_to, -n*p*w*(1 - p)**(n*w) - (1 - p)**(n*w) + 1))
    """
    p, w = loss, sp.Symbol("w", integer=True, positive=True)
    packets, prob = n * w, sp.Symbol("P_to")
    whole = (1 - p) ** packets
    repaired = packets * p * (1 - p) ** (packets - 1) * (1 - p)
    left = 1 - whole - packets * p * whole
    pairs = packets * (packets + 1) / 2
    return Derivation(
        "coded_timeout",
        "dc2mtcp",
        ("Eq. 6",),
        (
            Step(
                "Without a code: in windows of at most 3 packets any loss is a timeout",
                sp.Eq(prob, 1 - whole),
                tuple(same(1 - _at(TIMEOUT_EXACT, size), (1 - p_i) ** size) for size in (1, 2, 3)),
            ),
            Step(
                "Exactly one packet of n w is lost, and the coded one is not",
                sp.Eq(sp.Symbol("repaired"), sp.Mul(packets, p, (1 - p) ** (packets - 1), 1 - p, evaluate=False)),
            ),
            Step("The coded packet spares these timeouts", sp.Eq(prob, left), (same(1 - whole - repaired, left),)),
            Step(
                "With little loss two packets of n w + 1 have to be lost",
                sp.Eq(prob, pairs * p**2 + sp.O(p**3)),
                (same(sp.diff(left, p).subs(p, 0), 0), same(sp.diff(left, p, 2).subs(p, 0) / 2, pairs)),
            ),
        ),
    )


def _at(form: sp.Expr, packets: int) -> sp.Expr:
    return form.subs(window, packets).doit()


DERIVATIONS = (derive_redundancy_rate, derive_timeout, derive_coded_timeout)
