"""``capsmodel codec``: files as coded packets and back again, and how fast codes are on this machine."""

import functools
from collections.abc import Iterator, Sequence
from contextlib import nullcontext
from importlib import import_module
from pathlib import Path
from typing import Annotated, Any

import numpy as np
from cyclopts import App, Parameter, Token

from capsmodel._environment import processor
from capsmodel.checks import ParameterError, choice, generator, require
from capsmodel.cli._commands import CODEC
from capsmodel.cli.shared.codec_files import Input, Target, beside, one_line, readable, say, target_of, writable
from capsmodel.cli.shared.options import Count, Flag, MaybeCount, MaybeCounts, Number, Size, Texts
from capsmodel.cli.shared.output import AS_TEXT, Output, explain, print_table
from capsmodel.cli.shared.table import Column
from capsmodel.codec import BlockCode, kernels
from capsmodel.codec.files import SUFFIX, Decoding, PacketIndex, decode_file, encode_file
from capsmodel.codec.registry import CODES, build_code, get_code
from capsmodel.codec.speed import UnitTime, least_mean_s, patterns_of, stream_times, unit_times
from capsmodel.codec.streams import StreamEncoder, StreamIncomplete
from capsmodel.experiments.progress import track

app = App(name="codec", help=CODEC.help, help_epilogue=CODEC.epilogue)
app.command(
    "capsmodel.cli.codec_loss:inspect", name="inspect", help="List the units of a file and whether they decode."
)
app.command(
    "capsmodel.cli.codec_loss:simulate_loss", name="simulate-loss", help="Drop packets and count the units that decode."
)


def _stream_number(_: Any, tokens: Sequence[Token]) -> int:
    try:
        return int(tokens[0].value, 16)
    except ValueError:
        text = f"--stream = {tokens[0].value!r}, but a stream has 16 hexadecimal digits, as inspect prints them"
        raise ParameterError(text) from None


Stream = Annotated[int | None, Parameter(converter=_stream_number, n_tokens=1)]
_LISTED = 20
SOME_MISSING, NOTHING_KNOWN = 3, 4  # exit statuses of a partial result


def _variant(code: str, **flags: tuple[str, Any]) -> int | None:
    """Return the header's variant for options by name, each with its flag and value; those of None are not given."""
    given = {name: value for name, (_, value) in flags.items() if value is not None}
    made = CODES[code]
    known = made.variants[made.default_variant]
    for name in given:
        owners = ", ".join(other.name for other in CODES.values() if name in other.variants[other.default_variant])
        require(name in known, f"{flags[name][0]} belongs to --code {owners}: leave it out with --code {code}")
    return made.variant_of(**given) if given else None


@app.command
@one_line
def encode(
    file: Input,
    /,
    *,
    k: Count = 32,
    r: Count = 8,
    code: str = "rs",
    packet_size: Size = 1500,
    n1: MaybeCount = None,
    convention: str | None = None,
    all_coded: Flag = False,
    density: MaybeCount = None,
    seed: MaybeCount = None,
    stream_seed: MaybeCount = None,
    repair_only: Flag = False,
    out: Target = None,
    force: Flag = False,
) -> None:
    """Code a file into packets: coding units of k source and r repair packets, one after the other in one file.

    Parameters
    ----------
    file
        File to code; - reads standard input.
    k
        Source packets of a coding unit.
    r
        Repair packets of a coding unit.
    code
        rs: Reed-Solomon; ldpc: LDPC-Staircase of RFC 5170; rlnc: random linear over GF(2^8).
    packet_size
        Payload of a packet, such as 1500B; the header comes on top.
    n1
        Ones in a source column of the LDPC matrix, 3 to 10 (3 when not given), at most r.
    convention
        Reed-Solomon matrix: cauchy (when not given), zfec, rfc5510 or backblaze.
    all_coded
        Make all packets random combinations (rlnc) in place of sending the source packets as they are.
    density
        Density threshold of rlnc, 0 to 15 (15 when not given): (density + 1)/16 of the coefficients are not 0.
    seed
        Seed of the LDPC matrix or repair key of packet 0 (rlnc).
    stream_seed
        Seed of the stream's number, to get the same file again.
    repair_only
        Write the repair packets only, to be kept beside FILE, and 48 bytes of each source packet, which tell whether it
        is undamaged; decode then takes FILE as --original.
    out
        File of packets to write; FILE.caps when not given, - for standard output.
    force
        Replace it when it exists.
    """
    choice("--code", code, CODES)
    target = target_of(out, beside(file, SUFFIX), file, force)
    variant = _variant(
        code,
        n1=("--n1", n1),
        convention=("--convention", convention),
        systematic=("--all-coded", False if all_coded else None),
        density=("--density", density),
    )
    require(r > 0 or not repair_only, "--repair-only with --r 0 would write no packet: give --r of at least 1")
    rng = generator(stream_seed, name="--stream-seed")
    encoder = StreamEncoder(
        k=k,
        r=r,
        packet_bytes=packet_size,
        code=code,
        variant=variant,
        seed=seed,
        rng=rng,
        repair_only=repair_only,
    )
    with readable(file) as source, writable(target) as written:
        count = encode_file(source, written, encoder)
    repair = encoder.units * r
    what = f"{repair} repair packets and {count - repair} headers" if repair_only else f"{count} packets"
    say(
        f"wrote {target}: {what} of {encoder.source_bytes} source bytes, {code} k = {k}, r = {r}, stream "
        f"{encoder.stream:016x}",
        target,
    )


