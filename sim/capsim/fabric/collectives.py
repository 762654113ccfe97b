r"""Collective operations of training clusters: which host sends what to whom, and after what.

Each of N hosts has a vector of B bytes, in N chunks of B/N, the first of them a byte longer where N does not divide B.

====================== ================================================== ======= ====================== ==============
``algorithm``          a host sends                                       steps   begins after           bytes, shared
====================== ================================================== ======= ====================== ==============
``ring_allreduce``     a chunk to the next host, in each step             2(N-1)  what it received in    2(N-1)/N B
                                                                                  the step before
``ring_reducescatter`` the same, the first half of it                     N-1     the same               (N-1)/N B
``ring_allgather``     the same, the second half of it                    N-1     the same               (N-1)/N B
``halving_doubling``   half of what is left to the host N/2, N/4, ... 1   2 log2  the same               2(N-1)/N B
                       away, then all that it has to 1, 2, ... N/2 away   N
``alltoall``           a chunk to each other host, the next one first     N-1     `window_flows` before  (N-1)/N B
                                                                                  have been sent
====================== ================================================== ======= ====================== ==============

The last column is what each host sends, and over the completion time the *bus bandwidth*: the rate that its link must
have, whatever the algorithm and N, as NCCL's tests define it. The sums of a reduction take no time here. Each message
is a flow of its own, with the slow start of one.

Sources: Thakur, Rabenseifner, Gropp: Optimization of Collective Communication Operations in MPICH (2005), for the
algorithms; the page on performance of NCCL's tests for the bandwidths.
"""

from typing import Annotated, Literal, Self

import numpy as np

from capsim.base import bounds
from capsim.base.bounds import FlowBytes, Time
from capsim.base.memory import check_fits
from capsim.base.seeds import EntrySeeds
from capsim.base.structs import KeyedStruct
from capsim.fabric.base import Part
from capsim.fabric.dependencies import AfterAt
from capsim.fabric.endpoints import Ints
from capsim.fabric.flows import DrawnFlows
from capsim.fabric.topology import Fabric
from capsmodel.checks import ParameterError, require

Algorithm = Literal["ring_allreduce", "ring_reducescatter", "ring_allgather", "halving_doubling", "alltoall"]
_BYTES_PER_PAIR = 80  # of a flow and one that it waits for, while they are sorted
_BOTH_HALVES: tuple[Algorithm, ...] = ("ring_allreduce", "halving_doubling")


