"""Shared by experiments of several papers: statements in the names of the simulator, a few flows of any workload.

An experiment's own `over` and `trend` are these with the names of its paper.
"""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

import msgspec

from capsim import Scenario
from capsmodel.papers.index import read_claims
from capsmodel.papers.statements import Comparison, Statement, compared, levels

MOST_BYTES_OF_FEW = 300_000
"""Of the flows of quick runs: some are longer than those that all papers call short, and none takes a second."""


def over(claim_id: str, at: Sequence[str], *, names: Mapping[str, str], **more: Any) -> Statement:
    """Return the comparison that a claim names, at some places."""
    return compared(read_claims()[claim_id], at, names=names, **more)


def trend(scheme: str, at: Sequence[str], *, names: Mapping[str, str], **more: Any) -> Statement:
    """Return the statement about a scheme over some places."""
    return levels([names[scheme]], at, **more)


def with_schemes(statement: Statement, names: Mapping[str, str]) -> Statement:
    """Return a statement about other schemes in place of some, by their names."""
    return replace(statement, comparisons=tuple(_with_schemes(one, names) for one in statement.comparisons))


def _with_schemes(one: Comparison, names: Mapping[str, str]) -> Comparison:
    terms = tuple((sign, (names.get(scheme, scheme), place)) for sign, (scheme, place) in one.terms)
    return replace(one, terms=terms)


def few_flows(whole: Scenario, count: int, **size: Any) -> Scenario:
    """Return a scenario with so many flows in place of those of each workload, none of them long.

    Parameters
    ----------
    whole : Scenario
        Its traffic are Poisson flows.
    count : int
        Flows of each entry.
    **size
        Changes of the fabric, such as ``leaves=2``.
    """
    few = {"flows": count, "duration_s": None, "workload": None, "min_bytes": 1, "max_bytes": MOST_BYTES_OF_FEW}
    traffic = tuple(msgspec.structs.replace(entry, **few) for entry in whole.traffic)
    return whole.replace(fabric=msgspec.structs.replace(whole.fabric, **size), traffic=traffic)
