"""``capsmodel codec``: files as coded packets, back again, and how often a reception decodes."""

import functools
from collections import Counter
from collections.abc import Callable
from pathlib import Path
from typing import Annotated, Any, Literal, ParamSpec

import numpy as np
from cyclopts import App, Parameter

from capsmodel.checks import ParameterError, require
from capsmodel.cli._options import Flag
from capsmodel.cli._output import console, print_table
from capsmodel.codec.base import CodecError, PacketError
from capsmodel.codec.files import SUFFIX, decode_file, encode_file, lose_packets, read_packets
from capsmodel.codec.jit import first_use_reported
from capsmodel.codec.packets import VARIANTS, Unit, build_code
from capsmodel.codec.reception import Draw, Flags, arrivals, arrivals_by_path, decodes
from capsmodel.codec.stream import DEFAULT_WINDOW_UNITS, StreamEncoder
from capsmodel.coding.decoding import decode_prob
from capsmodel.coding.random_linear import decode_prob_rlnc

app = App(name="codec", help="Code a file into packets, decode it, look into packets, measure losses.")

Arguments = ParamSpec("Arguments")
Output = Annotated[Path | None, Parameter(name=["--out", "-o"])]


def _one_line(command: Callable[Arguments, None]) -> Callable[Arguments, None]:
    """Turn what the codec and the file system refuse into the one line that is printed; report a first compilation."""

    @functools.wraps(command)
    def told(*args: Arguments.args, **kwargs: Arguments.kwargs) -> None:
        try:
            with first_use_reported():
                command(*args, **kwargs)
        except CodecError as error:
            raise ParameterError(str(error)) from None
        except OSError as error:
            raise ParameterError(f"{error.filename}: {error.strerror}") from None

    return told


def _target(out: Path | None, default: Path, source: Path, force: bool) -> Path:
    """Return the file to write, which must not be the source nor, without --force, exist."""
    target = out or default
    require(target.resolve() != source.resolve(), f"{target} is the input: choose another file with --out")
    require(force or not target.exists(), f"{target} exists: choose another file with --out, or --force to replace it")
    return target


def _variant(code: str, n1: int | None, convention: str | None, all_coded: bool) -> int | None:
    """Return the header's variant for the options given, after refusing those of another code."""
    owners = {
        "n1": ("ldpc", n1),
        "convention": ("rs", convention),
        "systematic": ("rlnc", False if all_coded else None),
    }
    for name, (owner, value) in owners.items():
        if value is None:
            continue
        option = "--all-coded" if name == "systematic" else f"--{name}"
        require(code == owner, f"{option} belongs to --code {owner}: leave it out with --code {code}")
        chosen = [number for number, options in VARIANTS[code].items() if options[name] == value]
        require(bool(chosen), f"{option} = {value}, but packets carry {name} {_listed(name, code)}")
        return chosen[0]
    return None


def _listed(name: str, code: str) -> str:
    return ", ".join(str(options[name]) for options in VARIANTS[code].values())


@app.command
@_one_line
def encode(
    file: Path,
    /,
    *,
    k: int = 32,
    r: int = 8,
    code: Literal["rs", "ldpc", "rlnc"] = "rs",
    packet_bytes: int = 1500,
    n1: int | None = None,
    convention: str | None = None,
    all_coded: Flag = False,
    seed: int | None = None,
    rng: int | None = None,
    out: Output = None,
    force: Flag = False,
) -> None:
    """Code a file into packets: coding units of k source and r repair packets, one after the other in one file.

    Parameters
    ----------
    file
        File to code.
    k
        Source packets of a coding unit.
    r
        Repair packets of a coding unit.
    code
        rs: Reed-Solomon; ldpc: LDPC-Staircase of RFC 5170; rlnc: random linear over GF(2^8).
    packet_bytes
        Payload of a packet, byte; 48 bytes of header come on top.
    n1
        Ones in a source column of the LDPC matrix, 3 to 10 (3 when not given), at most r.
    convention
        Reed-Solomon matrix: cauchy (when not given) or zfec.
    all_coded
        Make all packets random combinations (rlnc) in place of sending the source packets as they are.
    seed
        Seed of the LDPC matrix or repair key of packet 0 (rlnc).
    rng
        Seed of the stream's number, to get the same file again.
    out
        File of packets to write; FILE.caps when not given.
    force
        Replace it when it exists.
    """
    target = _target(out, file.with_name(file.name + SUFFIX), file, force)
    variant = _variant(code, n1, convention, all_coded)
    encoder = StreamEncoder(k=k, r=r, packet_bytes=packet_bytes, code=code, variant=variant, seed=seed, rng=rng)
    count = encode_file(file, target, encoder)
    console().print(f"wrote {target}: {count} packets of {file.stat().st_size} source bytes, {code} k = {k}, r = {r}")


