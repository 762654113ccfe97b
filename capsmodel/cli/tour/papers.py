"""Part of the tour: three claims of the papers beside what we have, from the ledger."""

from typing import Any

from capsmodel.cli.shared.claim_texts import counted, our_value, printed_size
from capsmodel.cli.shared.table import Column
from capsmodel.cli.tour.section import Advance, Section, Station
from capsmodel.experiments.words import VERDICT_WORDS
from capsmodel.papers import ClaimRow, claims
from capsmodel.papers.figures._beside_printed import draw_beside_printed
from capsmodel.papers.gallery import drawn_claim

# A formula, a simulated comparison and a simulated table: what holds, what has another size, and what does not hold.
TELLING = ("repflow-f6", "caps-f17a-ecmp", "mmptcp-s33-mm-fct3")


def _row(row: ClaimRow) -> dict[str, Any]:
    claim = row.claim
    return {
        "claim": claim.id,
        "where": f"{claim.paper} {claim.where}",
        "says": claim.text,
        "printed": printed_size(claim),
        "ours": our_value(claim, row.entry),
        "verdict": row.entry.verdict,
    }


def _visit(quick: bool, advance: Advance) -> Section:
    del quick, advance  # read from the ledger: done at once
    rows = claims()
    by_id = {row.claim.id: row for row in rows}
    shown = [by_id[name] for name in TELLING]
    every = [row.entry.verdict for row in rows if row.claim.is_counted]
    totals = counted(every, VERDICT_WORDS)
    return Section(
        title="Does it come out as the papers print it?",
        reading="Three of the claims of the papers. The grey bar is the range that is printed, or the side on which "
        "the value must lie; the points are the ends of our range over the loads and numbers of flows that were looked "
        "at, in the colour of the verdict. repflow-f6 follows from formulas, the others were simulated.",
        finding=f"Of all {len(every)} claims: {totals}. Open are those that were not simulated yet, and those that too "
        "few runs do not decide. The second command draws all of them, with reasons and with the settings that they "
        "hang on.",
        commands=("capsmodel claims", "capsmodel gallery --out out"),
        columns=(
            Column("claim", "claim"),
            Column("where", "where"),
            Column("says", "the paper says"),
            Column("printed", "printed"),
            Column("ours", "ours"),
            Column("verdict", "verdict"),
        ),
        rows=[_row(row) for row in shown],
        figures={"papers": draw_beside_printed("Three claims", [drawn_claim(row) for row in shown])},
    )


STATION = Station("papers", "claims of the papers", _visit)
