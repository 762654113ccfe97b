"""Twin: variances that help each other, by the formulas of the docstring with SciPy's functions and root finder."""

import numpy as np
import pytest
from scipy import optimize, special

from capsmodel.experiments.statistics.moderated import moderated


def by_the_formulas(rows):
    """Return the variances and degrees of freedom of Smyth's law, with what the docstring adds to it."""
    count, dof = rows.shape[0], rows.shape[1] - 1
    own = rows.var(axis=1, ddof=1)
    squares = np.corrcoef(rows) ** 2
    shared = (squares.sum() - count) / (count * (count - 1))
    effective = count / (1 + (count - 1) * shared)
    logs = np.log(own) - special.digamma(dof / 2) + np.log(dof / 2)
    extra = logs.var(ddof=1) - (1 - shared) * special.polygamma(1, dof / 2)
    if extra <= 0:
        prior, scale = np.inf, own.mean()
    else:
        prior = 2 * optimize.brentq(lambda half: special.polygamma(1, half) - extra, 1e-6, 1e6)
        scale = np.exp(logs.mean() + special.digamma(prior / 2) - np.log(prior / 2))
    used = min(prior, dof * (effective - 1)) / 2
    return (used * scale + dof * own) / (used + dof), used + dof


@pytest.mark.parametrize("spread", [0.0, 0.3, 1.5])
@pytest.mark.parametrize(("count", "seeds"), [(12, 4), (5, 16), (40, 4), (24, 64)])
def test_variances_are_those_of_the_formulas(spread, count, seeds):
    """Points of equal and of very different scatter, in part on common flows."""
    rng = np.random.default_rng(count + seeds)
    scatter = np.exp(rng.normal(0, spread, count))[:, None]
    rows = scatter * (rng.normal(size=(count, seeds)) + 0.4 * rng.normal(size=seeds))
    variances, dof = by_the_formulas(rows)
    found = moderated(rows)
    assert found.degrees_of_freedom == pytest.approx(dof, rel=1e-6)
    assert found.variances == pytest.approx(variances, rel=1e-6)
    assert seeds - 1 < dof


def test_fewer_than_four_samples_are_left_to_themselves():
    rows = np.random.default_rng(1).normal(size=(3, 8))
    assert moderated(rows).degrees_of_freedom == 7
    assert moderated(rows).variances == pytest.approx(rows.var(axis=1, ddof=1))
