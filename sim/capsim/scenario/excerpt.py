"""Excerpts: a few whole blocks of a large fabric, which stand for all of them.

A *block* is what stays connected when the top tier is taken away: a leaf, a pod. In an excerpt of k of L blocks, with
the whole top tier, flows keep the share of partners within their block that they have in the large fabric of N hosts;
all others are in the other blocks of the excerpt. Completion times of its flows then have the law of the large fabric.

=============================================== ====================================================================
Traffic                                         In an excerpt
=============================================== ====================================================================
``poisson``, ``batch``                          k/L of the flows, or the same load; without ``exact_load``: blocks
                                                of the large fabric do not have equal loads either
``on-off``                                      k/L of the flows of each burst
``incast`` with receivers that are drawn        as many senders, k/L of the rounds
``pairs = "random"`` of each of these           ``staggered``: with h hosts at a switch and p in a pod a partner is at
                                                the same switch with probability (h-1)/(N-1), elsewhere in the pod with
                                                (p-h)/(N-1)
``other-leaf``, ``other-pod``, ``staggered``    as they are
``hosts``, ``skip_hosts``                       k/L of them
a list, if most flows meet those of other       all flows that k blocks send, two blocks of each of k/2 classes of load;
pairs                                           ends in others move to one of their class. Each seed draws its blocks
=============================================== ====================================================================

Where links of some blocks differ (``links`` and ``faults`` of the fabric), there are two excerpts: one of sound blocks,
and one whose first block is *touched*. Flows that a touched block sends or receives have the law of the second, all
others that of the first (:func:`capsim.estimate` runs both). Faults that are drawn are those of the scenario's seed.

Refused is what an excerpt would answer wrongly: pairs that are fixed, collectives, lists whose flows wait for others or
mostly meet those of their own pair, blocks that are touched in several ways or that are a larger share of the whole
than of the excerpt, incasts of more senders than half its hosts, switches that learn by pair of leaves (each pair is
heard of L/k times as often), fewer than 4 blocks (flows of one pair of leaves then share both links: too low by 8%),
and more than half the blocks, since the whole costs little more.
"""

from fnmatch import fnmatchcase
from itertools import chain, product
from typing import Annotated

import msgspec

from capsim.base import bounds
from capsim.base.bounds import Nodes
from capsim.base.structs import KeyedStruct
from capsim.fabric.base import Blocks, FabricKind, Part
from capsim.fabric.faults import draw_faults
from capsim.fabric.kinds import AnyFabric
from capsim.fabric.listed import Listed
from capsim.fabric.traffic import AnyTraffic
from capsim.fabric.wiring import LinkChange, Wiring
from capsim.protocols.balancers.drill import MemoryPer
from capsim.roles.components import Scheme
from capsmodel.checks import ParameterError, require

LEAST_BLOCKS = 4


class ExcerptOf(KeyedStruct, frozen=True, kw_only=True):
    """The large scenario that an excerpt is of.

    Parameters
    ----------
    blocks, of_blocks : int
        Leaves, pods or parts of a graph in the excerpt, and in the whole.
    hosts : int
        Of the whole.
    fabric, traffic
        Of the whole; all else is as in the excerpt.
    touched : int, optional
        How many of all blocks have links that differ from those of the others; None if none has.
    """

    blocks: Nodes
    of_blocks: Nodes
    hosts: Annotated[int, bounds.HOSTS.meta]
    fabric: AnyFabric
    traffic: tuple[AnyTraffic, ...]
    touched: Nodes | None = None

    @property
    def share(self) -> float:
        """Return the share of the whole that is in the excerpt."""
        return self.blocks / self.of_blocks


def excerpts_of(
    fabric: AnyFabric, traffic: tuple[AnyTraffic, ...], kept: dict[str, int | None], *, seed: int
) -> tuple[tuple[AnyFabric, ...], tuple[AnyTraffic, ...], ExcerptOf]:
    """Return the fabric of sound blocks, and that with a touched one if there are any; the traffic; what they are of.

    Parameters
    ----------
    fabric, traffic
        Of the large scenario.
    kept : dict
        Number of blocks by what they are called: ``{"leaves": 4}``; None of those that are not given.
    seed : int
        Of the large scenario, which draws its faults.

    Raises
    ------
    ParameterError
        One line, if an excerpt would not answer for the whole.
    """
    blocks = fabric.blocks()
    number = _number(fabric, blocks, kept)
    sound, touched, count = _divided(fabric, seed)
    share = f"{count} of {blocks.count} {blocks.word}, but in one of {number} of an excerpt"
    require(count * number <= blocks.count, f"fabric: links differ in {share}: give fewer, or run the whole")
    lists = sum(isinstance(entry, Listed) for entry in traffic)
    rule = "and an excerpt draws the leaves or pods of one list only, which are alike: run the whole"
    require(lists <= 1, f"traffic has {lists} lists of flows, {rule}")
    require(not (lists and count), f"traffic has a list of flows and the fabric links that differ, {rule}")
    part = Part(blocks, number)
    entries = tuple(entry.excerpt(part) for entry in traffic)
    whole = ExcerptOf(
        blocks=number, of_blocks=blocks.count, hosts=blocks.hosts, fabric=fabric, traffic=traffic, touched=count or None
    )
    return tuple(one.excerpt(number) for one in ((sound, touched) if count else (sound,))), entries, whole


