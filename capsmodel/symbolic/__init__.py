r"""The closed forms of the five papers as SymPy equations, and derivations of these and of the course's formulas.

=================== ============================================================================
Name                Holds
=================== ============================================================================
`FORMULAS`          name -> `Formula`: the equation, its symbols, the numeric function of the same
`DERIVATIONS`       name -> function that returns a `Derivation`, which SymPy checks line by line
`formulas_of`       the formulas of one numbered equation of a paper
`latex_of`          the same as LaTeX
=================== ============================================================================

This package is the only one that imports SymPy, and ``import capsmodel`` does not import it. A formula has the paper's
symbols; the numeric functions have the names and units of the package. Where a paper misprints an equation,
`Formula.expression` is the consistent form and `Formula.printed` the other.

Examples
--------
>>> derivation = DERIVATIONS["overhead"]()
>>> derivation.holds(), len(derivation.steps)
(True, 4)
>>> derivation.steps[2].text, derivation.steps[2].expression
('Inserted; s and k cancel', Eq(eta, p_B/(g*(1 - p_B) + 1)))
"""

from collections.abc import Callable, Mapping
from types import MappingProxyType

from capsmodel.checks import ParameterError
from capsmodel.symbolic import (
    coding_unit,
    congestion,
    decoding,
    fct,
    fct_long,
    links,
    losses,
    multipath,
    queueing,
    redundancy,
    reordering,
)
from capsmodel.symbolic.forms import Derivation, Formula, Step

__all__ = ["DERIVATIONS", "FORMULAS", "Derivation", "Formula", "Step", "formulas_of", "latex_of"]

_PAPERS = (decoding, redundancy, coding_unit, reordering, queueing, fct, fct_long, congestion, multipath)
_BEYOND = (links, losses)

FORMULAS: Mapping[str, Formula] = MappingProxyType(
    {formula.name: formula for module in _PAPERS for formula in module.FORMULAS}
)
DERIVATIONS: Mapping[str, Callable[[], Derivation]] = MappingProxyType(
    {
        derive.__name__.removeprefix("derive_"): derive
        for module in (*_PAPERS, *_BEYOND)
        for derive in module.DERIVATIONS
    }
)


def formulas_of(paper: str, number: str) -> tuple[Formula, ...]:
    """Return the formulas of one equation of a paper.

    Parameters
    ----------
    paper : str
        Paper key: caps, mmptcp, repflow, cdcps or dc2mtcp.
    number : str
        Its number as the index has it: ``"Eq. 2"``, or ``"u (VI-B) redundancy"`` for a formula without one.

    Returns
    -------
    tuple of Formula
        In the order of the paper; empty where the package has no symbolic form of the equation.

    Examples
    --------
    >>> [formula.name for formula in formulas_of("dc2mtcp", "Eq. 2")]
    ['lia_alpha', 'lia_increase']
    """
    return tuple(formula for formula in FORMULAS.values() if (formula.paper, formula.number) == (paper, number))


def latex_of(paper: str, number: str) -> str:
    r"""Return one equation of a paper as LaTeX, without dollar signs.

    Parameters
    ----------
    paper, number : str
        As in `formulas_of`.

    Returns
    -------
    str
        The consistent form; several formulas under one number are set apart by ``\qquad``.

    Raises
    ------
    ParameterError
        If the package has no symbolic form of the equation.

    Examples
    --------
    >>> latex_of("caps", "Eq. 7")
    '\\eta = \\frac{p_{B}}{g \\left(1 - p_{B}\\right) + 1}'
    """
    formulas = formulas_of(paper, number)
    if not formulas:
        raise ParameterError(f"{paper} {number}: no symbolic form; capsmodel.symbolic.FORMULAS lists those there are")
    return r" \qquad ".join(formula.latex() for formula in formulas)
