"""``capsmodel demo``: the main job on the papers' settings, its tables and figures in one folder."""

import contextlib
import io
from collections.abc import Callable
from pathlib import Path
from typing import Any

from capsmodel._checks import require
from capsmodel.cli._output import console, write_whole
from capsmodel.cli.closed_forms import fct, redundancy, reordering
from capsmodel.cli.optimal_k import optimal_k

# File name of each table and the command that makes it; the defaults are the papers' settings.
_TABLES: dict[str, Callable[..., None]] = {
    "optimal_k": optimal_k,
    "redundancy": redundancy,
    "reordering": reordering,
    "fct": fct,
}


def _csv(command: Callable[..., None], **options: Any) -> str:
    with contextlib.redirect_stdout(io.StringIO()) as captured:
        command(csv=True, **options)
    return captured.getvalue()


def demo(*, out: Path = Path("out")) -> None:
    """Compute the optimal coding unit and the papers' tables, and leave them as CSV and figures in a folder.

    Parameters
    ----------
    out
        The folder; made when it is missing.
    """
    require(not out.exists() or out.is_dir(), f"--out = {out} is a file: name a folder")
    out.mkdir(parents=True, exist_ok=True)
    optimal_k()
    optimal_k(objective="eq4")
    for name, command in _TABLES.items():
        write_whole(out / f"{name}.csv", _csv(command))
    write_whole(out / "optimal_k_eq4.csv", _csv(optimal_k, objective="eq4", plot=out / "delay_eq4.png"))
    _csv(optimal_k, plot=out / "delay_with_redundancy_cost.png")
    for path in sorted(out.iterdir()):
        console().print(f"wrote {path}")
