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
=============================================== ====================================================================

Refused is what an excerpt would answer wrongly: pairs that are fixed, lists and collectives, links that differ in some
blocks only, incasts of more senders than half its hosts, switches that learn by pair of leaves (each pair is heard of
L/k times as often), fewer than 4 blocks (flows of one pair of leaves then share both links: too low by 8%), and more
than half the blocks, since the whole costs little more.
"""

from typing import Annotated

from capsim.base import bounds
from capsim.base.bounds import Nodes
from capsim.base.structs import KeyedStruct
from capsim.fabric.base import Blocks, FabricKind, Part
from capsim.fabric.kinds import AnyFabric
from capsim.fabric.traffic import AnyTraffic
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
    """

    blocks: Nodes
    of_blocks: Nodes
    hosts: Annotated[int, bounds.HOSTS.meta]
    fabric: AnyFabric
    traffic: tuple[AnyTraffic, ...]

    @property
    def share(self) -> float:
        """Return the share of the whole that is in the excerpt."""
        return self.blocks / self.of_blocks


def excerpt_of(
    fabric: AnyFabric, traffic: tuple[AnyTraffic, ...], kept: dict[str, int | None]
) -> tuple[AnyFabric, tuple[AnyTraffic, ...], ExcerptOf]:
    """Return fabric and traffic of an excerpt, and what it is of.

    Parameters
    ----------
    fabric, traffic
        Of the large scenario.
    kept : dict
        Number of blocks by what they are called: ``{"leaves": 4}``; None of those that are not given.

    Raises
    ------
    ParameterError
        One line, if an excerpt would not answer for the whole.
    """
    blocks = fabric.blocks()
    number = _number(fabric, blocks, kept)
    fabric.check_alike()
    part = Part(blocks, number)
    small = fabric.excerpt(number)
    entries = tuple(entry.excerpt(part) for entry in traffic)
    whole = ExcerptOf(blocks=number, of_blocks=blocks.count, hosts=blocks.hosts, fabric=fabric, traffic=traffic)
    return small, entries, whole


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
