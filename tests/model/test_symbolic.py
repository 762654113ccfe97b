"""The symbolic registry: complete, indexed, printable; and every derivation confirmed by SymPy, none of them idly."""

import importlib
import pkgutil
import subprocess
import sys
import tomllib
from fractions import Fraction
from functools import cache

import pytest
import sympy as sp
from matplotlib.mathtext import MathTextParser

from capsmodel import ParameterError, symbolic
from capsmodel.datafiles import data_path
from capsmodel.symbolic import DERIVATIONS, FORMULAS, Derivation, Step, formulas_of, latex_of
from capsmodel.symbolic.forms import INDEX, LARGEST, same, telescoping, vanishes

pytestmark = pytest.mark.agreement

PAPERS = ("caps", "mmptcp", "repflow", "cdcps", "dc2mtcp")
FORMULA_LIST = list(FORMULAS.values())
NUMBERED = {"caps": 7, "repflow": 14, "cdcps": 7, "dc2mtcp": 10}


@cache
def derived(name: str) -> Derivation:
    """Return a derivation, which is made once: nothing changes it."""
    return DERIVATIONS[name]()


def index_of(paper: str) -> dict[str, list[str]]:
    with data_path(f"papers/{paper}.toml").open("rb") as file:
        return {entry["number"]: entry["functions"] for entry in tomllib.load(file)["equation"]}


def test_every_numbered_equation_has_a_symbolic_form() -> None:
    for paper, last in NUMBERED.items():
        for number in range(1, last + 1):
            assert formulas_of(paper, f"Eq. {number}"), (paper, number)


@pytest.mark.parametrize("formula", FORMULA_LIST, ids=lambda formula: formula.name)
def test_formula_is_in_the_index_under_the_same_function(formula) -> None:
    functions = index_of(formula.paper)[formula.number]
    if formula.function is not None:
        assert formula.function in functions
        module, _, name = formula.function.rpartition(".")
        assert callable(getattr(importlib.import_module(module), name))


@pytest.mark.parametrize("formula", FORMULA_LIST, ids=lambda formula: formula.name)
def test_symbols_of_a_formula_are_all_explained_and_all_used(formula) -> None:
    # A condition has quantities on both sides; elsewhere the left-hand side is what the formula gives.
    condition = formula.function is None and not formula.expression.lhs.is_Symbol
    form = formula.expression if condition else formula.expression.rhs
    bases = form.atoms(sp.IndexedBase)
    functions = {applied.func for applied in form.atoms(sp.core.function.AppliedUndef)} - {LARGEST}
    # A vector brings its entries, its index and its label along as free symbols.
    labels = {INDEX} | {base.label for base in bases}
    scalars = {symbol for symbol in form.free_symbols if symbol.is_Symbol} - labels
    assert scalars | bases | functions == set(formula.symbols)
    assert all(formula.symbols.values())


@pytest.mark.parametrize("formula", FORMULA_LIST, ids=lambda formula: formula.name)
def test_latex_of_a_formula_can_be_typeset(formula) -> None:
    assert formula.latex().count("{") == formula.latex().count("}")
    assert formula._repr_latex_() == rf"$\displaystyle {formula.latex()}$"
    # mathtext has neither displays nor cases; the branches of a Piecewise are typeset one by one.
    pieces = [
        formula.expression,
        *(branch for form in formula.expression.atoms(sp.Piecewise) for branch, _ in form.args),
    ]
    for piece in pieces:
        text = sp.latex(piece).replace(r"\limits", "")
        if r"\begin{cases}" not in text:
            MathTextParser("path").parse(f"${text}$")


def test_registries_cannot_be_changed() -> None:
    with pytest.raises(TypeError):
        FORMULAS["decode_prob"] = FORMULAS["blocked_packets_prob"]
    with pytest.raises(AttributeError):
        FORMULAS["decode_prob"].name = "x"


