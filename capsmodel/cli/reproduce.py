"""``capsmodel reproduce``: a figure of a paper as data and as a picture, with what the paper prints beside."""

from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Annotated, Any

from cyclopts import Parameter

from capsmodel._files import check_writable
from capsmodel.checks import require
from capsmodel.cli._options import Flag
from capsmodel.cli._output import console, print_table, write_whole
from capsmodel.experiments.manifest import table_csv, table_id
from capsmodel.experiments.progress import track
from capsmodel.experiments.sweep import run_sweep
from capsmodel.papers.figures import PublishedFigure, published_figure, published_figures
from capsmodel.plotting import can_draw, save_figure


def reproduce(
    *names: str,
    every: Annotated[bool, Parameter(name="--all", negative=())] = False,
    quick: Flag = False,
    out: Path = Path("out"),
    known: Annotated[bool, Parameter(name="--list", negative=())] = False,
    json: Flag = False,
    csv: Flag = False,
) -> None:
    """Compute figures of the papers and draw them with what the papers print beside.

    Each figure becomes NAME.csv and NAME.png; the picture carries the start of the table's SHA-256. Figures from
    packets keep their simulations in the folder results, so a run that was stopped goes on where it was.

    Parameters
    ----------
    names
        Figures, such as caps-fig9a.
    every
        All figures.
    quick
        Coarser grids and fewer packets: seconds instead of minutes.
    out
        The folder; made when it is missing.
    known
        List the figures with the claims that each decides, and compute none.
    json
        Print the list as JSON.
    csv
        Print the list as comma-separated values.
    """
    if known:
        print_table(_list(), title="Figures of the papers", as_json=json, as_csv=csv)
        return
    require(every is not bool(names), "name figures, as in caps-fig9a, or give --all; --list shows their names")
    require(not (json or csv), "--json and --csv go with --list; the data of a figure are in its CSV file")
    chosen = list(published_figures().values()) if every else [published_figure(name) for name in names]
    require(not out.exists() or out.is_dir(), f"--out = {out} is a file: name a folder")
    check_writable(out)
    out.mkdir(parents=True, exist_ok=True)
    _simulate(chosen, out, quick)
    draws = can_draw()
    figures = track(chosen, total=len(chosen), label="figures")
    written = [path for figure in figures for path in _write(figure, out, quick, draws=draws)]
    for path in written:
        console().print(f"wrote {path}")


def _list() -> list[dict[str, Any]]:
    return [
        {"name": figure.name, "title": figure.title.rstrip("."), "claims": ", ".join(figure.claims)}
        for figure in published_figures().values()
    ]


def _simulate(figures: Sequence[PublishedFigure], out: Path, quick: bool) -> None:
    """Run the simulations of all figures as one sweep; figures may share some."""
    tasks = {task.id: task for figure in figures for task in figure.tasks(quick=quick)}
    if tasks:
        run_sweep(tasks.values(), out / "results", label="simulations")


def _write(figure: PublishedFigure, out: Path, quick: bool, *, draws: bool) -> Iterator[Path]:
    frame = figure.data(quick=quick, results=out / "results")
    data, picture = out / f"{figure.name}.csv", out / f"{figure.name}.png"
    write_whole(data, table_csv(frame))
    yield data
    if not draws:
        return
    drawn = figure.draw(frame)
    mode = " --quick" if quick else ""
    caption = f"capsmodel reproduce {figure.name}{mode} · SHA-256 of the data {table_id(frame)[:16]}"
    drawn.text(0.998, 0.5, caption, rotation=90, ha="right", va="center", fontsize=5, color="0.45")
    save_figure(drawn, picture)
    yield picture
