"""Random codes, unequal paths, loss bursts, and the loss from which a code pays, as derivations of no paper.

================================ ====== ======================== =======
Quantity                         Symbol Name                     Unit
================================ ====== ======================== =======
k random packets decode          Q      `derive_full_rank`       1
packets lost in round robin      L      `derive_round_robin`     packets
correlation of losses            λ      `derive_loss_bursts`     1
loss from which a code pays      p*     `derive_coding_pays`     1
================================ ====== ======================== =======
"""

import sympy as sp

from capsmodel.symbolic.decoding import k, r
from capsmodel.symbolic.forms import Derivation, Step, same, telescoping

q, X, T, tau = sp.symbols("q X T tau", positive=True)
i, j, n = sp.symbols("i j n", integer=True, positive=True)
p, z, mean_loss, p_i = sp.symbols("p z pbar p_i", positive=True)
b, on_path, begins, correlation = sp.symbols("b pi a lambda", positive=True)
D = sp.Symbol("D", integer=True, nonnegative=True)

FULL_RANK = sp.Product(1 - q**-j, (j, 1, k))
MORE_PACKETS = sp.Sum(1 / (q**j - 1), (j, 1, k))
REPEATED = X * tau + T * sp.Sum(1 - (1 - p**j) ** X, (j, 1, sp.oo))
CODED = X * tau + (X / k - 1) * r * tau
PAYS_FROM = r * tau / (k * T)


def derive_full_rank() -> Derivation:
    """Derive how likely k packets of a random code decode, and how many more than k are needed.

    Returns
    -------
    Derivation
        From the packets that are spanned by those before them to the sum of 1/(q^j - 1).

    References
    ----------
    Beyond cdcps Eq. 7, which takes Q = 1.

    Examples
    --------
    >>> print(derive_full_rank().start)
    Eq(P_i, 1 - q**(i - k))
    """
    new, counted = 1 - q ** (i - k), 1 - q**-j
    quotient = -(q ** (1 - j)) / (q - 1)
    prob = sp.Symbol("Q")
    return Derivation(
        "full_rank",
        "",
        (),
        (
            Step("Behind i independent packets the next one is new with probability", sp.Eq(sp.Symbol("P_i"), new)),
            Step(
                "All k are new, counted from the last one",
                sp.Eq(prob, FULL_RANK),
                (same(new.subs(i, k - j), counted),),
            ),
            Step(
                "Not less than 1 minus the sum of their failures",
                sp.Ge(prob, 1 - 1 / (q - 1)),
                (telescoping(q**-j, quotient, j), same(-quotient.subs(j, 1), 1 / (q - 1))),
            ),
            Step(
                "A new packet of probability P takes 1/P attempts, so that the mean needed is",
                sp.Eq(sp.Symbol("kprime"), k + MORE_PACKETS),
                (same(1 / counted - 1, 1 / (q**j - 1)),),
            ),
        ),
    )


def derive_round_robin() -> Derivation:
    """Derive the law of the packets that a unit loses on unequal paths, and why round robin varies less than chance.

    Returns
    -------
    Derivation
        From the generating function of the lost packets to the variances in round robin and at random.

    References
    ----------
    Beyond the papers: the Poisson binomial distribution.

    Examples
    --------
    >>> print(derive_round_robin().result)
    Eq(Var(L), n*pbar*(1 - pbar))
    """
    lost = sp.Symbol("L")
    variance, each = sp.Function("Var")(lost), 1 - p_i + p_i * z
    at_random = n * mean_loss * (1 - mean_loss)
    paths, over = sp.IndexedBase("p"), (i, 1, n)
    apart = p_i - mean_loss
    parts = mean_loss * (1 - mean_loss) + (1 - 2 * mean_loss) * apart - apart**2
    return Derivation(
        "round_robin",
        "",
        (),
        (
            Step(
                "The probability of m losses is the coefficient of the power m of z",
                sp.Eq(sp.Function("G")(z), sp.Product(each.subs(p_i, paths[i]), over)),
            ),
            Step(
                "The slope of its logarithm at 1 is the mean",
                sp.Eq(sp.Function("E")(lost), sp.Sum(paths[i], over)),
                (same(sp.diff(sp.log(each), z).subs(z, 1), p_i),),
            ),
            Step(
                "The mean and the second derivative there are the variance",
                sp.Eq(variance, sp.Sum(paths[i] * (1 - paths[i]), over)),
                (same(sp.diff(sp.log(each), z, 2).subs(z, 1) + p_i, p_i * (1 - p_i)),),
            ),
            Step(
                "By distances from the mean loss, which add to 0",
                sp.Eq(variance, at_random - sp.Sum((paths[i] - mean_loss) ** 2, over)),
                (same(p_i * (1 - p_i), parts), same(sp.Sum(mean_loss * (1 - mean_loss), over).doit(), at_random)),
            ),
            Step(
                "At random each packet has the mean loss, so no distance is left",
                sp.Eq(variance, at_random),
                (same(parts.subs(p_i, mean_loss) * n, at_random),),
            ),
        ),
    )