def test_names_are_unique() -> None:
    names = [module.name for module in pkgutil.iter_modules(symbolic.__path__) if module.name != "forms"]
    modules = [importlib.import_module(f"capsmodel.symbolic.{name}") for name in names]
    assert sum(len(getattr(module, "FORMULAS", ())) for module in modules) == len(FORMULAS)
    assert sum(len(module.DERIVATIONS) for module in modules) == len(DERIVATIONS)
    assert all(derived(name).name == name for name in DERIVATIONS)


@pytest.mark.parametrize("name", DERIVATIONS)
def test_sympy_confirms_every_claim(name) -> None:
    derivation = derived(name)
    assert derivation.failures() == ()
    assert derivation.claims


@pytest.mark.parametrize("name", DERIVATIONS)
def test_a_wrong_claim_would_be_caught(name) -> None:
    for claim in derived(name).claims:
        wrong = claim.rhs * sp.Rational(8, 7) if claim.rhs != 0 else sp.Rational(1, 7)
        assert not vanishes(claim.lhs - wrong)


@pytest.mark.parametrize("name", DERIVATIONS)
def test_derivation_connects_indexed_equations_and_prints(name) -> None:
    derivation = derived(name)
    assert bool(derivation.paper) == bool(derivation.numbers)
    assert set(derivation.numbers) <= set(index_of(derivation.paper) if derivation.paper else ())
    assert derivation.start == derivation.steps[0].expression != derivation.result
    text = str(derivation)
    assert text.startswith(f"{name} ({derivation.paper} " if derivation.paper else f"{name}\n")
    assert all(f"{place}. {step.text}" in text for place, step in enumerate(derivation.steps, 1))
    assert not any(set(step.text) & set("_^{}$%&#\\~") for step in derivation.steps), "not plain inside LaTeX text"
    assert derivation._repr_latex_().count(r"\text{") == len(derivation.steps)


def test_failures_names_the_wrong_claim() -> None:
    x = sp.Symbol("x")
    steps = (Step("a start", x), Step("right", 2 * x, (same(x + x, 2 * x),)), Step("wrong", x, (same(x, x + 1),)))
    derivation = Derivation("invented", "caps", ("Eq. 1",), steps)
    assert derivation.failures() == (same(x, x + 1),)
    assert not derivation.holds()
    assert Derivation("right", "caps", ("Eq. 1",), steps[:2]).holds()


def test_nothing_small_is_taken_for_zero() -> None:
    assert not vanishes(sp.Rational(1, 10**9))


def test_telescoping_refuses_a_wrong_antidifference() -> None:
    i = sp.Symbol("i", integer=True)
    right, wrong = (telescoping(i, form, i) for form in (i * (i - 1) / 2, i**2 / 2))
    assert vanishes(right.lhs - right.rhs)
    assert not vanishes(wrong.lhs - wrong.rhs)


def test_printed_forms_differ_where_one_is_kept() -> None:
    kept = {formula.name for formula in FORMULA_LIST if formula.printed is not None}
    assert kept >= {"repair_condition", "wait_tail", "tail_fct", "path_loss_prob", "connection_loss_prob"}
    assert all(FORMULAS[name].printed != FORMULAS[name].expression for name in kept)


def test_latex_of_joins_the_formulas_of_one_number() -> None:
    assert latex_of("caps", "Eq. 2").startswith(r"p_{S} = \sum_{j=0}^{r}")
    assert latex_of("dc2mtcp", "Eq. 2").count(r"\qquad") == 1
    with pytest.raises(ParameterError, match="no symbolic form"):
        latex_of("caps", "Eq. 99")


def test_value_refuses_an_unknown_symbol_and_keeps_an_open_one() -> None:
    with pytest.raises(ParameterError, match="not in decode_prob, whose symbols are k, r, p_B"):
        FORMULAS["decode_prob"].value({"q": 1})
    assert FORMULAS["decode_prob"].value({"k": 1, "r": 0}) == 1 - sp.Symbol("p_B", positive=True)
    assert FORMULAS["path_loss_prob"].value({"alpha": 1, "W_i": 10, "W_total": 40}) == Fraction(1, 201)


def test_importing_the_model_does_not_import_sympy() -> None:
    code = "import sys, capsmodel; sys.exit('sympy' in sys.modules)"
    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 0
