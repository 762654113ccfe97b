"""Figures of the closed forms; the only module of the model that imports matplotlib, and only when it draws."""

from __future__ import annotations

import io
import sys
from collections.abc import Sequence
from importlib.util import find_spec
from pathlib import Path
from textwrap import fill
from typing import TYPE_CHECKING

import numpy as np

from capsmodel._files import atomic_writer, file_to_write
from capsmodel.checks import ParameterError

if TYPE_CHECKING:
    from matplotlib.figure import Figure

    from capsmodel.coding.optimal_unit import DelayCurve
from capsmodel.coding.paths.unit_choice import UnitCorners

TITLE_CHARACTERS = 54
"""Characters of a title in a line above a figure of the default width."""

_MISSING = "drawing needs matplotlib: pip install matplotlib"


def can_draw() -> bool:
    """Return whether matplotlib is installed; where it is not, say on standard error that pictures are left out.

    Examples
    --------
    >>> can_draw()
    True
    """
    found = find_spec("matplotlib") is not None
    if not found:
        print(f"capsmodel: tables only, {_MISSING}", file=sys.stderr)
    return found


def new_figure(*, width_in: float = 6.4, height_in: float = 4.0) -> Figure:
    """Return an empty figure that belongs to no window.

    Parameters
    ----------
    width_in, height_in : float
        Size, in inches.

    Raises
    ------
    ParameterError
        If matplotlib is not installed.

    Examples
    --------
    >>> new_figure().get_size_inches().tolist()
    [6.4, 4.0]
    """
    try:
        from matplotlib.figure import Figure
    except ModuleNotFoundError:
        raise ParameterError(_MISSING) from None
    return Figure(figsize=(width_in, height_in), layout="constrained")


def check_figure_path(path: Path) -> None:
    """Find out before the work whether a figure can be written to `path`.

    Raises
    ------
    ParameterError
        If the folder does not exist or the suffix names no format.
    OSError
        If a folder, device or pipe is there.
    """
    suffix = path.suffix.lower().lstrip(".")
    if suffix not in new_figure().canvas.get_supported_filetypes():
        raise ParameterError(f"{path} has no known figure suffix: use .png, .pdf or .svg")
    if not path.parent.is_dir():
        raise ParameterError(f"{path.parent} is no folder: make it first or choose another place for {path.name}")
    file_to_write(path)


def save_figure(figure: Figure, path: Path) -> None:
    """Write `figure` to `path` in one step: the file is either whole or absent.

    Parameters
    ----------
    figure : matplotlib.figure.Figure
        What to write.
    path : pathlib.Path
        Target; the suffix (.png, .pdf, .svg) chooses the format.

    Raises
    ------
    ParameterError
        If the folder does not exist or the suffix names no format.
    """
    check_figure_path(path)
    with atomic_writer(path) as file:
        figure.savefig(file, dpi=150, format=path.suffix.lower().lstrip("."))


def svg_bytes(figure: Figure) -> bytes:
    """Return `figure` as SVG; the same figure gives the same bytes.

    Examples
    --------
    >>> b"<svg" in svg_bytes(new_figure())
    True
    """
    from matplotlib import rc_context

    file = io.BytesIO()
    with rc_context({"svg.hashsalt": "capsmodel"}):
        figure.savefig(file, format="svg", metadata={"Date": None})
    return file.getvalue()


def plot_delay_curves(curves: Sequence[DelayCurve], blocking_probs: Sequence[float], *, title: str = "") -> Figure:
    """Draw the mean window delay over k, a curve for each blocking probability, its minimum marked.

    Parameters
    ----------
    curves : sequence of DelayCurve
        Curves from :func:`capsmodel.coding.optimal_unit.delay_curve`.
    blocking_probs : sequence of float
        The blocking probability of each curve.
    title : str
        Figure title; a long one takes several lines.

    Returns
    -------
    matplotlib.figure.Figure
        The figure; :func:`save_figure` writes it.
    """
    figure = new_figure()
    axes = figure.add_subplot()
    for curve, prob in zip(curves, blocking_probs, strict=True):
        delays_ms = np.asarray(curve.delay_s) * 1e3
        (line,) = axes.plot(curve.k, delays_ms, label=f"$p_B$ = {prob:g}")
        best = int(np.argmin(delays_ms))
        axes.plot(curve.k[best], delays_ms[best], "o", color=line.get_color())
    axes.set(xlabel="source packets in a coding unit, k", ylabel="mean window delay, ms")
    axes.set_title(fill(title, TITLE_CHARACTERS))
    axes.legend(frameon=False)
    return figure


_MOST_LABELS = 12


def plot_corners(corners: UnitCorners, *, title: str = "") -> Figure:
    """Draw the share of repair packets over the size of a unit: it falls until one repair packet more is needed.

    Parameters
    ----------
    corners : UnitCorners
        From :func:`capsmodel.coding.paths.unit_choice.unit_corners`.
    title : str
        Figure title; a long one takes several lines.

    Returns
    -------
    matplotlib.figure.Figure
        The figure; :func:`save_figure` writes it.
    """
    figure = new_figure()
    axes = figure.add_subplot()
    sizes = np.arange(1, int(corners.k[-1]) + 1)
    repair = corners.r[np.searchsorted(corners.k, sizes)]
    axes.plot(sizes, 100 * repair / (sizes + repair), color="0.6")
    axes.plot(corners.k, 100 * corners.share, "o")
    labelled = len(corners.r) <= _MOST_LABELS
    for r, k, share in zip(corners.r.tolist(), corners.k.tolist(), corners.share.tolist(), strict=True):
        axes.annotate(
            f"r = {r}" * labelled, (k, 100 * share), xytext=(4, 4), textcoords="offset points", fontsize="small"
        )
    axes.set(xlabel="source packets in a coding unit, k", ylabel="repair packets, % of packets sent", ylim=(0, None))
    axes.set_title(fill(title, TITLE_CHARACTERS))
    return figure
