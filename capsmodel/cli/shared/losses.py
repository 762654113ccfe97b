"""The options that say what happens to packets, shared by all commands that ask."""

import re
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Any

from cyclopts import Group, Parameter

from capsmodel.checks import ParameterError, require
from capsmodel.cli.shared.options import MaybeCount, parse_number
from capsmodel.coding.paths.losses import MOST_PATHS, PathLosses, Spread
from capsmodel.units import parse_time_s

LOSSES = Group("Losses", sort_key=10)
_COUNTED = re.compile(r"([0-9]{1,15})/([0-9]{1,15})")


@dataclass(frozen=True)
class LossRuns:
    """Mean loss burst: packets of a path, or a time in s."""

    packets: float | None = None
    time_s: float | None = None


def _runs(_: Any, tokens: Any) -> LossRuns:
    text = tokens[0].value
    try:
        return LossRuns(packets=parse_number(text))
    except ParameterError:
        try:
            return LossRuns(time_s=parse_time_s(text))
        except ParameterError:
            rule = "write packets of a path, as in 5, or a time, as in 120us"
            raise ParameterError(f"--burst {text}: {rule}") from None


def _counted(_: Any, tokens: Any) -> tuple[int, int]:
    match = _COUNTED.fullmatch(tokens[0].value)
    if not match:
        raise ParameterError(f"--lost {tokens[0].value}: write lost/sent, as in --lost 12/1000")
    return int(match[1]), int(match[2])


Burst = Annotated[LossRuns | None, Parameter(converter=_runs, n_tokens=1, metavar="N|TIME", accepts_keys=False)]
Lost = Annotated[
    tuple[int, int] | None,
    Parameter(converter=_counted, n_tokens=1, metavar="LOST/SENT", negative=(), show_default=False),
]


@Parameter(name="*", group=LOSSES)
@dataclass(frozen=True, kw_only=True)
class LossOptions:
    """What happens to the packets of a unit, beyond one blocking probability.

    Parameters
    ----------
    path_file
        Table of paths: loss, count, weight, burst_packets, down, delay_us, ...
    spread
        Packets draw paths, or paths take turns (random).
    first_path
        Round robin: path of the first packet, from 0 on; any when not given.
    burst
        Mean loss burst, packets of a path or a time as 120us; else independent.
    interleave
        With --burst: a unit's packets are so many packets of their path apart.
    """

    path_file: Path | None = None
    spread: Annotated[Spread | None, Parameter(show_default=False)] = None
    first_path: MaybeCount = None
    burst: Burst = None
    interleave: MaybeCount = None

    @property
    def given(self) -> bool:
        """Whether any of them was given."""
        return self != LossOptions()

    def losses(self, probs: tuple[float, ...], paths: tuple[int, int] | None, **times: Any) -> PathLosses:
        """Return the losses over the paths of the file, over `paths` of which some are down, or of one path."""
        if self.burst is None:
            require(self.interleave is None, "--interleave changes nothing without --burst: give both or neither")
        setting = {
            "spread": self.spread or "random",
            "interleave": 1 if self.interleave is None else self.interleave,
        } | times
        if self.first_path is not None:
            setting["first_path"] = self.first_path
        if self.burst is not None:
            setting |= {"burst_packets": self.burst.packets, "burst_s": self.burst.time_s}
        if self.path_file is not None:
            from capsmodel.coding.paths.files import read_paths

            alone = not probs and paths is None
            require(alone, "--path-file holds the losses: leave out --blocking-prob, --paths and --blocked-paths")
            return read_paths(self.path_file, **setting)
        if paths is not None:
            require(not probs, "--blocking-prob and --paths exclude each other: give one")
            count, blocked = paths
            require(count <= MOST_PATHS, f"--paths = {count}, but it must be from 1 to {MOST_PATHS}")
            require(0 <= blocked <= count, f"--blocked-paths = {blocked}, but there are {count} paths")
            return PathLosses([0.0] * count, down_paths=blocked, **setting)
        rule = "give one --blocking-prob, --paths with --blocked-paths, or --path-file"
        require(len(probs) == 1, f"{len(probs) or 'no'} blocking probabilities for one question: {rule}")
        return PathLosses([probs[0]], **setting)

    def words(self, losses: PathLosses) -> str:
        """Return in a few words how the packets are spread."""
        if losses.n_paths == 1:
            return f"loss {losses.mean_loss:.4g}"
        first = "any first path" if self.first_path is None else f"first path {self.first_path}"
        spread = f"in turn, {first}" if self.spread == "in-turn" else "at random"
        return f"{losses.n_paths} paths {spread}, mean loss {losses.mean_loss:.4g}"


NO_LOSSES = LossOptions()
