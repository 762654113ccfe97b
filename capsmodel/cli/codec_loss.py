"""``capsmodel codec inspect``: what a file of packets holds."""

import sys
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import contextmanager, nullcontext
from dataclasses import dataclass
from pathlib import Path
from typing import Any, get_args

import numpy as np
import numpy.typing as npt
from rich.console import Console
from rich.progress import Progress

from capsmodel._files import opened
from capsmodel.checks import generator, probability, require
from capsmodel.cli.shared.codec_files import PIPE, Input, Target, one_line, readable, target_of
from capsmodel.cli.shared.losses import NO_LOSSES, LossOptions
from capsmodel.cli.shared.options import Count, Flag, MaybeCount, MaybeProbability, path_pair
from capsmodel.cli.shared.output import AS_TEXT, Output, print_table, say
from capsmodel.cli.shared.table import Column
from capsmodel.codec.files import PacketIndex, decodes, lose_packets
from capsmodel.codec.inputs import CodecError
from capsmodel.codec.packets import Unit
from capsmodel.codec.registry import CODES
from capsmodel.coding.decoding import decode_prob
from capsmodel.coding.paths.losses import PathLosses
from capsmodel.coding.paths.unit_choice import Code, unit_failure_prob
from capsmodel.coding.random_linear import decode_prob_rlnc
from capsmodel.experiments.progress import Minutes
from capsmodel.experiments.statistics.intervals import wilson_interval

_UNIT = (
    Column("stream", "stream"),
    Column("unit", "unit"),
    Column("code", "code"),
    Column("k", "k"),
    Column("r", "r"),
    Column("packet_bytes", "packet, bytes"),
    Column("source_bytes", "source, bytes"),
    Column("arrived_packets", "packets there"),
    Column("decodes", "decodes"),
    Column("problem", "problem"),
)


def index_of(file: Path, original: Path | None = None) -> PacketIndex:
    """Return where the packets of a file are, of which there must be one, and those of the file that was coded."""
    with opened(file) as stream, opened(original) if original else nullcontext() as beside:
        index = PacketIndex(stream, beside)
    if not len(index.headers):
        reasons = index.rejected.lines()
        raise CodecError(f"{file} holds no packet: {reasons[0] if reasons else 'it is empty'}")
    return index


def units_of(index: PacketIndex) -> list[tuple[Unit, npt.NDArray[np.int64]]]:
    """Return each unit, by stream and number, with the numbers of its packets that are there."""
    return [
        (index.unit(group[0]), index.headers["index"][group].astype(np.int64))
        for stream in sorted(index.streams())
        for groups in index.units(stream).values()
        for group in groups
    ]


def _unit_row(unit: Unit, numbers: npt.NDArray[np.int64]) -> dict[str, Any]:
    arrived = np.unique(numbers)
    decodable: bool | None
    try:
        decodable, problem = unit.block_code().determines(arrived), ""
    except CodecError as error:
        decodable, problem = None, str(error)
    variant = CODES[unit.code].variants.get(unit.variant, {"unknown": unit.variant})
    return {
        "stream": f"{unit.stream:016x}",
        "unit": unit.number,
        "code": unit.code,
        "variant": " ".join(f"{name}={value}" for name, value in variant.items()),
        "k": unit.k,
        "r": unit.r,
        "packet_bytes": unit.packet_bytes,
        "source_bytes": unit.source_bytes,
        "seed": unit.seed,
        "last": unit.last,
        "arrived_packets": arrived.size,
        "repeated_packets": numbers.size - arrived.size,
        "decodes": decodable,
        "problem": problem,
    }


@one_line
def inspect(file: Input, /, *, original: Path | None = None, output: Output = AS_TEXT) -> None:
    """List the coding units of a file of packets: header fields, packets there, and whether they decode.

    Parameters
    ----------
    file
        File of packets; - reads standard input.
    original
        The file that was coded with --repair-only: its undamaged packets count as there.
    """
    with readable(file) as source:
        index = index_of(source, original)
    print_table([_unit_row(*unit) for unit in units_of(index)], columns=_UNIT, title=str(file), output=output)
    if output.is_text:
        say(*(f"  {line}" for line in index.rejected.lines()))


