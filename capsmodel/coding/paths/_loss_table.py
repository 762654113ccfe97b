r"""P(more than r of the n packets of a unit are lost), for all n and r in one pass.

==================================  ================  =====================  =================================
Quantity                            Symbol            Name                   Losses
==================================  ================  =====================  =================================
all tails, packets independent      P(L_n > r)        :func:`independent`    packet i is lost with q_i
counts of one path                  P(L_(i,c) = l)    :func:`path_counts`    a chain of three states
all tails, packets in turn          P(L_n > r)        :func:`in_turn`        independent paths
all tails, some paths down          P(L_n > r)        :func:`some_down`      equal paths in turn
all tails, a random path each       P(L_n > r)        :func:`at_random`      independent paths
==================================  ================  =====================  =================================

**Independent packets.** One packet more, lost with probability q, changes a tail by

.. math:: P(L_{n+1} > r) = (1-q)\,P(L_n > r) + q\,P(L_n > r-1), \qquad P(L_n > -1) = 1.

**One path.** Its packets pass a chain of the states *good*, *bad* (a loss burst) and *gone* (the path is down, or
the packet and all behind it come too late). The mass of each state is kept by the number of packets lost so far.

**Several paths.** Their counts are independent, so the number of packets lost is a sum: counts are convolved. *In turn*
a further packet changes the count of one path, hence those sums in a binary tree of the paths that lie above it: one of
each level. *At random* the packets of the paths are multinomial; weighted with Poisson masses of mean :math:`\lambda
w_i` they are independent, and

.. math:: P(L_n > r) = \frac{\sum_{c_1+\cdots+c_m=n}\prod_i \mathrm{Poi}(c_i;\lambda w_i)\,\cdots}
                            {\mathrm{Poi}(n;\lambda)}.

**Digits.** Counts above R are one entry, "more than R", which only gains. So every number is a sum of products of
probabilities: nothing is subtracted, and 1e-60 has the digits of 0.1. Relative error some n roundings, 1e-13 for
hundreds of packets. One minus a distribution function, or a Fourier transform, is wrong by 1e-16 of *one*.

NumPy runs these functions as they stand; for a large table :func:`independent` and :func:`in_turn` are compiled, which
changes the order of sums and so the last bits. Which of the two it is depends on the size of the table alone.
"""

from typing import Any

import numpy as np

from capsmodel.checks import FloatArray, IntArray

MOST_AT_RANDOM = 256
"""Most packets of a unit whose paths are random and have loss bursts: the work grows as (n R)^2."""


def independent(lost: FloatArray, table: FloatArray) -> None:
    """Fill in P(L_n > r), of shape (N + 1, R + 1), where packet i is lost with probability lost[i]."""
    table[0] = 0.0
    for i in range(len(lost)):
        before, after, q = table[i], table[i + 1], lost[i]
        after[0] = before[0] * (1 - q) + q
        after[1:] = before[1:] * (1 - q) + before[:-1] * q


def with_packet(counts: FloatArray, lost: float | FloatArray) -> FloatArray:
    """Return the counts with one packet more; the last entry is "more"."""
    after = counts * (1 - lost)
    after[-1] = counts[-1]
    after[1:] += counts[:-1] * lost
    return after


def path_counts(
    enter: FloatArray,
    stay: FloatArray,
    leave: FloatArray,
    going: FloatArray,
    good_loss: FloatArray,
    bad_loss: FloatArray,
    most: int,
) -> FloatArray:
    """Return P(l of the first c packets of a path are lost), shape (C + 1, most + 2).

    Before packet c a run begins with probability enter[c], goes on with stay[c] or ends with leave[c], and all is gone
    with going[c].
    """
    counts = np.zeros((len(enter) + 1, most + 2))
    counts[0, 0] = 1.0
    good, bad, gone = counts[0], np.zeros(most + 2), np.zeros(most + 2)
    for c in range(len(enter)):
        turned = good * (1 - enter[c]) + bad * leave[c]
        bad = good * enter[c] + bad * stay[c]
        gone = gone + (turned + bad) * going[c]
        good = with_packet(turned * (1 - going[c]), good_loss[c])
        bad = with_packet(bad * (1 - going[c]), bad_loss[c])
        gone = with_packet(gone, 1.0)
        counts[c + 1] = good + bad + gone
    return counts


def tails(counts: FloatArray) -> FloatArray:
    """Return P(L > r) for r = 0..R from the R + 2 counts."""
    return np.cumsum(counts[:0:-1])[::-1]


def sum_of(a: FloatArray, b: FloatArray, most_a: int, most_b: int) -> FloatArray:
    """Return the counts of a sum of two, of which the first is at most `most_a` and the second at most `most_b`."""
    more = len(a) - 1
    both = np.convolve(a[: min(most_a + 1, more)], b[: min(most_b + 1, more)])
    kept = min(len(both), more)
    total = np.zeros(more + 1)
    total[:kept] = both[:kept]
    total[more] = np.sum(both[kept:]) + a[more] * np.sum(b) + np.sum(a[:more]) * b[more]
    return total


