"""Part of the tour: a real file through the codec, 20% of its packets lost at random."""

import hashlib
import tempfile
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from capsmodel.cli.equations import claims_csv
from capsmodel.cli.shared.table import Column
from capsmodel.cli.tour.section import Advance, Section, Station
from capsmodel.codec import StreamEncoder, StreamIncomplete
from capsmodel.codec.files import SUFFIX, Flags, arrivals, decode_file, encode_file, lose_packets
from capsmodel.coding.decoding import decode_prob
from capsmodel.plotting import new_figure

if TYPE_CHECKING:
    from matplotlib.figure import Figure

FILE = "claims.csv"
LOSS, K, PACKET_BYTES, SEED = 0.2, 32, 500, 1
Arrived = list[float]
SENDINGS = (("rs", 8), ("rs", 24), ("ldpc", 24), ("rlnc", 24))


def _digest(path: Path) -> str:
    return hashlib.sha256(path.read_bytes()).hexdigest()


def _loses(n: int, receptions: int, rng: np.random.Generator, *, record: list[int]) -> Flags:
    arrived = arrivals(n, blocking_prob=LOSS, receptions=receptions, rng=rng)
    record.append(int(arrived.sum()))
    return arrived


def _send(code: str, r: int, source: Path) -> tuple[dict[str, Any], Arrived]:
    """Code the file, lose packets, decode; return the row, and what arrived of each unit over what decodes it."""
    folder = source.parent
    sent, lossy, decoded = (folder / f"{code}{r}{end}" for end in (SUFFIX, ".lossy", ".decoded"))
    packets = encode_file(source, sent, StreamEncoder(k=K, r=r, packet_bytes=PACKET_BYTES, code=code, rng=SEED))
    last_k = -(-source.stat().st_size // PACKET_BYTES) % K or K  # the last unit is shorter
    record: list[int] = []
    kept = lose_packets(sent, lossy, draw=partial(_loses, record=record), rng=np.random.default_rng(SEED))
    try:
        decode_file(lossy, decoded)
        outcome = "recovered, byte for byte" if _digest(decoded) == _digest(source) else "differs"
    except StreamIncomplete as incomplete:
        outcome = f"not recovered: {len(incomplete.missing)} of {len(record)} units lack packets"
    row = {
        "code": code,
        "k": K,
        "r": r,
        "packets_sent": packets,
        "packets_lost": packets - kept,
        "all_units_decode_prob": float(decode_prob(K, r=r, blocking_prob=LOSS)) ** len(record),
        "outcome": outcome,
    }
    needed = [K] * (len(record) - 1) + [last_k]
    return row, [count / k for count, k in zip(record, needed, strict=True)]


def _draw(arrived: dict[int, Arrived]) -> "Figure":
    figure = new_figure(width_in=6.4, height_in=3.2)
    axes = figure.add_subplot()
    width = 0.8 / len(arrived)
    for place, (r, shares) in enumerate(arrived.items()):
        axes.bar(np.arange(len(shares)) + place * width, shares, width, label=f"{K} + {r} sent")
    axes.axhline(1, color="black", linewidth=1, label="as many as are needed")
    axes.set(xlabel="coding unit of the file", ylabel="packets that arrived over k")
    axes.legend(frameon=False, ncols=3, loc="lower center", bbox_to_anchor=(0.5, 1.0))
    return figure


def _visit(quick: bool, advance: Advance) -> Section:
    del quick  # a second or two, most of it compilation
    rows, arrived = [], {}
    with tempfile.TemporaryDirectory(prefix="capsmodel-") as folder:
        source = Path(folder) / FILE
        source.write_text(claims_csv(), encoding="utf-8")
        size = source.stat().st_size
        for code, r in SENDINGS:
            row, shares = _send(code, r, source)
            rows.append(row)
            if code == "rs":
                arrived[r] = shares
            advance(1 / len(SENDINGS))
    recovered = [f"{row['code']} with r = {row['r']}" for row in rows if str(row["outcome"]).startswith("recovered")]
    return Section(
        title=f"Does a file survive when {LOSS:.0%} of its packets are lost?",
        reading="A bar is the number of packets of a coding unit that arrived over the k of its source packets: "
        "Reed-Solomon decodes a unit whose bar reaches the line, and the file needs them all. The last unit is "
        f"shorter, so the same number of repair packets is more for it. The file, {size} bytes, is the list of the "
        "published claims.",
        finding=f"Recovered, compared by SHA-256: {', '.join(recovered) or 'none'}. r = 8 replaces the packets lost on "
        "average, which is not enough for every unit. The probability in the table is that of a code of which "
        "any k packets decode.",
        commands=(
            f"capsmodel claims --all --csv > {FILE}",
            f"capsmodel codec encode {FILE} --k {K} --r 24 --packet-size {PACKET_BYTES}B --out sent.caps",
            f"capsmodel codec simulate-loss sent.caps --blocking-prob {LOSS} --out lossy.caps",
            "capsmodel codec decode lossy.caps --out copy.csv",
        ),
        columns=(
            Column("code", "code"),
            Column("k", "k"),
            Column("r", "r"),
            Column("packets_sent", "packets sent"),
            Column("packets_lost", "lost"),
            Column("all_units_decode_prob", "all units decode, probability by theory"),
            Column("outcome", "outcome"),
        ),
        rows=rows,
        figures={"recovery": _draw(arrived)},
    )


STATION = Station("recovery", "recovering a file", _visit, beside=True)