@app.command
@_one_line
def decode(file: Path, /, *, out: Output = None, window_units: int = DEFAULT_WINDOW_UNITS, force: Flag = False) -> None:
    """Decode a file of packets; the result is written whole or not at all.

    Parameters
    ----------
    file
        File of packets, in any order within the window.
    out
        File to write; the name without .caps when not given.
    window_units
        Coding units held at most while an earlier one is incomplete.
    force
        Replace the file when it exists.
    """
    default = file.with_suffix("") if file.suffix == SUFFIX else file.with_name(file.name + ".decoded")
    target = _target(out, default, file, force)
    result = decode_file(file, target, window_units=window_units)
    done = result.reception
    console().print(
        f"wrote {target}: {done.source_bytes} bytes from {done.units} units; packets: {done.used} used, "
        f"{done.late} not needed, {done.repeated} repeated, {len(result.rejected)} rejected"
    )
    for offset, reason in result.rejected:
        console().print(f"  offset {offset}: {reason}")


def _survey(file: Path) -> tuple[dict[Unit, list[int]], list[tuple[int, str]]]:
    """Return the packet numbers by unit, and what is no packet with its offset and reason."""
    units: dict[Unit, list[int]] = {}
    damaged = []
    with file.open("rb") as stream:
        for offset, found in read_packets(stream):
            if isinstance(found, PacketError):
                damaged.append((offset, str(found)))
            else:
                units.setdefault(found.unit, []).append(found.index)
    return units, damaged


def _one_byte_code(unit: Unit) -> Any:
    """Return the unit's code for one-byte packets: what it decodes is the same."""
    return build_code(unit.code, k=unit.k, r=unit.r, packet_bytes=1, variant=unit.variant, seed=unit.seed)


def _unit_row(unit: Unit, numbers: list[int]) -> dict[str, Any]:
    arrived = np.zeros(unit.n, np.bool_)
    arrived[numbers] = True
    return {
        "stream": f"{unit.stream:016x}",
        "unit": unit.number,
        "code": unit.code,
        "variant": " ".join(f"{name}={value}" for name, value in VARIANTS[unit.code][unit.variant].items()),
        "k": unit.k,
        "r": unit.r,
        "packet_bytes": unit.packet_bytes,
        "source_bytes": unit.source_bytes,
        "seed": unit.seed,
        "last": unit.last,
        "arrived_packets": int(arrived.sum()),
        "repeated_packets": len(numbers) - int(arrived.sum()),
        "decodes": bool(decodes(_one_byte_code(unit), arrived)[0]),
    }


@app.command
@_one_line
def inspect(file: Path, /, *, json: Flag = False, csv: Flag = False) -> None:
    """List the coding units of a file of packets: header fields, packets there, and whether they decode.

    Parameters
    ----------
    file
        File of packets.
    json
        Print JSON.
    csv
        Print comma-separated values.
    """
    units, damaged = _survey(file)
    if not units:
        raise CodecError(f"{file} holds no packet: {damaged[0][1] if damaged else 'it is empty'}")
    rows = [_unit_row(unit, units[unit]) for unit in sorted(units, key=lambda unit: (unit.stream, unit.number))]
    print_table(rows, title=str(file), as_json=json, as_csv=csv)
    if not (json or csv):
        for offset, reason in damaged:
            console().print(f"  offset {offset}: {reason}")