class Collective(KeyedStruct, frozen=True, kw_only=True, tag_field="kind", tag="collective"):
    """A collective operation among hosts, once or in iterations.

    Parameters
    ----------
    algorithm : str
        ``ring_allreduce``, ``ring_reducescatter``, ``ring_allgather``, ``halving_doubling`` (an all-reduce, of a power
        of two of hosts) or ``alltoall``.
    vector_bytes : int
        B, in bytes: of the whole vector of a host; at least a byte for each host of a group.
    hosts, skip_hosts : int
        How many hosts take part (all when left out), behind the first `skip_hosts` in the order of `placement`.
    groups : int
        Groups of hosts, each with a collective of its own; N is the number of hosts of one. In the order of
        `placement` the hosts of a group stand together.
    placement : str
        ``in-order`` of host numbers, or ``shuffled``, drawn from the seed: neighbours are then anywhere in the fabric.
    window_flows : int, optional
        Of ``alltoall``: a host sends so many chunks at a time, each further one when that so many places before is
        complete (`after_at`). All at once when left out.
    after_at : str
        Where a chunk that the window waits for is complete: ``receiver`` or ``sender``.
    iterations : int
        How often. A host begins the next one when it has received all of the one before.
    compute_s : float
        Time that it computes in between, in seconds.
    start_s : float
        When the first one begins, in seconds.
    stack : str, optional
        As of drawn traffic: the scheme whose host side these flows run.
    """

    algorithm: Algorithm
    vector_bytes: FlowBytes
    hosts: Annotated[int, bounds.HOSTS.meta] | None = None
    skip_hosts: Annotated[int, bounds.SKIP_HOSTS.meta] = 0
    groups: Annotated[int, bounds.HOSTS.meta] = 1
    placement: Literal["in-order", "shuffled"] = "in-order"
    window_flows: Annotated[int, bounds.HOSTS.meta] | None = None
    after_at: AfterAt = "receiver"
    iterations: Annotated[int, bounds.ROUNDS.meta] = 1
    compute_s: Time = 0.0
    start_s: Time = 0.0
    stack: str | None = None

    def group_hosts(self, n_hosts: int) -> int:
        """Return N, the hosts of a group, in a fabric with `n_hosts`."""
        left = n_hosts - self.skip_hosts
        count = left if self.hosts is None else self.hosts
        fabric = f"only {max(left, 0)} hosts are left here, but skip_hosts = {self.skip_hosts} and hosts want more"
        require(2 <= count <= left, f"traffic: a collective needs two hosts or more; {fabric}")
        per_group, rest = divmod(count, self.groups)
        rule = f"{count} hosts make no {self.groups} groups of equal size, two hosts each or more"
        require(rest == 0 and per_group >= 2, f"traffic.groups = {self.groups}, but {rule}")
        if self.algorithm == "halving_doubling":
            rule = "halving_doubling needs a power of two: take ring_allreduce, or other hosts and groups"
            require(per_group & (per_group - 1) == 0, f"traffic: groups have {per_group} hosts, but {rule}")
        least = f"each of {per_group} hosts has a chunk of a byte or more"
        require(self.vector_bytes >= per_group, f"traffic.vector_bytes = {self.vector_bytes}, but {least}")
        window = f"traffic.window_flows = {self.window_flows}, but only alltoall has a window: leave it out"
        require(self.window_flows is None or self.algorithm == "alltoall", window)
        return per_group

    @property
    def shared_vectors(self) -> int:
        """Return by how many (N-1)/N of the vector each host sends: 2 for an all-reduce."""
        return 2 if self.algorithm in _BOTH_HALVES else 1

    def steps(self, n: int) -> int:
        """Return the number of messages that each of `n` hosts sends."""
        if self.algorithm == "halving_doubling":
            return 2 * (n.bit_length() - 1)
        return self.shared_vectors * (n - 1)

    def place(self, input_row: Ints, n: int) -> tuple[Ints, Ints]:
        """Return iteration and group of flows by their positions in the entry, for groups of `n` hosts."""
        operation = input_row // (self.steps(n) * n)
        return operation // self.groups, operation % self.groups

    def excerpt(self, part: Part) -> Self:
        """Refuse an excerpt: messages wait for those of hosts that are not there."""
        raise ParameterError(
            f"traffic: a collective among hosts of {part.of.count} {part.of.word}, but an excerpt has {part.kept}: "
            "run the whole"
        )

    def expected_flows(self, fabric: Fabric) -> float:
        """Return how many flows this entry makes, without making them."""
        n = self.group_hosts(fabric.n_hosts)
        return float(self.iterations * self.groups * n * self.steps(n))

    def draw(self, fabric: Fabric, seeds: EntrySeeds) -> DrawnFlows:
        """Return the flows of this entry: by iteration, group, step, and place of the sender in its group."""
        n = self.group_hosts(fabric.n_hosts)
        order = np.arange(fabric.n_hosts) if self.placement == "in-order" else seeds.hosts.permutation(fabric.n_hosts)
        members = order[self.skip_hosts :][: n * self.groups].reshape(self.groups, n)
        to, sizes = self._messages(n)
        free = min(self._at_once(n), len(to)) * n  # those that wait for no other of their operation come first
        operations, each = self.iterations * self.groups, to.size
        waits_for_none = np.arange(operations * each) % each < free
        first = np.arange(operations * each) < self.groups * each
        return DrawnFlows(
            src=np.tile(np.repeat(members[:, None, :], len(to), axis=1).ravel(), self.iterations),
            dst=np.tile(members[:, to].ravel(), self.iterations),
            flow_bytes=np.tile(sizes.ravel(), operations),
            start_s=np.where(waits_for_none, np.where(first, self.start_s, self.compute_s), 0.0),
            after=self._waits(to, free),
            after_sender=~waits_for_none & (self.after_at == "sender") & (self.algorithm == "alltoall"),
        )

    def _at_once(self, n: int) -> int:
        """Return how many steps a host begins without waiting for one of its own operation."""
        if self.algorithm != "alltoall":
            return 1
        return n if self.window_flows is None else self.window_flows

    def _messages(self, n: int) -> tuple[Ints, Ints]:
        """Return over steps and places in a group to which place a message goes, and its bytes."""
        chunks = self.vector_bytes // n + (np.arange(n) < self.vector_bytes % n)
        step, place = np.arange(self.steps(n))[:, None], np.arange(n)
        if self.algorithm == "alltoall":
            to = (place + 1 + step) % n
            return to, chunks[to]
        if self.algorithm == "halving_doubling":
            halvings = len(step) // 2
            away = 1 << np.where(step < halvings, halvings - 1 - step, step - halvings)
            to = place ^ away
            begin = np.where(step < halvings, to, place) & -away  # of the chunks that are sent
            until = np.concatenate([[0], np.cumsum(chunks)])
            return to, until[begin + away] - until[begin]
        return np.broadcast_to((place + 1) % n, (len(step), n)), chunks[(place - step) % n]

    def _waits(self, to: Ints, free: int) -> Ints:
        """Return which flow waits for which, by positions in the entry."""
        n, each, operations = to.shape[1], to.size, self.iterations * self.groups
        pairs = operations * (each - free) + (operations - self.groups) * free * len(to)
        check_fits(pairs * _BYTES_PER_PAIR, f"what flows wait for, {pairs} pairs,", would_fit="fewer hosts would fit")
        rows = np.arange(each).reshape(to.shape)
        into = np.take_along_axis(rows, np.argsort(to, axis=1), axis=1)  # the message that a host receives, by step
        before = rows[: -free // n] if self.algorithm == "alltoall" else into[:-1]
        within = np.stack([rows.ravel()[free:], before.ravel()], axis=1)
        all_before = np.tile(into.T, (free // n, 1)).reshape(-1)  # of free flows, step by step and host by host
        waiting = np.repeat(np.arange(free), len(to)) + self.groups * each  # of the next iteration
        between = np.stack([waiting, all_before], axis=1)
        start = np.arange(operations)[:, None, None] * each
        waits = (within + start, between + start[: operations - self.groups])
        return np.concatenate([part.reshape(-1, 2) for part in waits])