def derive_loss_bursts() -> Derivation:
    """Derive what one packet says of a later one where losses come in bursts.

    Returns
    -------
    Derivation
        From the balance of two states to the correlation λ^D of packets that are D apart.

    References
    ----------
    Beyond the papers: Gilbert, Capacity of a burst-noise channel, 1960.

    Examples
    --------
    >>> print(derive_loss_bursts().result)
    Eq(P_D, lambda**D*(1 - pi) + pi)
    """
    balance = on_path / (b * (1 - on_path))
    lasts, follows = 1 - 1 / b, 1 - 1 / (b * (1 - on_path))
    later = on_path + (1 - on_path) * correlation**D
    step = (later * lasts + (1 - later) * begins).subs({begins: balance}).subs(correlation, follows)
    return Derivation(
        "loss_bursts",
        "",
        (),
        (
            Step("Bursts of mean length b end as often as they begin", sp.Eq(on_path / b, (1 - on_path) * begins)),
            Step(
                "Solved for the probability of a loss behind a packet that arrives",
                sp.Eq(begins, balance),
                (same(on_path / b, (1 - on_path) * balance),),
            ),
            Step(
                "Behind a lost packet, where it is 1 - 1/b, a loss is more likely by",
                sp.Eq(correlation, follows),
                (same(lasts - balance, follows),),
            ),
            Step(
                "By induction packet D behind a lost one is lost with probability",
                sp.Eq(sp.Symbol("P_D"), later),
                (same(later.subs(D, 0), 1), same(step, later.subs(D, D + 1).subs(correlation, follows))),
            ),
        ),
    )


def derive_coding_pays() -> Derivation:
    """Derive the loss from which a message is complete sooner with a code than by repetition.

    Returns
    -------
    Derivation
        From the mean times of both to r τ / (k T), for a time T that is longer than the message and a rare loss.

    References
    ----------
    Beyond the papers.

    Examples
    --------
    >>> print(derive_coding_pays().result)
    Eq(p^*, r*tau/(T*k))
    """
    again = 1 - (1 - p**j) ** X
    first = X * tau + T * X * p
    equal = PAYS_FROM * (1 - k / X)
    pays = sp.Symbol("p^*")
    return Derivation(
        "coding_pays",
        "",
        (),
        (
            Step(
                "Repetition adds T for each loss of the packet that is lost most often",
                sp.Eq(sp.Symbol("t_repeat"), REPEATED),
            ),
            Step(
                "With little loss only the first term counts",
                sp.Eq(sp.Symbol("t_repeat"), first),
                tuple(same(sp.diff(again.subs(j, times), p).subs(p, 0), slope) for times, slope in ((1, X), (2, 0))),
            ),
            Step(
                "Code: r packets more for each unit but the last, and no unit fails",
                sp.Eq(sp.Symbol("t_code"), CODED),
            ),
            Step("Equal at", sp.Eq(pays, equal), (same(first.subs(p, equal), CODED),)),
            Step("For many units", sp.Eq(pays, PAYS_FROM), (same(sp.limit(equal, X, sp.oo), PAYS_FROM),)),
        ),
    )


DERIVATIONS = (derive_full_rank, derive_round_robin, derive_loss_bursts, derive_coding_pays)