@app.command
@_one_line
def simulate_loss(
    file: Path,
    /,
    *,
    blocking_prob: float | None = None,
    n_paths: int | None = None,
    blocked_paths: int | None = None,
    in_turn: Flag = False,
    receptions: int = 1000,
    rng: int = 1,
    out: Output = None,
    force: Flag = False,
    json: Flag = False,
    csv: Flag = False,
) -> None:
    """Drop packets at random or by path; set the units that decode beside the closed form.

    Parameters
    ----------
    file
        File of packets.
    blocking_prob
        Probability that a packet is lost, independently of the others; 0.1 when no paths are given.
    n_paths
        Equal-cost paths; with --blocked-paths it replaces --blocking-prob.
    blocked_paths
        Paths that deliver nothing, drawn anew for each reception.
    in_turn
        Spread packets over the paths in turn and not at random; the closed form assumes random.
    receptions
        Receptions of each kind of unit to simulate.
    rng
        Seed of the losses.
    out
        Also write one lossy copy of the file.
    force
        Replace that file when it exists.
    json
        Print JSON.
    csv
        Print comma-separated values.
    """
    blocking, draw = _loss(blocking_prob, n_paths, blocked_paths, in_turn)
    generator = np.random.default_rng(rng)
    units, _ = _survey(file)
    require(bool(units), f"{file} holds no packet")
    kinds = Counter((unit.code, unit.variant, unit.k, unit.r, unit.seed) for unit in units)
    alike = {(unit.code, unit.variant, unit.k, unit.r, unit.seed): unit for unit in units}
    rows = [
        _loss_row(alike[kind], count, draw(alike[kind].n, receptions, generator), blocking)
        for kind, count in kinds.items()
    ]
    print_table(rows, title=f"{receptions} receptions, blocking probability {blocking:g}", as_json=json, as_csv=csv)
    if out is not None:
        kept = lose_packets(file, _target(out, out, file, force), draw=draw, rng=generator)
        if not (json or csv):
            console().print(f"wrote {out}: {kept} packets")


def _loss(prob: float | None, n_paths: int | None, blocked_paths: int | None, in_turn: bool) -> tuple[float, Draw]:
    """Return the blocking probability and the function that draws receptions, for the options given."""
    if n_paths is None or blocked_paths is None:
        require(n_paths is blocked_paths, "--n-paths and --blocked-paths go together: give both or neither")
        require(not in_turn, "--in-turn spreads packets over paths: give --n-paths and --blocked-paths")
        loss = 0.1 if prob is None else prob
        return loss, lambda n, receptions, rng: arrivals(n, blocking_prob=loss, receptions=receptions, rng=rng)
    require(prob is None, "--blocking-prob and --n-paths exclude each other: give one")
    paths, blocked = n_paths, blocked_paths
    require(paths >= 1, f"--n-paths = {paths}, but a fabric has at least 1 path")

    def draw(n: int, receptions: int, rng: np.random.Generator) -> Flags:
        return arrivals_by_path(
            n, n_paths=paths, blocked_paths=blocked, in_turn=in_turn, receptions=receptions, rng=rng
        )

    return blocked / paths, draw


def _loss_row(unit: Unit, units: int, arrived: Flags, blocking: float) -> dict[str, Any]:
    """Return the measured share of receptions that decode beside the closed forms."""
    measured = float(decodes(_one_byte_code(unit), arrived).mean())
    known = blocking < 1  # the closed forms stop short of certain loss
    mds = float(decode_prob(unit.k, r=unit.r, blocking_prob=blocking)) if known else 0.0
    dense = float(decode_prob_rlnc(unit.k, r=unit.r, blocking_prob=blocking)) if known else 0.0
    return {
        "code": unit.code,
        "k": unit.k,
        "r": unit.r,
        "units": units,
        "lost_ratio": float(1 - arrived.mean()),
        "decoded_ratio": measured,
        "standard_error": float(np.sqrt(measured * (1 - measured) / len(arrived))),
        "decode_prob": mds,
        "decode_prob_rlnc": dense,
    }