_LOSS = (
    Column("code", "code"),
    Column("k", "k"),
    Column("r", "r"),
    Column("units", "units"),
    Column("lost_ratio", "lost, %", 100),
    Column("decoded_ratio", "decoded, %", 100, ends=("decoded_ratio_low", "decoded_ratio_high")),
    Column("decode_prob", "any k decode, %", 100),
    Column("decode_prob_rlnc", "random linear, %", 100),
)
_LONGEST_S = 3600.0
_RECEPTION_S, _PACKET_S = 1e-5, 2e-7  # to look at a reception, and to draw one of its packets or paths
_DRAWN = 10**6  # packets or paths at a time
_AT_A_TIME = 20  # receptions between two steps of the progress bar


@one_line
def simulate_loss(
    file: Input,
    /,
    *,
    blocking_prob: MaybeProbability = None,
    paths: MaybeCount = None,
    blocked_paths: MaybeCount = None,
    losses: LossOptions = NO_LOSSES,
    receptions: Count = 1000,
    seed: Count = 1,
    out: Target = None,
    force: Flag = False,
    output: Output = AS_TEXT,
) -> None:
    """Drop packets at random or by path; set the units that decode beside the closed form.

    Parameters
    ----------
    file
        File of packets; - reads standard input.
    blocking_prob
        Probability that a packet is lost; 0.1 when no paths are given.
    paths
        Equal-cost paths; with --blocked-paths it replaces --blocking-prob.
    blocked_paths
        Paths that deliver nothing, drawn anew for each reception.
    receptions
        Receptions of each kind of unit to simulate; as many as take an hour at most.
    seed
        Seed of the losses.
    out
        Also write one lossy copy of the file.
    force
        Replace that file when it exists.
    """
    require(out != PIPE, "--out - would mix packets with the table: give a file")
    require(receptions >= 1, f"--receptions = {receptions}, but it must be at least 1")
    drawn = _losses(blocking_prob, paths, blocked_paths, losses)
    random = generator(seed, name="--seed")
    with readable(file) as source:
        kinds = Counter(_kind(unit) for unit, _ in units_of(index_of(source)))
        work_s = {kind: drawn.reception_s(kind) for kind in kinds}
        _check_time(sum(work_s.values()), receptions, len(kinds))
        with _progress(receptions * sum(work_s.values())) as done:
            run = _Receptions(drawn, receptions, random, done)
            rows = [_row(kind, count, run) for kind, count in kinds.items()]
        title = f"{receptions} receptions, blocking probability {drawn.blocking_prob:g}"
        print_table(rows, columns=_LOSS, title=title, output=output)
        if out is not None:
            kept = lose_packets(source, target_of(out, out, file, force), draw=drawn.over.draw, rng=random)
            if output.is_text:
                say(f"wrote {out}: {kept} packets")


def _kind(unit: Unit) -> Unit:
    """Return what units have in common that decode the same receptions."""
    return unit._replace(stream=0, number=0, packet_bytes=1, source_bytes=unit.k, unit_crc=0, last=False)


@dataclass(frozen=True)
class _Losses:
    """The losses, and how much work they are."""

    over: PathLosses

    @property
    def blocking_prob(self) -> float:
        """Share of packets that are lost."""
        return self.over.mean_loss

    def drawn(self, kind: Unit) -> int:
        """Return the packets and paths that are drawn for one reception of a unit."""
        return kind.n + (self.over.n_paths if self.over.n_paths > 1 else 0)

    def reception_s(self, kind: Unit) -> float:
        """Return about how long one reception of a unit takes, in seconds; fewer than k packets are not solved."""
        solved = decode_prob(kind.k, r=kind.r, blocking_prob=self.blocking_prob) if self.blocking_prob < 1 else 0.0
        solving_s = kind.block_code().elimination_s(min(self.blocking_prob * kind.n, kind.r))
        return _RECEPTION_S + _PACKET_S * self.drawn(kind) + float(solved) * solving_s

    def decode_probs(self, kind: Unit) -> tuple[float, float]:
        """Return how often the unit decodes from any k packets, and from any dense random ones."""
        k, r, loss = kind.k, kind.r, self.blocking_prob
        if self.over.spread == "in-turn" or not self.over.packets_are_independent:
            mds, dense = (unit_failure_prob(k, r=r, losses=self.over, code=code) for code in get_args(Code))
            return 1 - float(mds), 1 - float(dense)
        if loss == 1:
            return 0.0, 0.0
        # Independent packets that draw their paths are alike: closed forms, also of units too large for a table.
        return decode_prob(k, r=r, blocking_prob=loss), decode_prob_rlnc(k, r=r, blocking_prob=loss)


