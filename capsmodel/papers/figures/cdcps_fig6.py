"""CDCPS Fig. 6: four source packets coded into six, and which sets of received packets decode.

Not stated: the field, how coefficients are signalled, whether source packets are sent uncoded. Chosen: GF(2^8),
coefficients by RFC 8681 from the packet's number, both with all packets coded, as drawn, and with the source packets
uncoded. The units are real packets, coded and decoded; each has coefficients of its own.
"""

from typing import TYPE_CHECKING, Any

from pandas import DataFrame

from capsmodel.coding.random_linear import full_rank_prob
from capsmodel.experiments.sweep import Task
from capsmodel.experiments.words import CLOSE_RELATIVE, WORD_OF_SIZE, above, word_on
from capsmodel.papers.claim_list import PublishedClaim
from capsmodel.papers.figures import PublishedFigure
from capsmodel.papers.figures import _drawing as drawing
from capsmodel.papers.figures import _units as units
from capsmodel.papers.measurements.received_sets import random_linear_sets
from capsmodel.papers.verdicts import Verdict, of_sample

if TYPE_CHECKING:
    from matplotlib.figure import Figure

SOURCE, REPAIR, UNITS = 4, 2, 10_000
SCHEMES = {False: "all packets coded", True: "source packets as they are"}


def tasks(*, quick: bool = False) -> list[Task]:
    """Return one task for each number of received packets, with all packets coded and with uncoded source packets."""
    units = 200 if quick else UNITS
    fixed = {"k": SOURCE, "r": REPAIR, "units": units}
    return [
        Task(
            random_linear_sets,
            **fixed,
            received_packets=received,
            systematic=systematic,
            seed=10 * received + systematic,
        )
        for systematic in SCHEMES
        for received in range(1, SOURCE + REPAIR + 1)
    ]


def table(rows: DataFrame) -> DataFrame:
    """Return the share of sets that decode, with its 99.5% interval, and of those that are linearly independent."""
    shares = units.decode_shares(rows.rename(columns={"decoded_sets": "successes", "units": "trials"}))
    columns = {
        "scheme": rows["systematic"].map(SCHEMES),
        "sent_packets": rows["k"] + rows["r"],
        "received_packets": rows["received_packets"],
    }
    return DataFrame(columns).join(shares).assign(independent_prob=rows["independent_sets"] / rows["units"])


def draw(frame: DataFrame) -> "Figure":
    """Draw the share of sets that decode over the number of packets received."""
    figure, (axes,) = drawing.panels("CDCPS Fig. 6: four packets coded into six, decoded from those that arrive")
    for colour, marker, (scheme, rows) in zip(drawing.COLOURS, "os", frame.groupby("scheme", sort=False), strict=False):
        style: dict[str, Any] = {"fmt": marker, "mfc": "none", "markersize": 6, "color": colour, "label": scheme}
        drawing.error_bars(axes, rows, x="received_packets", y="decode_prob", **style)
    received = sorted(set(frame["received_packets"]))
    model = [full_rank_prob(SOURCE, received=count) for count in received]
    axes.plot(received, model, color="0.6", lw=1, zorder=0, label="random matrix of full rank")
    drawing.paper_place(axes, SOURCE, "paper: any four independent ones decode")
    axes.set(xlabel="packets received of six", ylabel="units decoded", ylim=(-0.03, 1.05))
    return drawing.finish(figure, [axes], loc="upper left")


def survives_two_blocked(claim: PublishedClaim, frame: DataFrame) -> Verdict:
    """Judge cdcps-f6: four of six suffice whenever they are independent, which is nearly always, and three never do."""
    sent = float(frame["sent_packets"].iloc[0])
    four = frame[frame["received_packets"] == SOURCE]
    fewer = frame[frame["received_packets"] < SOURCE]
    exact = bool((frame["decode_prob"] == frame["independent_prob"]).all() and (fewer["decode_prob"] == 0).all())
    exact &= sent == float(claim.low)
    nearly = [above(units.share(row), 1 - CLOSE_RELATIVE) for _, row in four.iterrows()]
    shares = " and ".join(f"{prob:.2%}" for prob in 1 - four["decode_prob"])
    reason = f"independent ones always decode; of random four in GF(2^8), {shares} are not (all coded, systematic)"
    word = word_on(WORD_OF_SIZE, [exact, *nearly], [exact] * (1 + len(nearly)))
    return of_sample(Verdict(claim.id, (sent,), word, reason), f"{UNITS} sets")


FIGURE = PublishedFigure(__name__, __doc__, tasks=tasks, table=table, draw=draw)