@app.command
@one_line
def decode(
    file: Input,
    /,
    *,
    original: Path | None = None,
    out: Target = None,
    stream: Stream = None,
    partial: Flag = False,
    force: Flag = False,
) -> None:
    """Decode a file of packets; the result is written whole or not at all, unless --partial is given.

    Exit status 0 if all bytes are known; with --partial 3 if some are missing, 4 if none is known.

    Parameters
    ----------
    file
        File of packets, in any order; - reads standard input.
    original
        The file that was coded with --repair-only, as it is now: bytes of it may be wrong, or missing at its end. With
        --force it may be replaced by what it was.
    out
        File to write; the name without .caps when not given, - for standard output.
    stream
        Number of the stream wanted, 16 hexadecimal digits. Without it the file must hold one stream, or one with more
        than half of the packets.
    partial
        Write what is known even when packets are missing, with zeros in place of the rest, and list the rest.
    force
        Replace the file when it exists.
    """
    default = file.with_suffix("") if file.suffix == SUFFIX else beside(file, ".decoded")
    target = target_of(out, default, file, force)
    with readable(file) as source, writable(target) as written:
        try:
            result = decode_file(source, written, original=original, stream=stream, partial=partial)
        except StreamIncomplete as error:
            raise ParameterError(_undecoded(error, source, original, stream)) from None
    for line in _report(result, target):
        say(line, target)
    if result.missing_bytes or result.end_is_missing:
        raise SystemExit(SOME_MISSING if result.reception.source_bytes else NOTHING_KNOWN)


def _undecoded(error: StreamIncomplete, source: Path, original: Path | None, stream: int | None) -> str:
    """Return how many units of a stream cannot be decoded, and why the first cannot."""
    with source.open("rb") as file, original.open("rb") if original else nullcontext() as beside:
        index = PacketIndex(file, beside)
    there = index.units(index.stream(stream)).keys()
    units = 1 + max(there | error.missing.keys())
    count = units - len(there - error.missing.keys())
    first = str(error).partition(": ")[2].partition("; ")[0]
    remedy = "--partial writes the rest, codec inspect lists all"
    return f"{count} of {units} units cannot be decoded ({first}); {remedy}"


def _report(result: Decoding, target: Path) -> list[str]:
    """Return what is to be said of a decoded file, a line each."""
    done, missing = result.reception, result.missing_bytes
    total = sum(end - first for first, end in missing)
    known = f", {done.source_bytes} of them known," if missing else ""
    lines = [
        f"wrote {target}: {done.source_bytes + total} bytes{known} from {done.units} "
        f"unit{'s' if done.units != 1 else ''} of stream {result.stream:016x}; packets: "
        f"{done.used} used, {done.late} not needed, {done.repeated} repeated, {result.foreign} of other streams, "
        f"{result.rejected.count} rejected"
    ]
    if missing:
        lines.append(f"{total} bytes in {len(missing)} ranges are missing and hold zeros:")
        lines += [f"  bytes {first} to {end - 1}" for first, end in missing[:_LISTED]]
        lines += [f"  and {len(missing) - _LISTED} more ranges"] * (len(missing) > _LISTED)
    if result.end_is_missing:
        lines.append("the last unit is missing: the file may be longer")
    return lines + [f"  {line}" for line in result.rejected.lines()]


ISAL = "ISA-L"
_MEASURED = ("rs", "ldpc", "rlnc")
_LONGEST_S = 60.0
_ISAL_PACKETS = 255  # of a unit, at most
_SPEED = (
    Column("code", "code"),
    Column("action", "action"),
    Column("lost_packets", "source packets lost"),
    Column("unit_s", "a unit, us", 1e6),
    Column("source_bytes_per_s", "source, GB/s", 1e-9),
    Column("source_rate_bps", "Gbps a core", 1e-9),
)


