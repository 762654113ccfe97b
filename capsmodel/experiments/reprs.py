"""What objects show of themselves in a notebook: a line and a table."""

from collections.abc import Mapping, Sequence
from html import escape
from typing import Any


def as_html(title: str, rows: Sequence[Mapping[str, Any]]) -> str:
    """Return a line and a table below it as HTML; texts are escaped and never cut.

    Examples
    --------
    >>> "<td>a&lt;b</td>" in as_html("flows", [{"name": "a<b", "count": 2}])
    True
    """
    import pandas as pd  # takes longer to load than the lists of schemes and presets

    with pd.option_context("display.max_colwidth", None):
        table = pd.DataFrame([*rows]).to_html(index=False, border=0, na_rep="-", justify="left")
    return f"<p>{escape(title)}</p>\n{table}"
