"""``capsmodel gallery``: figures and studies of the papers, all or one, drawn beside what they print, on one page."""

import re
from collections.abc import Callable, Iterable
from functools import partial
from pathlib import Path
from typing import Any

from capsmodel import __version__
from capsmodel._files import check_writable
from capsmodel.checks import ParameterError, did_you_mean, require
from capsmodel.cli.shared.claim_texts import claim_text, counted
from capsmodel.cli.shared.output import say, without_markup, write_whole
from capsmodel.cli.shared.pages import template
from capsmodel.experiments import progress
from capsmodel.experiments.manifest import table_csv
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
from capsmodel.plotting import check_figure_path, save_figure, svg_bytes

_LINE_END = re.compile(r"(?<!\n)\n(?![\n\s*-])")  # within a paragraph, not before an item of a list


def gallery(name: str = "", /, *, out: Path = Path("out"), paper: str | None = None, plot: Path | None = None) -> None:
    """Draw figures and studies of the papers beside what they print, with verdicts, on one page.

    Nothing is simulated: figures are drawn from closed forms, studies from the recorded verdicts.

    Parameters
    ----------
    name
        A figure, a study or a claim, whose picture is drawn alone; all when not given.
    out
        The folder; made when it is missing. Open gallery.html in it. NAME.csv has the numbers of each figure of
        formulas.
    paper
        One of caps, mmptcp, repflow, cdcps, dc2mtcp; all when not given.
    plot
        File for the picture of NAME too (.pdf, .png or .svg).
    """
    require(not (name and paper), f"{name} is of one paper: leave out --paper")
    require(bool(name) or plot is None, "--plot takes one picture: name it, as in capsmodel gallery caps-fig9b")
    drawn = _pictures(name, [each.key for each in chosen(paper)])
    if plot is not None:
        check_figure_path(plot)
    require(not out.exists() or out.is_dir(), f"--out = {out} is a file: name a folder")
    check_writable(out)
    page = template("gallery.html")  # before the work: Jinja2 may be missing
    with progress.counted(total=sum(map(len, drawn.values())), label="drawing") as ended:
        sections = [_section(key, shown, partial(ended, 1, key), alone=bool(name)) for key, shown in drawn.items()]
    text = page(
        title="gallery",
        made=HOW_IT_IS_MADE,
        reading=HOW_TO_READ,
        papers=sections,
        verdicts=MEANINGS,
        version=f"Made by capsmodel {__version__}.",
    )
    out.mkdir(parents=True, exist_ok=True)
    write_whole(out / "gallery.html", text)
    every = [one for shown in drawn.values() for one in shown]
    for one in every:
        if one.numbers is not None:
            write_whole(out / f"{one.name}.csv", table_csv(one.numbers()))
    if plot is not None:
        save_figure(every[0].draw(), plot)
    say(f"wrote {out / 'gallery.html'}: {len(every)} drawings")


def _pictures(name: str, keys: Iterable[str]) -> dict[str, list[Picture]]:
    """Return the pictures by paper: all of these papers, or the one that has a name or a claim.

    Raises
    ------
    ParameterError
        If there is none of that name.
    """
    every = {key: pictures(key) for key in keys}
    if not name:
        return every
    for key, shown in every.items():
        for one in shown:
            if name in (one.name, *(row.claim.id for row in one.claims)):
                return {key: [one]}
    known = [one.name for shown in every.values() for one in shown]
    raise ParameterError(f"no figure, study or claim {name!r} of the papers: {did_you_mean(name, known)}")


def _section(key: str, shown: Iterable[Picture], done: Callable[[], None], *, alone: bool) -> dict[str, Any]:
    """Return what the page says about a paper; `done` is called after each drawing."""
    rows = claims(key)
    return {
        "key": key,
        "reference": cite(key, style="text"),
        "count": len(rows),
        "counted": _counted(rows),
        "pictures": [_drawn(one, done) for one in shown],
        "others": [] if alone else list(map(_claim, other_claims(key))),
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
    verdict, settings = row.entry.verdict, row.entry.in_other_settings
    return {"id": row.claim.id, "verdict": verdict, "text": text, "settings": settings}


def _counted(rows: Iterable[ClaimRow]) -> str:
    return counted([row.entry.verdict for row in rows], VERDICT_WORDS)