def _divided(fabric: AnyFabric, seed: int) -> tuple[AnyFabric, AnyFabric, int]:
    """Return the fabric with sound blocks only, and with the first one touched only, and how many are touched."""
    if not (fabric.links or fabric.faults):
        return fabric, fabric, 0
    names = fabric.block_names()
    bare, wiring = msgspec.structs.replace(fabric, links=(), faults=()), Wiring()
    bare.wire(wiring)
    inside = frozenset[str]().union(*names)
    top = tuple(name for name in wiring.switches if name not in inside)
    of_all = tuple(
        fault for fault in fabric.faults if fault.nodes and not any(_matches(fault.nodes, block) for block in names)
    )
    drawn = zip(fabric.faults, draw_faults(fabric.faults, wiring, seed=seed), strict=True)
    changes = [*fabric.links, *(change for fault, one in drawn if fault not in of_all for change in one.changes)]
    hits = [_hits(change, names) for change in changes]
    touched = {block for hit in hits for block in hit}

    def links(block: int | None) -> tuple[LinkChange, ...]:
        """Return the changes for all blocks, and those of one as they are in the first."""
        moved = (
            _moved(change, hit[block], (names[0], top)) if block in hit else () if hit else (change,)
            for change, hit in zip(changes, hits, strict=True)
        )
        return tuple(chain.from_iterable(moved))

    ways = [*{links(block): None for block in touched}]
    rule = f"several ways among {fabric.blocks().word}, but in an excerpt one differs in one way: run the whole"
    require(len(ways) <= 1, f"fabric: links differ in {rule}")
    sound, other = (msgspec.structs.replace(bare, links=one, faults=of_all) for one in (links(None), *(ways or [()])))
    return sound, other, len(touched)


Places = tuple[int, ...]


def _hits(change: LinkChange, names: list[tuple[str, ...]]) -> dict[int, tuple[Places | None, Places | None]]:
    """Return over the blocks that a change touches which of their nodes are at either end.

    None is an end that matches alike in all blocks.
    """
    ends = [[_matches(end, block) for block in names] for end in change.between]
    first, second = ([None] * len(names) if len(set(end)) == 1 else end for end in ends)
    return {block: pair for block, pair in enumerate(zip(first, second, strict=True)) if any(pair)}


def _moved(
    change: LinkChange, ends: tuple[Places | None, Places | None], names: tuple[tuple[str, ...], tuple[str, ...]]
) -> list[LinkChange]:
    """Return a change with the nodes of the first block, and those above, in place of the ends in another block."""
    block, top = names
    first, second = (
        [end]
        if places is None
        else [*(block[place] for place in places), *(top[place] for place in _matches(end, top))]
        for end, places in zip(change.between, ends, strict=True)
    )
    return [msgspec.structs.replace(change, between=between) for between in product(first, second)]


def _matches(pattern: str, names: tuple[str, ...]) -> Places:
    return tuple(place for place, name in enumerate(names) if fnmatchcase(name, pattern))


def _number(fabric: FabricKind, blocks: Blocks, kept: dict[str, int | None]) -> int:
    given = {word: number for word, number in kept.items() if number is not None}
    require(len(given) <= 1, f"{' and '.join(given)} of an excerpt: give one of them")
    word, number = next(iter(given.items()), (blocks.word, LEAST_BLOCKS))
    rule = f"a {fabric.kind} is cut into {blocks.word}"
    require(word in (blocks.word, "blocks"), f"{word} = {number}, but {rule}: give {blocks.word} = {number}")
    rule = "flows of one pair of them share too many links with fewer"
    require(number >= LEAST_BLOCKS, f"{word} = {number}, but an excerpt has at least {LEAST_BLOCKS}: {rule}")
    rule = f"an excerpt has at most half of the {blocks.count} {blocks.word}: give fewer, or run the whole"
    require(2 * number <= blocks.count, f"{word} = {number}, but {rule}")
    return number


def check_scheme(scheme: Scheme) -> None:
    """Refuse a scheme whose switches learn by pair of leaves, in an excerpt.

    Raises
    ------
    ParameterError
        If there are fields for each leaf that a packet goes to.
    """
    balancer = scheme.balancer
    per = getattr(balancer.params, "memory_per", MemoryPer.LEAF)
    if "towards" in balancer.memory and per == MemoryPer.LEAF:
        raise ParameterError(
            f"scheme = {scheme.name!r}: its switches learn by pair of leaves, and in an excerpt each pair has more "
            "traffic: run the whole"
        )
