"""Contract: what a notebook shows of an object is text that is escaped and whole."""

from capsmodel.experiments.reprs import as_html


def test_texts_are_escaped_and_never_cut():
    """Catches a cell that pandas cuts at 50 characters, and a name that the browser takes for markup."""
    long = " ".join(["long"] * 40)
    shown = as_html("a < b", [{"name": "<script>", "what": long}])
    assert "<p>a &lt; b</p>" in shown
    assert "<td>&lt;script&gt;</td>" in shown
    assert f"<td>{long}</td>" in shown