def in_turn(counts: FloatArray, turns: IntArray, least: int, table: FloatArray) -> None:
    """Fill in P(L_n > r) for n >= least, where packet i takes path turns[i]; counts[j, c] is c packets of path j."""
    leaves = 1
    while leaves < len(counts):
        leaves *= 2
    tree, packets = np.zeros((2 * leaves, counts.shape[2])), np.zeros(2 * leaves, np.int64)
    tree[:, 0] = 1.0
    for n in range(len(turns)):
        node = leaves + turns[n]
        packets[node] += 1
        tree[node] = counts[turns[n], packets[node]]
        if n + 1 < least:
            continue
        first = n + 1 == least
        node = leaves if first else node  # the first time all sums are made, from the leaves up
        while node > 1:
            node = node - 1 if first else node // 2
            left, right = 2 * node, 2 * node + 1
            packets[node] = packets[left] + packets[right]
            tree[node] = sum_of(tree[left], tree[right], packets[left], packets[right])
        table[n + 1] = tails(tree[1])


def some_down(alive: FloatArray, paths: int, down: int) -> FloatArray:
    """Return P(L_n > r), of shape (N + 1, R + 1), of equal paths in turn of which exactly `down` lose all.

    `alive` is the same table if none of them is down. Of n = a m + e packets the paths that are down have a each, and x
    of them one more, where x is hypergeometric: the e paths are drawn one by one.
    """
    n, r = alive.shape[0] - 1, alive.shape[1] - 1
    table = np.zeros(alive.shape)
    x = np.arange(r + 2.0)  # the last entry is "more"
    for sent in range(n + 1):
        each, further = divmod(sent, paths)
        if further == 0:
            share = np.zeros(r + 2)
            share[0] = 1.0
        else:
            rest, left = paths - further + 1, np.maximum(down - x, 0.0)
            one_more = share * (left / rest)
            share = share * (np.maximum(rest - left, 0.0) / rest)
            share[1:] += one_more[:-1]
            share[-1] += one_more[-1]
        for more in np.flatnonzero(share).tolist():
            gone = each * down + more
            table[sent, :gone] += share[more]
            if gone <= r:
                table[sent, gone:] += share[more] * alive[sent - gone, : r + 1 - gone]
    return table


def add_table(a: FloatArray, b: FloatArray) -> FloatArray:
    """Return the sum of two tables by number of packets and of lost packets, shape (N + 1, R + 2) each."""
    n, more = a.shape[0], a.shape[1] - 1
    total, above = np.zeros(a.shape), np.zeros(a.shape)
    above[:, more] = a[:, more]
    for lost in range(more - 1, -1, -1):
        above[:, lost] = above[:, lost + 1] + a[:, lost]
    for c in range(n):
        for lost in range(min(c, more - 1) + 1):
            if b[c, lost] > 0:
                total[c:, lost:more] += a[: n - c, : more - lost] * b[c, lost]
                total[c:, more] += above[: n - c, more - lost] * b[c, lost]
        total[c:, more] += above[: n - c, 0] * b[c, more]
    return total


def poisson(mean: float, most: int) -> FloatArray:
    """Return the Poisson masses of 0..most."""
    masses = np.empty(most + 1)
    masses[0] = np.exp(-mean)
    for c in range(most):
        masses[c + 1] = masses[c] * mean / (c + 1)
    return masses


def at_random(counts: FloatArray, copies: IntArray, weight: FloatArray) -> FloatArray:
    """Return P(L_n > r), where each packet draws its path.

    There are copies[i] paths with the counts of kind i, each taken with probability weight[i].
    """
    most = counts.shape[1] - 1
    mean = most / 2
    total = np.zeros(counts.shape[1:])
    total[0, 0] = 1.0
    for i in range(len(counts)):
        power, left = counts[i] * poisson(mean * weight[i], most).reshape(-1, 1), copies[i]
        while left > 0:
            if left % 2:
                total = add_table(total, power)
            left //= 2
            if left:
                power = add_table(power, power)
    sent = poisson(mean, most)
    return np.array([tails(total[n]) / sent[n] for n in range(most + 1)])


_BY_NUMPY = 2**18  # operations on arrays: a second or two, as long as it takes to load the compiler and compile


def run(function: Any, *arguments: Any, operations: float) -> FloatArray:
    """Let :func:`independent` or :func:`in_turn` fill in its last argument, and return that.

    It takes about so many operations on arrays, by NumPy or compiled.
    """
    if operations > _BY_NUMPY:
        from capsmodel._compilation import run_compiled  # loads Numba

        run_compiled(function, *arguments, parts=(tails, sum_of))
    else:
        function(*arguments)
    return np.asarray(arguments[-1])
