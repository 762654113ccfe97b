"""Classes of symbolic formulas and derivations; every other module of this package only fills them in.

=========== ========================================================================
Class       Holds
=========== ========================================================================
Formula     one equation of one paper, its symbols, the numeric function of the same
Step        one line of a derivation and the identities that make it follow
Derivation  the lines from a start to a result, and the verdict of SymPy on each
=========== ========================================================================
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import sympy as sp

from capsmodel.checks import require

# SymPy has no maximum over an index, so this undefined function stands for it until `Formula.value` knows the terms.
INDEX = sp.Symbol("i", integer=True, positive=True)
LARGEST = sp.Function("max_i")


@dataclass(frozen=True)
class Formula:
    """One equation of one paper in the paper's notation.

    Parameters
    ----------
    name : str
        Name in the registry, unique in the package.
    paper : str
        Paper key: caps, mmptcp, repflow, cdcps or dc2mtcp.
    number : str
        The paper's own number, ``"Eq. 2"``, or the name of a formula without one, ``"u (VI-B) redundancy"``.
    expression : sympy.Eq
        The equation in its consistent form.
    symbols : mapping
        Each free symbol of the right-hand side with its meaning and unit.
    function : str or None
        Dotted name of the numeric function that computes the right-hand side; None where the equation is a condition
        or a step on the way to another one.
    printed : sympy.Eq or None
        The equation as printed, where that is not the consistent form.

    Notes
    -----
    A vector (the subflows of a connection) is a SymPy ``IndexedBase`` with indices from 1.
    """

    name: str
    paper: str
    number: str
    expression: Any
    symbols: Mapping[Any, str]
    function: str | None = None
    printed: Any = None

    def latex(self) -> str:
        """Return the equation as LaTeX, without dollar signs."""
        return str(sp.latex(self.expression))

    def _repr_latex_(self) -> str:
        return rf"$\displaystyle {self.latex()}$"

    def value(self, values: Mapping[str, Any]) -> Any:
        """Return the right-hand side at given values; exact where the values are.

        Parameters
        ----------
        values : mapping
            Name of a symbol to an int, a Fraction or a SymPy number; for a vector, a sequence of them; for a function,
            a callable. Symbols that are left out stay in the result, and so does an integral.

        Returns
        -------
        sympy.Expr
            A number once every symbol has a value.

        Raises
        ------
        ParameterError
            If a name is no symbol of the formula.

        Examples
        --------
        >>> from fractions import Fraction
        >>> from capsmodel.symbolic import FORMULAS
        >>> FORMULAS["decode_prob"].value({"k": 3, "r": 3, "p_B": Fraction(1, 2)})
        21/32
        """
        known = {str(symbol): symbol for symbol in self.symbols}
        unknown = sorted(set(values) - set(known))
        require(not unknown, f"{', '.join(unknown)}: not in {self.name}, whose symbols are {', '.join(known)}")
        vectors = {known[name]: entries for name, entries in values.items() if isinstance(entries, Sequence)}
        functions = {
            known[name]: definition for name, definition in values.items() if isinstance(known[name], sp.FunctionClass)
        }
        scalars = {known[name]: number for name, number in values.items() if not {known[name]} & {*vectors, *functions}}
        length = max((len(entries) for entries in vectors.values()), default=0)
        expression = self.expression.rhs.subs(scalars).replace(LARGEST, lambda term: _largest(term, length))
        for function, definition in functions.items():
            expression = expression.replace(function, definition)
        entries = {base[i]: number for base, numbers in vectors.items() for i, number in enumerate(numbers, 1)}
        return expression.doit(integrals=False).subs(entries).doit(integrals=False)


def _largest(term: Any, length: int) -> Any:
    return sp.Max(*(term.subs(INDEX, i) for i in range(1, length + 1)))


@dataclass(frozen=True)
class Step:
    """One line of a derivation.

    Parameters
    ----------
    text : str
        Why the line follows from those before it.
    expression : sympy.Basic
        The line.
    claims : tuple of sympy.Eq
        The identities that make it follow (unevaluated, see `same`); none where the line is a definition.
    """

    text: str
    expression: Any
    claims: tuple[Any, ...] = ()


@dataclass(frozen=True)
class Derivation:
    """The lines from a start to a result, each with the identities that SymPy has to confirm.

    Parameters
    ----------
    name : str
        Name in the registry.
    paper : str
        Paper key; empty where no paper has the result.
    numbers : tuple of str
        The equations it connects; none without a paper.
    steps : tuple of Step
        The lines in order.

    Notes
    -----
    Nothing is checked by numbers: a claim holds when SymPy reduces the difference of its sides to 0 for every value of
    the symbols. Sums of general length are proved by telescoping (`telescoping`), so they hold for every length.
    """

    name: str
    paper: str
    numbers: tuple[str, ...]
    steps: tuple[Step, ...]

    @property
    def start(self) -> Any:
        """The first line."""
        return self.steps[0].expression

    @property
    def result(self) -> Any:
        """The last line."""
        return self.steps[-1].expression

    @property
    def claims(self) -> tuple[Any, ...]:
        """All identities that the derivation rests on."""
        return tuple(claim for step in self.steps for claim in step.claims)

    def failures(self) -> tuple[Any, ...]:
        """Return the identities that SymPy cannot reduce to 0 = 0; empty for a valid derivation."""
        return tuple(claim for claim in self.claims if not vanishes(claim.lhs - claim.rhs))

    def holds(self) -> bool:
        """Return whether every identity is confirmed."""
        return not self.failures()

    def latex(self) -> str:
        """Return all lines as one LaTeX ``aligned`` block, without dollar signs."""
        rows = (rf"&\text{{{step.text}}}\\ &\quad {sp.latex(step.expression)}" for step in self.steps)
        return r"\begin{aligned}" + r"\\ ".join(rows) + r"\end{aligned}"

    def _repr_latex_(self) -> str:
        return rf"$\displaystyle {self.latex()}$"

    def __str__(self) -> str:
        """All lines for the terminal."""
        return "\n".join(self._lines())

    def _lines(self) -> Iterator[str]:
        yield f"{self.name} ({self.paper} {', '.join(self.numbers)})" if self.paper else self.name
        for place, step in enumerate(self.steps, 1):
            yield f"{place}. {step.text}"
            rows = str(sp.pretty(step.expression, wrap_line=False)).splitlines()
            yield from (f"     {row}".rstrip() for row in rows)


def same(left: Any, right: Any) -> Any:
    """Return the claim that two expressions are equal, kept as it is written."""
    return sp.Eq(left, right, evaluate=False)


def telescoping(term: Any, antidifference: Any, index: Any) -> Any:
    """Return the claim T(i+1) - T(i) = term(i), which gives the sum over i = a..b as T(b+1) - T(a) for all a and b."""
    return same(antidifference.subs(index, index + 1) - antidifference, term)


def between(antidifference: Any, index: Any, first: Any, last: Any) -> Any:
    """Return T(last+1) - T(first), the sum over the indices first..last of what T telescopes to."""
    return antidifference.subs(index, last + 1) - antidifference.subs(index, first)


def vanishes(difference: Any) -> bool:
    """Return whether SymPy reduces an expression to 0 (False also when it merely fails to)."""
    reductions = (
        sp.expand,
        lambda form: sp.cancel(_split_powers(form)),
        lambda form: sp.cancel(_split_powers(sp.gammasimp(form.rewrite(sp.gamma)))),
        sp.simplify,
    )
    return any(reduction(difference) == 0 for reduction in reductions)


def _split_powers(form: Any) -> Any:
    # Forced, because SymPy cannot know that the base 1 - p is never 0 in its domain.
    return sp.expand(form, force=True, log=False, power_base=False)
