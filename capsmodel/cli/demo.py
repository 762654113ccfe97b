"""The page of the tour: one HTML file without scripts, its figures inside."""

import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any

from rich.console import Console
from rich.progress import BarColumn, Progress, TextColumn, TimeElapsedColumn

from capsmodel import __version__
from capsmodel._files import check_writable
from capsmodel._interrupts import in_background
from capsmodel.checks import require
from capsmodel.cli.closed_forms import LOADS, REPFLOW, redundancy_rows, reordering_rows
from capsmodel.cli.shared.options import Flag
from capsmodel.cli.shared.output import csv_text, explain, say, write_whole
from capsmodel.cli.shared.pages import template
from capsmodel.cli.tour import STATIONS
from capsmodel.cli.tour.section import Section, Station
from capsmodel.cli.units.optimal_k import CAPS_SETTING, optimal_k_rows
from capsmodel.coding.caps_setting import PAPER_PROBS, WINDOW_PACKETS
from capsmodel.experiments.progress import Minutes
from capsmodel.plotting import save_figure


def page(sections: Mapping[str, Section], *, pngs: Mapping[str, bytes], note: str, files: Sequence[str]) -> str:
    """Return the page as HTML.

    Parameters
    ----------
    sections : mapping of str to Section
        By name of the part, in the order of the page.
    pngs : mapping of str to bytes
        Images by the figure's name.
    note : str
        Sentence at the top, such as how long the computation took.
    files : sequence of str
        Other files in the page's folder, named at the bottom.
    """
    return template("tour.html")(title="the tour", sections=sections, pngs=pngs, note=note, files=files)


# Rows of each table by its file's name; the defaults of the commands are the papers' settings.
_TABLES: dict[str, Callable[[], list[dict[str, Any]]]] = {
    "optimal_k": lambda: optimal_k_rows(WINDOW_PACKETS, blocking_prob=PAPER_PROBS, setting=CAPS_SETTING),
    "optimal_k_eq4": lambda: optimal_k_rows(
        WINDOW_PACKETS, blocking_prob=PAPER_PROBS, setting=replace(CAPS_SETTING, objective="eq4")
    ),
    "redundancy": redundancy_rows,
    "reordering": reordering_rows,
    "fct": lambda: REPFLOW.rows(LOADS),
}


def _visit_all(quick: bool) -> dict[str, Section]:
    screen = Console(stderr=True)
    columns = (TextColumn("{task.description}"), BarColumn(), TimeElapsedColumn())
    with (
        Progress(*columns, console=screen, transient=True, disable=not screen.is_terminal) as bar,
        Minutes().saying(lambda: f"demo: {_under_way(bar)}"),
    ):

        def visited(station: Station) -> Section:
            task = bar.add_task(station.doing, total=1.0)
            section = station.visit(quick, partial(bar.advance, task))
            bar.update(task, completed=1.0)
            return section

        beside = [each for each in STATIONS if each.beside and not quick]  # a quick run has no other processes
        begun = {each.name: in_background(partial(visited, each), name=each.name) for each in beside}
        return {each.name: begun[each.name].result() if each.name in begun else visited(each) for each in STATIONS}


def _under_way(bar: Progress) -> str:
    """Return what has begun and not ended, with its share in percent."""
    return ", ".join(f"{task.description} {task.percentage:.0f}%" for task in bar.tasks if not task.finished)


def demo(*, out: Path = Path("out"), quick: Flag = False) -> None:
    """Compute the tour, from the optimal coding unit to a recovered file, and leave a page, tables and figures.

    Parameters
    ----------
    out
        The folder; made when it is missing. Open index.html in it.
    quick
        Simulate a tiny fabric and few packets: seconds, and wide intervals.
    """
    require(not out.exists() or out.is_dir(), f"--out = {out} is a file: name a folder")
    check_writable(out)
    started_s = time.monotonic()
    out.mkdir(parents=True, exist_ok=True)
    sections = _visit_all(quick)
    written = []
    for name, rows in _TABLES.items():
        write_whole(out / f"{name}.csv", csv_text(rows()))
        written.append(f"{name}.csv")
    pngs = {}
    for name, section in sections.items():
        write_whole(out / f"{name}.csv", section.csv())
        written.append(f"{name}.csv")
        for figure, drawn in section.figures.items():
            target = out / f"{figure}.png"
            save_figure(drawn, target)
            pngs[figure] = target.read_bytes()
            written.append(target.name)
    small = " Quick run: tiny fabric, few packets, nothing to conclude from." if quick else ""
    note = f"Computed by capsmodel {__version__} in {time.monotonic() - started_s:.0f} s.{small}"
    write_whole(out / "index.html", page(sections, pngs=pngs, note=note, files=sorted(written)))
    for section in sections.values():
        say(section.title)
        explain(section.finding, indent=2)
    say(f"wrote {len(written) + 1} files; open {out / 'index.html'}")
