"""The compiled engine: arrays that begin at a cache line, and event trees as Python makes them."""

from typing import Any

import numpy as np

from capsim.engines.pointers import CACHE_LINE_BYTES, NODE
from capsim.engines.trees import NO_STAMP
from capsim.state import Table


def tree_over(entities: Table, *, leaves: int | None = None) -> Table:
    """Return a tournament tree over `entities`, none of which has an event; `leaves` is a power of two."""
    leaves = len(entities) if leaves is None else leaves
    tree = np.zeros(2 * leaves, NODE)
    tree["stamp"] = NO_STAMP
    tree["entity"][leaves : leaves + len(entities)] = entities
    replay(tree)
    return tree


def replay(tree: Table) -> None:
    """Let the leaves play all matches: the smaller stamp wins, of equal ones the left node."""
    level = len(tree) // 4  # nodes level .. 2 * level - 1
    while level:
        left, right = tree[2 * level : 4 * level : 2], tree[2 * level + 1 : 4 * level : 2]
        tree[level : 2 * level] = np.where(right["stamp"] < left["stamp"], right, left)
        level //= 2


def copy_block(old: Table, old_first: int, tree: Table, first: int, leaves: int) -> None:
    """Copy the events of `leaves` leaves from one tree to another."""
    from_leaf, to_leaf = len(old) // 2 + old_first, len(tree) // 2 + first
    tree["stamp"][to_leaf : to_leaf + leaves] = old["stamp"][from_leaf : from_leaf + leaves]


def power_of_two(n: int) -> int:
    """Return the smallest power of two that is not below `n`."""
    return 1 << max(n - 1, 0).bit_length()


def aligned(size: int, dtype: np.dtype[Any]) -> Table:
    """Return `size` records of zeros that begin at a cache line."""
    raw = np.zeros(size * dtype.itemsize + CACHE_LINE_BYTES, np.uint8)
    start = -raw.ctypes.data % CACHE_LINE_BYTES
    return raw[start : start + size * dtype.itemsize].view(dtype)


def copied(array: Table) -> Table:
    """Return a copy that begins at a cache line."""
    copy = aligned(len(array), array.dtype)
    copy[:] = array
    return copy
