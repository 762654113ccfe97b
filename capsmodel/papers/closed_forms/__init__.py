"""The verdict on every published claim that needs no simulation: its formula in the study files, judged as it says.

A formula is a function of this package, or of a figure, that a claim names (`formula` in
``data/papers/studies/<paper>-formulas.toml``). It takes no argument, or the claim, and returns a number, the values of
a sweep, or those of subject and baseline, with a reason where that is computed too
(:class:`~capsmodel.papers.verdicts.Computed`).
"""

from collections.abc import Callable, Mapping
from importlib import import_module
from inspect import signature
from types import MappingProxyType
from typing import Any

from capsmodel.papers.claim_list import PublishedClaim, read_claims
from capsmodel.papers.index import LedgerEntry
from capsmodel.papers.verdicts import Computed, Numbers, computed

__all__ = ["closed_form_verdict", "closed_form_verdicts", "formula_of"]


def formula_of(claim: PublishedClaim) -> Callable[..., Any]:
    """Return the function that a claim names."""
    module, _, name = claim.formula.partition(":")
    function: Callable[..., Any] = getattr(import_module(module), name)
    return function


def closed_form_verdicts() -> Mapping[str, LedgerEntry]:
    """Return our value and the verdict for every claim that needs no simulation, by id.

    Claims that do not reproduce are included.

    Examples
    --------
    >>> verdict = closed_form_verdicts()["caps-optk-0.2"]
    >>> verdict.value, verdict.verdict
    ((61.0,), 'fails')
    """
    return MappingProxyType(
        {
            claim.id: closed_form_verdict(claim)
            for claim in read_claims().values()
            if claim.has_closed_form or claim.not_testable
        }
    )


def closed_form_verdict(claim: PublishedClaim) -> LedgerEntry:
    """Return our value and verdict on one claim that needs no simulation.

    Examples
    --------
    >>> closed_form_verdict(read_claims()["caps-optk-0.2"]).value
    (61.0,)
    """
    if claim.not_testable:
        return LedgerEntry("", "", (), (), "not testable", claim.not_testable)
    function = formula_of(claim)
    result: Numbers | Computed = function(claim) if signature(function).parameters else function()
    return computed(claim, result)
