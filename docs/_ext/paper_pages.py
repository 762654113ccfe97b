"""The catalogue of what the papers print: equations, claims with verdicts and contradictions."""

import re
from collections.abc import Iterable, Sequence
from functools import partial
from typing import Any

from docutils import nodes
from generated import Cell, Generated, code, section, stacked, table
from sphinx.application import Sphinx

from capsmodel import papers
from capsmodel.cli.shared.claim_texts import our_value, printed_size
from capsmodel.experiments.statistics.robustness import differences
from capsmodel.experiments.words import MEANINGS, VERDICT_WORDS
from capsmodel.papers import ClaimRow
from capsmodel.papers.figures import published_figures
from capsmodel.papers.figures._by_verdict import draw_by_verdict
from capsmodel.papers.studies import simulated_studies
from capsmodel.symbolic import formulas_of, latex_of

HEADLINE = re.compile(r"Abstract|Section I\b|Sections I\b")
"""Places where a paper says what it is about."""


def numbers(values: Sequence[float]) -> str:
    """Return numbers with four digits."""
    return ", ".join(f"{value:.4g}" for value in values)


class Equations(Generated):
    """``.. equations:: caps``: every equation of a paper, as a formula where SymPy has it, and what computes it."""

    def content_nodes(self, paper: str) -> Iterable[nodes.Node]:
        """Yield the table."""
        heads = ("equation", "formula", "computed by")
        yield table(heads, map(self.cells, papers.equations(paper)), kind="wide")

    def cells(self, equation: papers.Equation) -> list[Cell]:
        """Return the row of an equation."""
        known = bool(formulas_of(equation.paper, equation.number))
        formula: Cell = nodes.math_block("", latex_of(equation.paper, equation.number)) if known else ""
        functions = [self.inline(f":py:obj:`~{name}`") for name in equation.functions]
        what = stacked(nodes.strong("", equation.number), equation.meaning)
        return [what, formula, stacked(*functions) if functions else f"nothing: {equation.reason}"]


class Meanings(Generated):
    """``.. verdict-meanings::``: what each verdict means."""

    def content_nodes(self) -> Iterable[nodes.Node]:
        """Yield the table."""
        yield table(("verdict", "meaning"), [[nodes.strong("", verdict), text] for verdict, text in MEANINGS.items()])


class Totals(Generated):
    """``.. claim-totals::``: how many claims of each paper have which verdict."""

    def content_nodes(self) -> Iterable[nodes.Node]:
        """Yield the table."""
        rows = papers.claim_totals(papers.claims())
        # A part of a count is indented by two blanks, of which a browser shows none.
        yield table(list(rows[0]), [[str(cell).replace("  ", "\u2003") for cell in row.values()] for row in rows])


class Causes(Generated):
    """``.. claim-causes::``: how many claims of each paper are not met for which cause."""

    def content_nodes(self) -> Iterable[nodes.Node]:
        """Yield the table."""
        rows = papers.claim_causes(papers.claims())
        yield table(list(rows[0]), [[str(cell) for cell in row.values()] for row in rows])


class ReliedOn(Generated):
    """``.. relied-on:: caps``: claims of a paper by verdict in a picture, and what it says of itself in a table."""

    def content_nodes(self, paper: str) -> Iterable[nodes.Node]:
        """Yield the picture and the table."""
        rows = papers.claims(paper)
        title = f"Claims of {paper} by verdict"
        yield self.picture(f"verdicts_{paper}", title, partial(draw_by_verdict, title, rows))
        heads = ("claim", "what the paper says, and the number", "ours", "verdict", "in other settings")
        said = [row for row in rows if row.entry.was_run and row.entry.value and HEADLINE.search(row.claim.where)]
        if said:
            yield table(heads, map(self.cells, said), kind="wide")

    def cells(self, found: ClaimRow) -> list[Cell]:
        """Return the row of a claim."""
        claim, entry = found.claim, found.entry
        said = stacked(claim.text, nodes.emphasis("", printed_size(claim)))
        return [
            code(claim.id),
            said,
            our_value(claim, entry),
            nodes.strong("", entry.marked_verdict),
            entry.in_other_settings,
        ]


