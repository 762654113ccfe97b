"""The law of the number of lost packets of a unit, and whether counts follow it."""

import numpy as np
from scipy import stats


def law_of(losses, n):
    """Return P(L = l) for l = 0..n of units of n packets."""
    above = losses.failure_table(n, n)[n]
    return -np.diff(above, prepend=1.0)


def chi_square(lost, law):
    """Return the p-value of the counts of lost packets; neighbours are merged until 20 are expected."""
    counts, expected = np.bincount(lost, minlength=len(law)), law * len(lost)
    merged, kept = [], np.zeros(2)
    for pair in zip(counts, expected, strict=True):
        kept = kept + pair
        if kept[1] >= 20:
            merged.append(kept)
            kept = np.zeros(2)
    merged[-1] = merged[-1] + kept
    observed, wanted = np.array(merged).T
    return stats.chisquare(observed, wanted * observed.sum() / wanted.sum()).pvalue