@app.command
@one_line
def bench(
    *,
    k: Count = 32,
    r: Count = 8,
    packet_size: Size = 1500,
    code: Annotated[Texts, Parameter(name="--code")] = (),
    lost: MaybeCounts = (),
    seconds: Number = 0.2,
    output: Output = AS_TEXT,
) -> None:
    """Measure how fast codes encode and decode a coding unit on one core of this machine, alone and as packets.

    Parameters
    ----------
    k
        Source packets of a coding unit.
    r
        Repair packets of a coding unit, at least 1.
    packet_size
        Payload of a packet, such as 1500B.
    code
        Code to measure, several with the option again: rs, ldpc, rlnc (all of them when not given, and ISA-L where
        pyeclib is installed).
    lost
        Source packets that are lost and computed from repair packets, several with commas between them; 1 and as many
        as there are repair packets when not given.
    seconds
        Processor time to spend on each row, in seconds.
    """
    require(0 < seconds <= _LONGEST_S, f"--seconds {seconds:g}, but it must be above 0 and at most {_LONGEST_S:g}")
    require(r >= 1, f"--r {r}, but without a repair packet there is nothing to encode: give --r of at least 1")
    most = min(k, r)
    counts = sorted(set(lost or (1, most)))
    wrong = [count for count in counts if not 1 <= count <= most]
    require(not wrong, f"--lost {wrong[0] if wrong else 0}, but of {k} + {r} packets 1 to {most} can be computed")
    for name in code:
        choice("--code", name, CODES)
    sizes: dict[str, Any] = {"k": k, "r": r, "packet_bytes": packet_size}
    measured: list[Iterator[UnitTime]] = []
    for each in [_built(name, **sizes) for name in dict.fromkeys(code or _MEASURED)]:
        measured.append(unit_times(each, lost=counts, seconds=seconds))
        measured.append(stream_times(each.name, **sizes, lost=counts[0], seconds=seconds))
    total = len(measured) // 2 * (3 + len(counts))
    if not code and has_pyeclib() and k + r <= _ISAL_PACKETS:
        measured.append(_isal_times(**sizes, lost=counts, seconds=seconds))
        total += 1 + len(counts)
    timed = track((time for times in measured for time in times), total=total, label="measuring codes")
    rows = [_speed_row(each, k=k, r=r, packet_bytes=packet_size) for each in timed]
    title = f"Units of {k} + {r} packets of {packet_size} bytes on one core: {processor()}"
    print_table(rows, columns=_SPEED, title=title, output=output)
    if output.is_text:
        explain(*_remarks(rows, all_codes=not code))


def _built(name: str, **sizes: int) -> BlockCode:
    made = get_code(name)
    return build_code(name, variant=made.default_variant, seed=made.default_seed or 0, **sizes)


def has_pyeclib() -> bool:
    """Return whether ISA-L can be measured too."""
    try:
        import_module("pyeclib.ec_iface")  # it may be there without the library that it wraps
    except ImportError:
        return False
    return True


def _isal_times(*, k: int, r: int, packet_bytes: int, lost: list[int], seconds: float) -> Iterator[UnitTime]:
    """Yield the same of ISA-L through pyeclib, which gives new bytes objects with a header for each packet."""
    from pyeclib.ec_iface import ECDriver

    draw = generator(1)
    driver, data = ECDriver(k=k, m=r, ec_type="isa_l_rs_cauchy"), draw.bytes(k * packet_bytes)
    encode_s = least_mean_s([functools.partial(driver.encode, data)], seconds=seconds)
    yield UnitTime(ISAL, "encode", 0, encode_s)
    fragments = driver.encode(data)
    for count in lost:
        patterns = [
            [fragments[i] for i in (*np.sort(draw.permutation(k)[count:]), *range(k, k + count))]
            for _ in range(patterns_of(k * packet_bytes))
        ]
        decodes = [functools.partial(driver.decode, pattern) for pattern in patterns]
        yield UnitTime(ISAL, "decode", count, least_mean_s(decodes, seconds=seconds))


def _speed_row(time: UnitTime, *, k: int, r: int, packet_bytes: int) -> dict[str, Any]:
    source_bytes = k * packet_bytes
    per_s = None if time.unit_s is None else source_bytes / time.unit_s
    return {
        "code": time.code,
        "action": time.action,
        "k": k,
        "r": r,
        "packet_bytes": packet_bytes,
        "lost_packets": time.lost_packets,
        "unit_s": time.unit_s,
        "source_bytes_per_s": per_s,
        "source_rate_bps": None if per_s is None else 8 * per_s,
        "processor": processor(),
        "kernel": kernels.fastest().name,
    }


def _remarks(rows: list[dict[str, Any]], *, all_codes: bool) -> list[str]:
    """Return what a reader has to know of the numbers."""
    remarks = [
        f"Processor time; kernel {rows[0]['kernel']}, each decode with other losses. A stream has headers, checksums "
        "and a call of Python for each packet, as StreamEncoder and StreamDecoder do; the others are the code alone."
    ]
    if any(row["unit_s"] is None for row in rows):
        remarks.append("A code without a time does not decode so many losses: it needs more repair packets.")
    if any(row["code"] == ISAL for row in rows):
        remarks.append("ISA-L is called through pyeclib, whose own work counts.")
    elif all_codes and not has_pyeclib():
        remarks.append("ISA-L is measured too where pyeclib is installed: pip install pyeclib")
    return remarks