class PaperSettings(Generated):
    """``.. paper-settings:: caps``: the settings that bring most printed sizes of a paper nearer, and what they do."""

    def content_nodes(self, paper: str) -> Iterable[nodes.Node]:
        """Yield the table of those that gain, six at most."""
        heads = ("sizes", "nearer", "farther", "off by, text", "off by, with it", "setting")
        gaining = [one for one in papers.settings_of_paper(paper) if one.towards > one.away]
        rows = [
            [
                *map(str, (one.claims, one.towards, one.away)),
                *(f"{factor:.2f}" for factor in (one.in_text, one.factor)),
                stacked(*map(code, differences(one.setting))),
            ]
            for one in gaining[:6]
        ]
        yield table(heads, rows) if rows else nodes.paragraph("", "No setting moves most sizes nearer.")


class Claims(Generated):
    """``.. claims:: caps``: the claims of a paper, a section for each verdict."""

    def content_nodes(self, paper: str) -> Iterable[nodes.Node]:
        """Yield the sections."""
        for verdict in VERDICT_WORDS:
            rows = papers.claims(paper, verdict)
            run = [found for found in rows if found.entry.was_run]
            waiting = [found for found in rows if not found.entry.was_run]
            if run:
                yield section(f"{verdict.capitalize()} ({len(run)})", verdict, [self.decided(run)])
            if waiting:
                yield section(f"Not run yet ({len(waiting)})", "waiting", [self.waiting(waiting)])

    def decided(self, rows: Sequence[ClaimRow]) -> nodes.table:
        """Return the table of claims that were run."""
        heads = ("claim", "what the paper says, and the number", "ours, with its interval", "why, and decided by")
        return table(heads, map(self.cells, rows), kind="wide")

    def cells(self, found: ClaimRow) -> list[Cell]:
        """Return the row of a claim; the figure or study that decides it is linked."""
        entry = found.entry
        interval = f"({numbers(entry.interval)})" if entry.interval else ""
        ours = " ".join(filter(None, (entry.quantity, numbers(entry.value), interval)))
        place = entry.decided_by
        is_drawn = place in published_figures() or place in simulated_studies()
        by = self.inline(f":ref:`{place} <picture {place}>`") if is_drawn else code(place)
        seeds = f"{entry.seeds} seeds" if entry.seeds else ""
        cause = f"Cause: {found.claim.cause}" if found.claim.cause else ""
        return [*self.printed(found), ours, stacked(seeds, entry.reason, cause, self.nearest(found), by)]

    def nearest(self, found: ClaimRow) -> str:
        """Return the setting in which what differs is nearest to print."""
        near = papers.nearest_settings().get(found.claim.id)
        if near is None or not near.is_towards or found.entry.verdict != "differs":
            return ""
        return f"Nearest with {near.setting}: off by {near.factor:.2f} times, by {near.in_text:.2f} in the text"

    def printed(self, found: ClaimRow) -> list[Cell]:
        """Return what the paper says."""
        claim = found.claim
        return [stacked(code(claim.id), claim.where), stacked(claim.text, nodes.emphasis("", printed_size(claim)))]

    def waiting(self, rows: Sequence[ClaimRow]) -> nodes.table:
        """Return the table of claims that wait for runs."""
        heads = ("claim", "what the paper says, and the number", "waits for")
        return table(heads, [[*self.printed(found), found.entry.reason] for found in rows], kind="wide")


class Discrepancies(Generated):
    """``.. discrepancies::``: where the papers contradict themselves."""

    def content_nodes(self) -> Iterable[nodes.Node]:
        """Yield the table."""
        rows = [[item.paper, item.text, ", ".join(item.evidence)] for item in papers.discrepancies()]
        yield table(("paper", "contradiction", "claims"), rows)


def setup(app: Sphinx) -> dict[str, Any]:
    """Register the directives."""
    for name, kind in {
        "equations": Equations,
        "verdict-meanings": Meanings,
        "claim-totals": Totals,
        "claim-causes": Causes,
        "relied-on": ReliedOn,
        "paper-settings": PaperSettings,
        "claims": Claims,
        "discrepancies": Discrepancies,
    }.items():
        app.add_directive(name, kind)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
