"""One case of the three-way agreement: numeric function, symbolic form with exact numbers, brute force."""

from collections.abc import Mapping
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import pytest
import sympy as sp

from capsmodel.symbolic import FORMULAS

RTOL = 1e-12


@dataclass(frozen=True)
class Case:
    """A formula at given values; `enumerated` is its value by brute force, in fractions where it is rational."""

    formula: str
    values: Mapping[str, Any]
    numeric: float
    enumerated: Fraction | float

    def check(self) -> None:
        """Assert that the three agree: the symbolic form exactly with a fraction, the floats within RTOL."""
        symbolic = FORMULAS[self.formula].value(self.values)
        if isinstance(self.enumerated, Fraction):
            # Simplified, because a logarithm of 8 over one of 2 is not 3 by itself.
            assert sp.simplify(symbolic - sp.Rational(self.enumerated)) == 0
        else:
            assert float(sp.N(symbolic, 20)) == pytest.approx(self.enumerated, rel=RTOL, abs=0)
        assert self.numeric == pytest.approx(float(sp.N(symbolic, 20)), rel=RTOL, abs=0)


def formulas_to_cover(*papers: str) -> set[str]:
    """Return the names of the formulas of some papers that have a numeric function."""
    return {name for name, formula in FORMULAS.items() if formula.function and formula.paper in papers}
