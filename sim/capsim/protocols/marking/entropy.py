"""Entropies: a sender puts a number into the hash of each packet, and learns from acknowledgements which to take next.

Switches that hash addresses and port numbers (ECMP) map each entropy to a path; the sender knows neither paths nor
switches. Entropy 0 is the hash that the subflow has without any, so with one entropy this is ECMP.

=============== =================================================== =========================== =======================
``policy``      entropy of the next packet                          is told                     source
=============== =================================================== =========================== =======================
``oblivious``   all in turn, in another order each round            nothing                     htsim, UEC multipath
``bitmap``      all in turn, but for those with penalties, of       marks: a penalty for the    htsim, UEC multipath;
                which each turn takes one                           entropy; trimming: four     STrack (2024)
``reps``        the oldest that came back without a mark and is     what comes back without a   REPS (2024); htsim
                not used since; else a random one                   mark, timeouts              ``buffer_reps``
``mixed``       the oldest that came back without a mark and is     marks, trimming; what       htsim, UEC multipath
                not used since; else as ``bitmap``                  comes back without a mark
``plb``         the same, until many rounds in turn had marks       marked share of a round,    PLB (2022); Linux
                                                                    timeouts                    ``tcp_plb``
``flowbender``  the same, until one round had some                  the same                    FlowBender (2014)
=============== =================================================== =========================== =======================

The orders of ``oblivious`` and ``bitmap`` are those of a counter whose bits a random number flips. At a timeout
``reps`` freezes: for a while it only takes again what has come back before, in turn, since paths may have failed; then
it begins anew, with some random entropies. PLB rests after a timeout. A round ends when what was sent before it is
acknowledged. Acknowledgements that answer several packets, or none, echo the entropy of one packet, or none.

What is trimmed at the receiver's own link says nothing of paths. Of a lost packet the sender does not know the entropy:
htsim gives the penalty of a timeout to one that has nothing to do with it, here nobody has it.
"""

from dataclasses import dataclass
from enum import IntEnum
from typing import Annotated, Any

from capsim.base import bounds
from capsim.base.inlined import inlined
from capsim.base.randomness import mix
from capsim.records import CODED, DATA, NONE
from capsim.roles.components import Marking
from capsim.roles.hooks import ACKED, DUPLICATE, EXPIRED, HEADER, MARKED
from capsmodel.checks import require

CACHE = 8  # entropies that REPS keeps
MOST_PENALTIES, OF_TRIMMING = 15, 4
EXPLORED = 16  # random entropies with which REPS begins anew


class Policy(IntEnum):
    """Which entropy the next packet has."""

    OBLIVIOUS = 0
    BITMAP = 1
    REPS = 2
    PLB = 3
    FLOWBENDER = 4
    MIXED = 5


@dataclass(frozen=True, kw_only=True)
class EntropyParams:
    """Parameters of entropies.

    Parameters
    ----------
    policy : Policy
        Which entropy the next packet has.
    entropies : int
        How many there are; a power of two.
    freeze_s : float
        Of ``reps``: how long after a timeout only known entropies are taken, in seconds (htsim: 10 ms).
    marked_share : float
        Of ``plb`` and ``flowbender``: share of marked acknowledgements above which a round is congested (Linux: 0.5;
        FlowBender: 0.05).
    congested_rounds : int
        Of these: after how many such rounds in turn the entropy changes (Linux: 12; FlowBender: 1).
    pause_s : float
        Of these: how long after a timeout, which changes the entropy too, rounds do not, in seconds (Linux: 60).
    """

    policy: Policy = Policy.REPS
    entropies: Annotated[int, bounds.ENTROPIES] = 128
    freeze_s: float = 10e-3
    marked_share: Annotated[float, bounds.RATIO] = 0.5
    congested_rounds: Annotated[int, bounds.DUP_ACKS] = 12
    pause_s: float = 60.0

    def __post_init__(self) -> None:
        rule = "it must be a power of two"
        require(self.entropies & (self.entropies - 1) == 0, f"marking.entropies = {self.entropies}, but {rule}")


@inlined
def in_turn(params: Any, memory: Any, u0: float) -> int:
    """Return the next entropy of a counter whose bits are flipped anew each round."""
    if memory.count == 0:
        memory.flipped = int(u0 * params.entropies)
    entropy = memory.count ^ memory.flipped
    memory.count = (memory.count + 1) & (params.entropies - 1)
    return int(entropy)


@inlined
def without_penalty(params: Any, memory: Any, u0: float) -> int:
    """Return the next one without penalties; of each that is passed over one is taken."""
    entropy = in_turn(params, memory, u0)
    while memory.penalties[entropy] > 0:
        memory.penalties[entropy] -= 1
        entropy = in_turn(params, memory, u0)
    return entropy


@inlined
def oldest(memory: Any) -> int:
    """Return the oldest entropy that came back and is not used since: now it is."""
    place = (memory.written - memory.fresh) % CACHE
    memory.fresh -= 1
    return int(memory.cache[place])


@inlined
def recycled(params: Any, memory: Any, u0: float) -> int:
    """Return the oldest entropy that came back and is not used since; when frozen those known in turn; else any."""
    if memory.explore > 0:
        memory.explore -= 1
    elif memory.frozen_ps and memory.known:
        memory.reused = (memory.reused + 1) % memory.known
        return int(memory.cache[memory.reused])
    elif memory.fresh and not memory.frozen_ps:
        return oldest(memory)
    return int(u0 * params.entropies)


