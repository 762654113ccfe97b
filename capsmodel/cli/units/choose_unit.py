"""``capsmodel choose-unit``: which unit fails so seldom, over which paths, before which deadline, and what it costs."""

from pathlib import Path
from typing import Annotated

from cyclopts import Parameter

from capsmodel.checks import require
from capsmodel.cli.shared.losses import NO_LOSSES, LossOptions
from capsmodel.cli.shared.options import Flag, MaybeCount
from capsmodel.cli.shared.output import AS_TEXT, OUTPUT, Output
from capsmodel.cli.units.unit_choice import (
    NO_LOSS,
    NO_WISH,
    OneLoss,
    Question,
    Wish,
    chosen_unit,
    print_choice,
    question,
)


def choose_unit(
    max_k: MaybeCount = None,
    *,
    wish: Wish = NO_WISH,
    simulate: Flag = False,
    one: OneLoss = NO_LOSS,
    losses: LossOptions = NO_LOSSES,
    plot: Annotated[Path | None, Parameter(group=OUTPUT)] = None,
    output: Output = AS_TEXT,
) -> None:
    """Choose a coding unit that fails seldom enough, with few repair packets.

    Parameters
    ----------
    max_k
        Most source packets of a unit (64).
    simulate
        Send units over the paths, and print how many fail, in packets and bytes.
    plot
        Draw the largest units into this file; not with --k, --retransmit or --lost.
    """
    if plot is not None:
        from capsmodel.plotting import check_figure_path  # matplotlib takes a second to load

        check_figure_path(plot)
    request = question(max_k, one=one, options=losses, wish=wish)
    if simulate:
        _print_simulated(request, plot, output)
    elif wish.code == "ldpc":
        require(plot is None, "--plot draws the units of all sizes: leave out --code ldpc")
        from capsmodel.cli.units.measured_code import print_measured  # the codec loads Numba

        print_measured(request, output)
    else:
        print_choice(request, plot=plot, output=output)


def _print_simulated(request: Question, plot: Path | None, output: Output) -> None:
    """Send the units that answer a question, with fewer repair packets too."""
    require(plot is None, "--plot draws the units of all sizes: leave out --simulate")
    k, r = chosen_unit(request)
    from capsmodel.cli.units.sent_windows import print_sent_units  # the simulator takes a second to load

    print_sent_units(k, r, losses=request.losses, output=output)
