"""``capsmodel gallery``: every figure and study of the papers, drawn beside what they print, on one page."""

import re
from collections.abc import Callable, Iterable
from functools import partial
from pathlib import Path
from typing import Any

from capsmodel import __version__
from capsmodel._files import check_writable
from capsmodel.checks import require
from capsmodel.cli.shared.claim_texts import claim_text, counted
from capsmodel.cli.shared.output import say, without_markup, write_whole
from capsmodel.cli.shared.pages import template
from capsmodel.experiments import progress
from capsmodel.experiments.words import MEANINGS, VERDICT_WORDS
from capsmodel.papers import ClaimRow, cite, claims
from capsmodel.papers.gallery import (
    HOW_IT_IS_MADE,
    HOW_TO_READ,
    Picture,
    other_claims,
    pictures,
)
from capsmodel.papers.index import chosen
from capsmodel.plotting import svg_bytes

_LINE_END = re.compile(r"(?<!\n)\n(?![\n\s*-])")  # within a paragraph, not before an item of a list


def gallery(*, out: Path = Path("out"), paper: str | None = None) -> None:
    """Draw every figure and study of the papers beside what they print, with verdicts, on one page.

    Nothing is simulated: figures are drawn from closed forms and kept runs, studies from the recorded verdicts.

    Parameters
    ----------
    out
        The folder; made when it is missing. Open gallery.html in it.
    paper
        One of caps, mmptcp, repflow, cdcps, dc2mtcp; all when not given.
    """
    keys = [found.key for found in chosen(paper)]
    require(not out.exists() or out.is_dir(), f"--out = {out} is a file: name a folder")
    check_writable(out)
    page = template("gallery.html")  # before the work: Jinja2 may be missing
    with progress.counted(total=sum(len(pictures(key)) for key in keys), label="drawing") as ended:
        sections = [_section(key, partial(ended, 1, key)) for key in keys]
    text = page(
        title="gallery",
        made=HOW_IT_IS_MADE,
        reading=HOW_TO_READ,
        papers=sections,
        words=MEANINGS,
        version=f"Made by capsmodel {__version__}.",
    )
    out.mkdir(parents=True, exist_ok=True)
    write_whole(out / "gallery.html", text)
    drawn = sum(len(section["pictures"]) for section in sections)
    say(f"wrote {out / 'gallery.html'}: {drawn} drawings")


def _section(key: str, done: Callable[[], None]) -> dict[str, Any]:
    """Return what the page says about a paper; `done` is called after each drawing."""
    rows = claims(key)
    return {
        "key": key,
        "reference": cite(key, style="text"),
        "count": len(rows),
        "counted": _counted(rows),
        "pictures": [_drawn(one, done) for one in pictures(key)],
        "others": list(map(_claim, other_claims(key))),
    }


def _drawn(one: Picture, done: Callable[[], None]) -> dict[str, Any]:
    svg = svg_bytes(one.draw())
    done()
    return {
        "name": one.name,
        "title": one.title.rstrip("."),
        "choices": _LINE_END.sub(" ", without_markup(one.choices)),
        "command": one.command,
        "counted": _counted(one.claims),
        "claims": list(map(_claim, one.claims)),
        "svg": svg,
    }


def _claim(row: ClaimRow) -> dict[str, str]:
    text = " ".join(claim_text(row.claim, row.entry))
    word = row.entry.verdict
    return {"id": row.claim.id, "word": word, "text": text, "settings": row.entry.in_other_settings}


def _counted(rows: Iterable[ClaimRow]) -> str:
    return counted([row.entry.verdict for row in rows], VERDICT_WORDS)