@inlined
def kept(params: Any, memory: Any, u0: float) -> int:
    """Return the present entropy, a new one if it is to change."""
    if memory.change:
        memory.change = 0
        memory.present = (memory.present + 1 + int(u0 * (params.entropies - 1))) & (params.entropies - 1)
    return int(memory.present)


def mark(params: Any, own: Any, flow: Any, sub: Any, packet: Any, u0: float) -> int:
    """Choose an entropy for a packet of data and return the hash that it makes."""
    if packet.kind != DATA and packet.kind != CODED:
        return int(sub.hash)
    memory = own.subflow
    if params.policy == Policy.OBLIVIOUS:
        packet.entropy = in_turn(params, memory, u0)
    elif params.policy == Policy.BITMAP:
        packet.entropy = without_penalty(params, memory, u0)
    elif params.policy == Policy.MIXED:
        packet.entropy = oldest(memory) if memory.fresh else without_penalty(params, memory, u0)
    elif params.policy == Policy.REPS:
        packet.entropy = recycled(params, memory, u0)
    else:
        packet.entropy = kept(params, memory, u0)
    return int(sub.hash) if packet.entropy == 0 else mix(sub.hash ^ packet.entropy)


@inlined
def remember(params: Any, memory: Any, packet: Any, signals: int, now_ps: int) -> None:
    """Keep an entropy that came back without a mark; freeze at a timeout, and begin anew when that is over."""
    if memory.frozen_ps and now_ps >= memory.frozen_ps:
        memory.frozen_ps, memory.fresh, memory.known = 0, 0, 0
        memory.explore = EXPLORED
    if signals & EXPIRED and not memory.frozen_ps:
        memory.frozen_ps = now_ps + params.freeze_ps
    keep(memory, packet, signals)


@inlined
def keep(memory: Any, packet: Any, signals: int) -> None:
    """Keep an entropy that came back without a mark."""
    if packet.entropy != NONE and not signals & (MARKED | HEADER):
        memory.cache[memory.written] = packet.entropy
        memory.written = (memory.written + 1) % CACHE
        memory.fresh = min(memory.fresh + 1, CACHE)
        memory.known = min(memory.known + 1, CACHE)


@inlined
def punish(memory: Any, packet: Any, signals: int) -> None:
    """Give an entropy that came back with a mark, or of which only the header came, its penalty."""
    if packet.entropy != NONE and signals & (MARKED | HEADER):
        added = OF_TRIMMING if signals & HEADER else 1
        memory.penalties[packet.entropy] = min(memory.penalties[packet.entropy] + added, MOST_PENALTIES)


@inlined
def watch(params: Any, memory: Any, sub: Any, signals: int, now_ps: int) -> None:
    """Count marks; change the entropy after a timeout, or after congested rounds in turn."""
    if signals & EXPIRED:
        memory.change = 1
        memory.rounds = 0
        memory.paused_ps = now_ps + params.pause_ps
    if signals & (ACKED | DUPLICATE):
        memory.acks += 1
        memory.marked += 1 if signals & MARKED else 0
    if sub.una < memory.round_end:
        return
    if memory.acks and now_ps >= memory.paused_ps:
        congested = memory.marked > params.marked_share * memory.acks
        memory.rounds = memory.rounds + 1 if congested else 0
        if memory.rounds >= params.congested_rounds:
            memory.change = 1
            memory.rounds = 0
    memory.acks, memory.marked = 0, 0
    memory.round_end = sub.next_segment


def learn(params: Any, own: Any, flow: Any, sub: Any, packet: Any, signals: int, now_ps: int) -> int:
    """Learn what an acknowledgement or a timeout says of entropies."""
    memory = own.subflow
    if params.policy == Policy.BITMAP:
        punish(memory, packet, signals)
    elif params.policy == Policy.MIXED:
        punish(memory, packet, signals)
        keep(memory, packet, signals)
    elif params.policy == Policy.REPS:
        remember(params, memory, packet, signals, now_ps)
    elif params.policy != Policy.OBLIVIOUS:
        watch(params, memory, sub, signals, now_ps)
    return 0


ENTROPY = Marking(
    name="entropy",
    mark=mark,
    learn=learn,
    params=EntropyParams(),
    draws=True,
    memory={
        "subflow": (
            ("count", "i8"),  # oblivious, bitmap, mixed: place in the round
            ("flipped", "i8"),
            ("penalties", "(entropies,)u1"),
            ("cache", f"({CACHE},)i4"),  # REPS, mixed: a ring of entropies that came back
            ("written", "i8"),  # the place written next
            ("fresh", "i8"),  # how many of the last are not used since
            ("known", "i8"),  # how many there are
            ("reused", "i8"),
            ("explore", "i8"),
            ("frozen_ps", "i8"),  # until when, or 0
            ("present", "i8"),  # PLB, FlowBender
            ("change", "i8"),
            ("acks", "i8"),  # in this round
            ("marked", "i8"),
            ("round_end", "i8"),
            ("rounds", "i8"),  # congested ones in turn
            ("paused_ps", "i8"),
        )
    },
)
