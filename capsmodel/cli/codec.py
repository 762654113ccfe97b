"""``capsmodel codec``: files as coded packets and back again."""

from collections.abc import Sequence
from pathlib import Path
from typing import Annotated, Any

from cyclopts import App, Parameter, Token

from capsmodel.checks import ParameterError, choice, generator, require
from capsmodel.cli._commands import CODEC
from capsmodel.cli.shared.codec_files import Input, Target, beside, one_line, readable, say, target_of, writable
from capsmodel.cli.shared.options import Count, Flag, MaybeCount, Size
from capsmodel.codec.files import SUFFIX, Decoding, PacketIndex, decode_file, encode_file
from capsmodel.codec.registry import CODES
from capsmodel.codec.streams import StreamEncoder, StreamIncomplete

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
    rng = generator(stream_seed, name="--stream-seed")
    encoder = StreamEncoder(k=k, r=r, packet_bytes=packet_size, code=code, variant=variant, seed=seed, rng=rng)
    with readable(file) as source, writable(target) as written:
        count = encode_file(source, written, encoder)
    say(
        f"wrote {target}: {count} packets of {encoder.source_bytes} source bytes, {code} k = {k}, r = {r}, stream "
        f"{encoder.stream:016x}",
        target,
    )


@app.command
@one_line
def decode(
    file: Input, /, *, out: Target = None, stream: Stream = None, partial: Flag = False, force: Flag = False
) -> None:
    """Decode a file of packets; the result is written whole or not at all, unless --partial is given.

    Exit status 0 if all bytes are known; with --partial 3 if some are missing, 4 if none is known.

    Parameters
    ----------
    file
        File of packets, in any order; - reads standard input.
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
            result = decode_file(source, written, stream=stream, partial=partial)
        except StreamIncomplete as error:
            raise ParameterError(_undecoded(error, source, stream)) from None
    for line in _report(result, target):
        say(line, target)
    if result.missing_bytes or result.end_is_missing:
        raise SystemExit(SOME_MISSING if result.reception.source_bytes else NOTHING_KNOWN)


def _undecoded(error: StreamIncomplete, source: Path, stream: int | None) -> str:
    """Return how many units of a stream cannot be decoded, and why the first cannot."""
    with source.open("rb") as file:
        index = PacketIndex(file)
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
