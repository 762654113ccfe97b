"""Property: the picture of claims by word has a bar for each, and what differs in parts by distance."""

from capsmodel.papers import claim_totals, claims
from capsmodel.papers.figures._by_setting import COLOUR_OF
from capsmodel.papers.figures._by_verdict import draw_by_verdict
from capsmodel.papers.index import DISTANCES, NO_FACTOR


def test_the_bars_are_the_totals_of_the_paper():
    rows = claims("mmptcp")
    counts = {row["verdict"]: row["mmptcp"] for row in claim_totals(rows)}
    (axes,) = draw_by_verdict("title", rows).axes
    names = [text.get_text() for text in axes.get_yticklabels()]
    assert names == list(COLOUR_OF)
    widths = dict.fromkeys(names, 0)
    for bar in axes.patches:
        widths[names[round(bar.get_y() + bar.get_height() / 2)]] += bar.get_width()
    assert widths == {name: counts[name] for name in names}
    assert [text.get_text() for text in axes.texts] == [f" {counts[name]}" for name in names]
    parts = [name for name in (*DISTANCES, NO_FACTOR) if counts[f"  {name}"]]
    assert [text.get_text() for text in axes.get_legend().get_texts()] == parts
