"""Figures of the papers: their tables, their drawings with what the papers print, and the verdicts of these tables."""

from pathlib import Path

from pandas import DataFrame

from capsim.study.study import ROWS
from capsmodel._files import check_writable
from capsmodel.checks import require
from capsmodel.cli.shared.claim_texts import claim_text
from capsmodel.cli.shared.output import explain, say, write_whole
from capsmodel.experiments.manifest import table_csv, table_id
from capsmodel.experiments.sweep import Executor, Progress, run_sweep
from capsmodel.papers.claim_list import read_claims
from capsmodel.papers.figures import PublishedFigure
from capsmodel.plotting import can_draw, save_figure


def write_figure(figure: PublishedFigure, out: Path, *, quick: bool, executor: Executor) -> None:
    """Compute a figure, write NAME.csv and NAME.png, and print the verdicts."""
    require(not out.exists() or out.is_dir(), f"--out = {out} is a file: name a folder")
    check_writable(out)
    out.mkdir(parents=True, exist_ok=True)
    tasks = figure.tasks(quick=quick)
    if tasks:
        run_sweep(tasks, out / ROWS, executor=executor, progress=Progress(label=figure.name))
    frame = figure.data(quick=quick, results=out / ROWS)
    for path in _write(figure, frame, out, quick, draws=can_draw()):
        say(f"wrote {path}")
    _judge(figure, frame, quick)


def _write(figure: PublishedFigure, frame: DataFrame, out: Path, quick: bool, *, draws: bool) -> list[Path]:
    data, picture = out / f"{figure.name}.csv", out / f"{figure.name}.png"
    write_whole(data, table_csv(frame))
    if not draws:
        return [data]
    drawn = figure.drawn(frame, quick=quick)
    mode = " --quick" if quick else ""
    caption = f"capsmodel study {figure.name}{mode} · SHA-256 of the data {table_id(frame)[:16]}"
    drawn.text(0.998, 0.5, caption, rotation=90, ha="right", va="center", fontsize=5, color="0.45")
    save_figure(drawn, picture)
    return [data, picture]


def _judge(figure: PublishedFigure, frame: DataFrame, quick: bool) -> None:
    """Print the verdicts that follow from this very table."""
    verdicts = figure.verdicts(frame, quick=quick)
    for verdict in verdicts:
        say("", f"{verdict.id}: {verdict.verdict}")
        explain(*claim_text(read_claims()[verdict.id], verdict), indent=2)
    if not verdicts:
        explain(
            f"{figure.name}: a quick run judges no claim; run it without --quick, or see what the full run gave with "
            f"capsmodel claims --paper {figure.name.partition('-')[0]}"
        )