def _losses(prob: float | None, paths: int | None, blocked_paths: int | None, options: LossOptions) -> _Losses:
    """Return the losses that the options describe."""
    both = path_pair(paths, blocked_paths)
    alone = prob is None and both is None and options.path_file is None
    given = (0.1,) if alone else () if prob is None else (probability("--blocking-prob", prob, one=True).item(),)
    over = options.losses(given, both)
    many = over.n_paths > 1
    require(
        many or options.spread is None, "--spread spreads packets over paths: give --path-file, or --paths with both"
    )
    return _Losses(over)


def _check_time(work_s: float, receptions: int, kinds: int) -> None:
    """Refuse more receptions than an hour will do, of all kinds of units of the file together."""
    fit = int(_LONGEST_S / work_s)
    remedy = f"--receptions {fit} would fit into one" if fit else "take a part of the file"
    hours = receptions * work_s / 3600
    text = f"--receptions = {receptions}: for units of {kinds} kinds they would take about {hours:.2g} hours"
    require(receptions <= fit, f"{text}; {remedy}")


@contextmanager
def _progress(total_s: float) -> Iterator[Callable[[float], None]]:
    """Give a function to call with the seconds of work that are done; a bar shows them to somebody who watches."""
    with Progress(console=Console(stderr=True), transient=True, disable=not sys.stderr.isatty()) as progress:
        task = progress.add_task("receptions", total=total_s)
        with Minutes().saying(lambda: f"receptions: {progress.tasks[0].percentage:.0f}%"):
            yield lambda done_s: progress.advance(task, done_s)


@dataclass(frozen=True)
class _Receptions:
    """Receptions of each kind of unit, and what to call with the seconds of work that are done."""

    losses: _Losses
    receptions: int
    rng: np.random.Generator
    done: Callable[[float], None]

    def count(self, kind: Unit) -> tuple[int, int]:
        """Return how many packets arrived, and how many receptions decoded; packets are drawn a part at a time."""
        code, reception_s = kind.block_code(), self.losses.reception_s(kind)
        part = max(1, _DRAWN // self.losses.drawn(kind))
        arrived = decoded = 0
        for begun in range(0, self.receptions, part):
            flags = self.losses.over.draw(kind.n, min(part, self.receptions - begun), self.rng)
            arrived += int(flags.sum())
            for first in range(0, len(flags), _AT_A_TIME):
                some = flags[first : first + _AT_A_TIME]
                decoded += int(decodes(code, some).sum())
                self.done(len(some) * reception_s)
        return arrived, decoded


def _row(kind: Unit, units: int, run: _Receptions) -> dict[str, Any]:
    """Return the measured share of receptions that decode beside the closed forms."""
    arrived, decoded = run.count(kind)
    measured = decoded / run.receptions
    interval = wilson_interval(decoded, trials=run.receptions)
    mds, dense = run.losses.decode_probs(kind)
    return {
        "code": kind.code,
        "k": kind.k,
        "r": kind.r,
        "units": units,
        "lost_ratio": 1 - arrived / (run.receptions * kind.n),
        "decoded_ratio": measured,
        "standard_error": float(np.sqrt(measured * (1 - measured) / run.receptions)),
        "decoded_ratio_low": interval.low,
        "decoded_ratio_high": interval.high,
        "decode_prob": mds,
        "decode_prob_rlnc": dense,
    }
