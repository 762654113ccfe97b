"""Figures of the papers: their tables, their drawings with what the papers print, and the verdicts of these tables."""

from pathlib import Path

from pandas import DataFrame

from capsmodel._files import check_writable
from capsmodel.checks import require
from capsmodel.cli.shared.claim_texts import claim_text
from capsmodel.cli.shared.output import explain, say, write_whole
from capsmodel.experiments.manifest import table_csv, table_id
from capsmodel.papers.claim_list import read_claims
from capsmodel.papers.figures import PublishedFigure
from capsmodel.plotting import can_draw, save_figure


def write_figure(figure: PublishedFigure, out: Path, *, quick: bool) -> None:
    """Compute a figure, write NAME.csv and NAME.png, and print the verdicts."""
    require(not out.exists() or out.is_dir(), f"--out = {out} is a file: name a folder")
    check_writable(out)
    out.mkdir(parents=True, exist_ok=True)
    frame = figure.data(quick=quick)
    for path in _write(figure, frame, out, quick, draws=can_draw()):
        say(f"wrote {path}")
    _judge(figure)


def _write(figure: PublishedFigure, frame: DataFrame, out: Path, quick: bool, *, draws: bool) -> list[Path]:
    data, picture = out / f"{figure.name}.csv", out / f"{figure.name}.png"
    write_whole(data, table_csv(frame))
    if not draws:
        return [data]
    drawn = figure.drawn(frame)
    mode = " --quick" if quick else ""
    caption = f"capsmodel study {figure.name}{mode} · SHA-256 of the data {table_id(frame)[:16]}"
    drawn.text(0.998, 0.5, caption, rotation=90, ha="right", va="center", fontsize=5, color="0.45")
    save_figure(drawn, picture)
    return [data, picture]


def _judge(figure: PublishedFigure) -> None:
    """Print the verdicts on what it shows."""
    for name, found in figure.verdicts().items():
        say("", f"{name}: {found.verdict}")
        explain(*claim_text(read_claims()[name], found), indent=2)
