"""The look of figures, how they are written, and those of closed forms; matplotlib is imported when something is drawn.

Curves differ in colour, mark and line, so that colour-blind readers and printers tell them apart: the palette of Okabe
and Ito (https://jfly.uni-koeln.de/color), without yellow, which is too faint on white.
"""

from __future__ import annotations

import io
import sys
from collections.abc import Sequence
from importlib.util import find_spec
from pathlib import Path
from textwrap import fill
from typing import TYPE_CHECKING, Any

import numpy as np

from capsmodel._files import atomic_writer, file_to_write
from capsmodel.checks import ParameterError

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

    from capsmodel.coding.optimal_unit import DelayCurve
    from capsmodel.coding.paths.unit_choice import UnitCorners

COLOURS = ("#0072B2", "#E69F00", "#009E73", "#CC79A7", "#56B4E9", "#D55E00")
_CURVES = (*COLOURS, "#000000")
_MARKS = ("o", "s", "^", "D", "v", "P", "X")
_LINES = ("-", "--", "-.", ":")
FORMATS = ("png", "pdf", "svg")  # of figures; matplotlib knows more, of which some blur text
TITLE_CHARACTERS = 54
"""Characters of a title in a line above a figure of the default width."""

_PANEL_CHARACTERS, _MOST_SLANTED = 40, 14
_MISSING = "drawing needs matplotlib: pip install matplotlib"


def can_draw() -> bool:
    """Return whether matplotlib is installed; where it is not, say on standard error that pictures are left out.

    Examples
    --------
    >>> can_draw()
    True
    """
    is_installed = find_spec("matplotlib") is not None
    if not is_installed:
        print(f"capsmodel: tables only, {_MISSING}", file=sys.stderr)
    return is_installed


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


def look(number: int) -> dict[str, Any]:
    """Return colour, mark and line of a curve by its number, as ``plot`` and ``errorbar`` take them; 28 differ.

    Examples
    --------
    >>> len({(look(number)["color"], look(number)["linestyle"]) for number in range(28)})
    28
    """
    kinds = {"color": _CURVES, "marker": _MARKS, "linestyle": _LINES}
    return {name: values[number % len(values)] for name, values in kinds.items()}


def legend_below(figure: Figure, *, left_out: str = "") -> None:
    """Add a legend below all panels: each label once, in as many columns as its longest label lets fit.

    There is none if `left_out` is the only label.
    """
    handles: dict[str, Any] = {}
    for axes in figure.axes:
        handles |= {label: handle for handle, label in zip(*axes.get_legend_handles_labels(), strict=True)}
    if handles and set(handles) != {left_out}:
        fit = int(figure.get_figwidth() / (0.6 + 0.085 * max(map(len, handles))))
        columns = max(1, min(6, fit, len(handles)))
        figure.legend(handles.values(), handles.keys(), loc="outside lower center", ncols=columns, frameon=False)


def name_places(axes: Axes, places: Sequence[float], names: Sequence[str]) -> None:
    """Write names at places of the horizontal axis; slanted where they would touch each other side by side.

    Notes
    -----
    A panel of a study is about 40 characters wide.
    """
    axes.set_xticks(list(places), list(names))
    if len(names) * (max(map(len, names), default=0) + 2) > _PANEL_CHARACTERS:
        upright = len(names) > _MOST_SLANTED
        axes.tick_params(axis="x", labelrotation=90 if upright else 45)
        for label in axes.get_xticklabels():
            label.set(ha="center" if upright else "right", rotation_mode="default" if upright else "anchor")


def plain_numbers(axes: Axes) -> None:
    """Write 0.1 and 20 on a horizontal axis with a logarithmic scale, in place of powers of ten."""
    from matplotlib.ticker import LogFormatter, StrMethodFormatter

    axes.xaxis.set_major_formatter(StrMethodFormatter("{x:g}"))
    axes.xaxis.set_minor_formatter(LogFormatter(minor_thresholds=(1, 0.4)))


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
    if suffix not in FORMATS:
        raise ParameterError(f"{path} has no known figure suffix: use .png, .pdf or .svg")
    if not path.parent.is_dir():
        raise ParameterError(f"{path.parent} is no folder: make it first or choose another place for {path.name}")
    file_to_write(path)


def save_figure(figure: Figure, path: Path) -> None:
    """Write `figure` to `path` in one step: the file is either whole or absent.

    Fonts of a PDF are TrueType (type 42): publishers refuse those of type 3, which matplotlib would write.

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
    from matplotlib import rc_context

    with atomic_writer(path) as file, rc_context({"pdf.fonttype": 42, "ps.fonttype": 42}):
        figure.savefig(file, dpi=150, format=path.suffix.lower().lstrip("."))


def saved(figure: Figure, path: str | Path | None) -> Figure:
    """Return `figure`, written to `path` if there is one (:func:`save_figure`)."""
    if path is not None:
        save_figure(figure, Path(path))
    return figure


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
    for number, (curve, prob) in enumerate(zip(curves, blocking_probs, strict=True)):
        delays_ms, style = np.asarray(curve.delay_s) * 1e3, look(number)
        best = int(np.argmin(delays_ms))
        axes.plot(curve.k, delays_ms, label=f"$p_B$ = {prob:g}", markevery=[best], **style)
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
