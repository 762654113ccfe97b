"""Further subflows of a flow, opened at once, or each after a drawn gap."""

from typing import Any

from capsim.base.inlined import inlined

SLOTS = 50  # a gap is a whole number of these; the authors of MMPTCP draw distinct microseconds below 50
JOIN_MEMORY = (("joins_left", "i8"), ("next_slot", "i8"), ("first_slot_ps", "i8"))


@inlined
def next_joins(params: Any, memory: Any, flow: Any, now_ps: int, u0: float) -> int:
    """Return how many of the subflows that are left to open at ``flow.wake_ps``: all without a gap, else the next one.

    Distinct slots for all of them, every set equally likely, drawn one after the other: each further slot is passed
    over with the probability that none of the subflows left has it (selection sampling, Knuth, volume 2, 3.4.2).
    """
    if memory.joins_left == 0:
        return 0
    slot_ps = params.join_gap_ps // SLOTS
    if slot_ps == 0:
        count = memory.joins_left
        memory.joins_left = 0
        return int(count)
    if memory.next_slot == 0:
        memory.first_slot_ps = now_ps
    slots, passed = SLOTS - memory.next_slot, 0
    none_so_far = 1.0 - float(memory.joins_left) / float(slots)
    while none_so_far > u0:
        passed += 1
        none_so_far *= 1.0 - float(memory.joins_left) / float(slots - passed)
    flow.wake_ps = memory.first_slot_ps + (memory.next_slot + passed) * slot_ps
    memory.next_slot += passed + 1
    memory.joins_left -= 1
    return 1
