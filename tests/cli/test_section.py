"""Contract: what a part of the tour writes beside its page."""

from capsmodel.cli.shared.table import Column
from capsmodel.cli.tour.section import Section


def test_csv_has_all_rows_and_all_their_columns():
    """Wrong line: the first rows only, or only the columns of the table on the page."""
    rows = [{"k": 8 * number, "delay_s": number / 4, "note": "a, b"} for number in range(3)]
    section = Section(title="", reading="", finding="", commands=(), columns=(Column("k", "k"),), rows=rows)
    assert section.csv() == 'k,delay_s,note\n0,0.0,"a, b"\n8,0.25,"a, b"\n16,0.5,"a, b"\n'
