r"""What happens to the packets of a coding unit that is spread over unequal paths: computed, and drawn.

=============================  ==========  ====================================  ====  ==================
Quantity                       Symbol      Name                                  Unit  Equation
=============================  ==========  ====================================  ====  ==================
losses of packets over paths   –           :class:`PathLosses`                   –     beyond the papers
more than r of n are lost      P(L_n > r)  :meth:`PathLosses.failure_table`      1     caps Eq. 2, unequal
which packets arrive           –           :meth:`PathLosses.draw`               –     the same, drawn
=============================  ==========  ====================================  ====  ==================

A unit of n = k + r packets whose code decodes from any k fails when more than r are lost *or late*: blocked, in the
word of the papers (``docs/glossary.md``). CAPS takes packets to be independent and equally likely to be blocked. Here

- each of m paths has its own loss, and a packet takes a path *at random* or the paths take *turns*. At random, packets
  are alike whatever the paths: each is lost with the mean loss, and caps Eq. 2 is exact. In turn the number of packets
  on each path is fixed, which is better, and depends on the path of the first packet;
- losses come in *runs* (Gilbert's chain): all packets of a run are lost, none between runs;
- a path may be *down* for the whole unit;
- a packet may come too *late*. Packets of a unit pass the queue of a path within microseconds, so that they share its
  delay; that is the default. A delay drawn anew for each packet is the other extreme, and the optimistic one.

Paths are independent of each other. What the numbers rest on is in :mod:`capsmodel.coding.paths._loss_table`.
"""

from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cached_property, partial
from math import inf, log1p
from typing import Any, Literal, NamedTuple, get_args

import numpy as np
import numpy.typing as npt
from numpy.typing import ArrayLike

from capsmodel.checks import (
    FloatArray,
    IntArray,
    Rng,
    choice,
    generator,
    non_negative,
    one_number,
    positive,
    probability,
    require,
    whole,
)
from capsmodel.coding.paths._loss_table import (
    MOST_AT_RANDOM,
    at_random,
    in_turn,
    independent,
    path_counts,
    run,
    some_down,
)
from capsmodel.coding.paths.delays import Delay, check_delay, time_left_s

Spread = Literal["random", "in-turn"]
FirstPath = Literal["any", "worst"] | int
MOST_PATHS = 2**16
MOST_REPAIR = 2**15
"""Most repair packets of a unit that a table has; codes of two-byte symbols end at 2^16 packets."""
MOST_PACKETS = 2**17
_MOST_CELLS = 2**24  # 128 MB
_MOST_STEPS = 2**33  # of a few ns each: half a minute
_STEPS_OF_START, _STEPS_OF_PATH, _STEPS_OF_TURN = 2.0**14, 2.0**15, 2.0**6  # what Python takes besides the tables
_OPTIONAL = ("burst_packets", "burst_s")
_TOLERANCE = 1e-12  # of a loss burst typed in decimal, 1/(1 - loss)
_MOST_TURNS = 2**16  # of weighted paths, before they repeat


class Path(NamedTuple):
    """One of the paths: its loss, mean loss burst in packets or s, probability to be down, delay."""

    loss: float
    burst_packets: float | None
    burst_s: float | None
    down: float
    delay: Delay | None


@dataclass(frozen=True, eq=False)
class PathLosses:
    r"""Losses of the packets of a unit over m unequal paths.

    Parameters
    ----------
    blocking_prob : array_like
        Probability that a packet is lost on each path, in [0, 1]; m numbers, or one for a single path.
    spread : {"random", "in-turn"}
        Each packet draws its path, or the paths take turns.
    weight : array_like
        How often each path is taken, above 0. In turn: whole numbers, and a path of weight 2 has two turns, spread as
        evenly as smooth weighted round robin does.
    burst_packets : array_like, optional
        Mean length b of a loss burst on each path, in packets of that path, at least 1/(1 - loss), its length when
        losses are independent; they are when not given.
    burst_s : array_like, optional
        The same as a time, s, in place of `burst_packets`; paths in turn only, and needs `packet_s`.
    down_prob : array_like
        Probability that a path loses all packets of a unit, in [0, 1], besides `blocking_prob`.
    down_paths : int
        Exactly so many of the paths, any of them, lose all packets of a unit; the paths must be equal.
    delay : Delay or sequence of Delay, optional
        Delay of each path, s; none when not given. Only `deadline_s` makes it count.
    delay_per : {"path", "packet"}
        Whether the packets of a unit on a path share one delay, or each draws its own.
    first_path : "any", "worst" or int
        The path of the first packet in turn: any, equally likely, which successive units see whose n has no factor in
        common with m; the one with which a unit fails most often; or a path from 0 on.
    interleave : int
        Packets of a unit on a path have interleave - 1 packets of other units between them, at least 1.
    deadline_s : float, optional
        Time from the first packet of a unit to the moment when the last useful one must be there, s.
    packet_s : float, optional
        Time to send a packet, s; packet i of the unit (from 0) has left after (i + 1) packet_s.
    codec_s : float
        Time to decode, s, taken off the deadline.

    Raises
    ------
    ParameterError
        If an argument leaves its range or does not go with another.

    Notes
    -----
    *Runs.* A path is in a run (state bad, all lost) or not (good, none lost). With mean loss pi and mean run b a run
    ends after a packet with probability 1/b and begins with pi/((1 - pi) b). Packets d steps apart see the same chain
    with :math:`\lambda^d`, :math:`\lambda = 1 - \frac{1}{b(1-\pi)}`: good turns bad with :math:`\pi(1-\lambda^d)`, bad
    turns good with :math:`(1-\pi)(1-\lambda^d)`. So interleaving is d = `interleave`; a run given as a time has
    :math:`\lambda^d = \exp(-\Delta/(t_b(1-\pi)))` for packets that leave :math:`\Delta` apart; and independent
    losses are b = 1/(1 - pi). An interleaver whose depth is far below b changes little, since there
    :math:`\lambda^d` is still near 1.

    *Monotony.* For a given first path P(unit fails) falls with r and rises with k, whatever the losses, since one
    packet more brings at most one arrival; so for their mean and for the worst.

    References
    ----------
    Beyond the papers; caps Eq. 1-2 with unequal paths. The chain is Gilbert's, Bell System Technical Journal 39 (1960);
    the recursion for independent packets is the Poisson-binomial law's, surveyed by Hong, Computational Statistics and
    Data Analysis 59 (2013).

    Examples
    --------
    Two of three packets arrive on paths that take turns: 1 - (0.9 * 0.8 + (0.1 * 0.8 + 0.9 * 0.2) * 0.5).

    >>> losses = PathLosses([0.1, 0.2, 0.5], spread="in-turn")
    >>> round(float(losses.failure_table(3, 1)[3, 1]), 12)
    0.15
    """

    blocking_prob: ArrayLike
    spread: Spread = "random"
    weight: ArrayLike = 1.0
    burst_packets: ArrayLike | None = None
    burst_s: ArrayLike | None = None
    down_prob: ArrayLike = 0.0
    down_paths: int = 0
    delay: Delay | Sequence[Delay] | None = None
    delay_per: Literal["path", "packet"] = "path"
    first_path: FirstPath = "any"
    interleave: int = 1
    deadline_s: float | None = None
    packet_s: float | None = None
    codec_s: float = 0.0

    def __post_init__(self) -> None:
        choice("spread", self.spread, get_args(Spread))
        choice("delay_per", self.delay_per, ("path", "packet"))
        one_number(whole, "interleave", self.interleave, minimum=1)
        self._check_weights()
        self._check_bursts()
        self._check_times()
        self._check_down_paths()
        self._check_first()

    @cached_property
    def paths(self) -> tuple[Path, ...]:
        """What is known of each path."""
        loss = np.atleast_1d(probability("blocking_prob", self.blocking_prob, one=True))
        require(loss.ndim == 1 and loss.size > 0, f"blocking_prob of shape {loss.shape}: give one number for each path")
        require(loss.size <= MOST_PATHS, f"{loss.size} paths, but at most {MOST_PATHS} are taken")
        columns = (
            loss.tolist(),
            _each("burst_packets", self.burst_packets, positive, loss.size),
            _each("burst_s", self.burst_s, positive, loss.size),
            _each("down_prob", self.down_prob, partial(probability, one=True), loss.size),
            self._delays(loss.size),
        )
        return tuple(Path(*path) for path in zip(*columns, strict=True))

    @property
    def n_paths(self) -> int:
        """Paths m."""
        return len(self.paths)

    @cached_property
    def weights(self) -> FloatArray:
        """Share of all packets on each path."""
        given = np.array(_each("weight", self.weight, positive, self.n_paths))
        given /= given.max()  # a sum of large ones is beyond float64
        return np.asarray(given / given.sum())

    @cached_property
    def turns(self) -> IntArray:
        """The paths in the order of their turns, until it repeats: smooth weighted round robin."""
        given = np.array(_each("weight", self.weight, positive, self.n_paths)).astype(np.int64)
        given = given // np.gcd.reduce(given)
        if np.all(given == 1):
            return np.arange(self.n_paths)
        credit, order = np.zeros(self.n_paths, np.int64), np.empty(int(given.sum()), np.int64)
        for turn in range(order.size):
            credit += given
            order[turn] = credit.argmax()
            credit[order[turn]] -= given.sum()
        return order

    @cached_property
    def mean_loss(self) -> float:
        """Share of all packets that are lost in the long run; late ones do not count."""
        lost = np.array([path.loss + (1 - path.loss) * path.down for path in self.paths])
        return float(self._besides_down(self.weights @ lost))

    def _besides_down(self, lost: Any) -> Any:
        """Return the probability that a packet is lost by itself or with one of `down_paths`."""
        return lost + (1 - lost) * (self.down_paths / self.n_paths)

    @property
    def has_runs(self) -> bool:
        """Whether losses come in runs."""
        return self.burst_packets is not None or self.burst_s is not None

    @cached_property
    def equal_loss(self) -> float | None:
        """The loss of every packet where all are lost alike and independently, so that caps Eq. 2 holds; else None."""
        equal = len(set(self.paths)) == 1
        alike = self.deadline_s is None and (self.spread == "random" or equal)
        if not (alike and self.packets_are_independent) or self.mean_loss == 1:
            return None
        return float(self._besides_down(self.paths[0].loss)) if equal else self.mean_loss

    @cached_property
    def packets_are_independent(self) -> bool:
        """Whether the packets of a unit are lost independently, once their paths are known."""
        shared = self.deadline_s is not None and self.delay_per == "path" and any(path.delay for path in self.paths)
        together = self.down_paths > 0 and self.spread == "in-turn"
        return not (self.has_runs or shared or together or any(path.down for path in self.paths))

    def _delays(self, count: int) -> list[Delay | None]:
        given = self.delay if isinstance(self.delay, Sequence) else [self.delay]
        require(len(given) in (1, count), f"delay has {len(given)} entries, but there are {count} paths")
        for delay in given:
            if delay is not None:
                check_delay("delay", delay)
        return [*given] * (count // len(given))

    def _check_weights(self) -> None:
        weights = np.array(_each("weight", self.weight, positive, self.n_paths))
        if self.spread == "in-turn":
            whole("weight", weights, minimum=1)
            turns = weights.sum() / np.gcd.reduce(weights.astype(np.int64))
            message = f"the weights repeat after {turns:g} turns, and {_MOST_TURNS} fit: round them"
            require(turns <= _MOST_TURNS, message)

    def _check_bursts(self) -> None:
        require(self.burst_packets is None or self.burst_s is None, "burst_packets and burst_s exclude each other")
        for number, path in enumerate(self.paths):
            require(not (self.has_runs and path.loss == 1), f"path {number} loses all packets: it has no loss bursts")
            least = 1 / (1 - path.loss) if path.loss < 1 else inf
            require(
                path.burst_packets is None or path.burst_packets >= least * (1 - _TOLERANCE),
                f"burst_packets = {path.burst_packets or 0:g} on path {number}, but independent losses of "
                f"{path.loss:g} come in runs of {least:.6g} on average: shorter runs are not computed",
            )
        if self.burst_s is not None:
            require(self.spread == "in-turn", "burst_s is a time: paths must take turns; give burst_packets otherwise")
            require(self.packet_s is not None, "burst_s is a time: give packet_s, the time to send a packet")
        require(self.interleave == 1 or self.has_runs, "interleave changes nothing without runs: give burst_packets")

    def _check_times(self) -> None:
        for name in ("deadline_s", "packet_s"):
            if getattr(self, name) is not None:
                one_number(positive, name, getattr(self, name))
        one_number(non_negative, "codec_s", self.codec_s)
        if self.deadline_s is None:
            return
        require(self.packet_s is not None, "a deadline needs packet_s, the time to send a packet")
        require(
            bool(np.any(self.late_probs(1) < 1)),
            f"deadline_s = {self.deadline_s:g}, but sending one packet, the least delay of a path and decoding take "
            "longer: give a later one",
        )
        if self.spread == "random":
            shared = self.delay_per == "path" and any(path.delay for path in self.paths)
            rule = "a deadline on random paths"
            require(not shared, f"{rule} that share a delay is not computed: give delay_per = 'packet', or in-turn")
            together = self.has_runs or any(path.down for path in self.paths)
            require(not together, f"{rule} with loss bursts or down_prob is not computed: give spread = 'in-turn'")

    def _check_down_paths(self) -> None:
        down = one_number(whole, "down_paths", self.down_paths)
        require(down <= self.n_paths, f"down_paths = {down:g}, but there are {self.n_paths} paths")
        equal = len(set(self.paths)) == 1 and np.ptp(self.weights) == 0
        plain = equal and not self.has_runs and not self.paths[0].down and self.deadline_s is None
        require(not down or plain, "down_paths takes equal paths with a loss and nothing else: use down_prob")

    def _check_first(self) -> None:
        if isinstance(self.first_path, str):
            choice("first_path", self.first_path, ("any", "worst"))
        else:
            first = one_number(whole, "first_path", self.first_path)
            require(first < self.n_paths, f"first_path = {first:g}, but the paths are 0 to {self.n_paths - 1}")
        require(self.spread == "in-turn" or self.first_path == "any", "first_path needs spread = 'in-turn'")

    def failure_table(self, most_packets: int, most_repair: int) -> FloatArray:
        """Return the probability that more than r of the n packets of a unit are lost or late, for all n and r.

        Parameters
        ----------
        most_packets : int
            Largest n, packets, at least 1.
        most_repair : int
            Largest r, packets, 0 to 2^15.

        Returns
        -------
        ndarray
            Probability in [0, 1], shape (most_packets + 1, most_repair + 1); relative error below 1e-12, also at 1e-60.

        Raises
        ------
        ParameterError
            If an argument leaves its range, the table is too much work, or loss bursts meet random paths in units
            of more than 256 packets.
        """
        return self.over_first_paths(most_packets, most_repair, lambda table: table)

    def over_first_paths(
        self, most_packets: int, most_repair: int, of: Callable[[FloatArray], FloatArray]
    ) -> FloatArray:
        """Return what `of` makes of the table of one first path: its mean over them, or its largest for the worst."""
        mean, worst = self.mean_and_worst(most_packets, most_repair, of=of)
        return worst if self.first_path == "worst" else mean

    def mean_and_worst(
        self,
        most_packets: int,
        most_repair: int,
        *,
        least_packets: int = 1,
        of: Callable[[FloatArray], FloatArray] = np.asarray,
    ) -> tuple[FloatArray, FloatArray]:
        """Return the mean over first paths of what `of` makes of a table of one, and the largest of each entry.

        Such a table is that of :meth:`failure_table`; its rows below `least_packets` may be left at 0.
        """
        n = int(one_number(whole, "most_packets", most_packets, minimum=1))
        r = int(one_number(whole, "most_repair", most_repair))
        require(r <= MOST_REPAIR, f"{r} repair packets of a unit, but at most {MOST_REPAIR} are computed")
        self._require_little_work(n, r, 1)
        starts = self.starts(n)
        self._require_little_work(n, r, len(starts))
        if self.spread == "random" and not self.packets_are_independent:
            value = of(self._random_table(n, r))
            return value, value
        late, mean, worst = self.late_probs(n), np.zeros(()), np.zeros(())
        for start, share in starts:
            value = of(self._table_from(start, late, r, least_packets, tables=len(starts)))
            mean, worst = mean + share * value, np.maximum(worst, value)
        return mean, worst

    def _require_little_work(self, n: int, r: int, starts: int) -> None:
        """Refuse tables of more than about half a minute; the work of a start is that of its table and of its paths."""
        cells, paths = float(n + 1) * (r + 1), min(n, self.n_paths)
        chains = not (self.packets_are_independent or self.down_paths)
        steps = cells * (1 if self.packets_are_independent else r + 1)
        steps = starts * (steps + _STEPS_OF_START + chains * paths * _STEPS_OF_PATH)
        if self.spread == "in-turn":
            steps += float(n) * len(self.turns) * _STEPS_OF_TURN
        size = f"units of up to {n} packets, {r} of them for repair"
        remedy = "lower k, or ask for a larger failure probability"
        require(n <= MOST_PACKETS and cells <= _MOST_CELLS, f"{size}, are too large a table: {remedy}")
        remedy += ", or give one first path" if starts > 1 else ""
        minutes = steps / _MOST_STEPS / 2
        require(
            steps <= _MOST_STEPS,
            f"{size}, take about {minutes:.2g} minutes over these {self.n_paths} paths, too long: {remedy}",
        )

    def starts(self, n: int) -> list[tuple[int, float]]:
        """Return the first turns that differ, each with its share: equal paths look alike."""
        if self.spread == "random":
            return [(0, 1.0)]
        if not isinstance(self.first_path, str):
            return [(int(np.flatnonzero(self.turns == self.first_path)[0]), 1.0)]
        number = {path: kind for kind, path in enumerate(dict.fromkeys(self.paths))}
        weighted = len(self.turns) > self.n_paths
        if len(number) == 1 and not weighted:
            return [(0, 1.0)]
        kinds = np.array([number[path] for path in self.paths], np.uint16)
        seen: dict[bytes, int] = {}
        counts: Counter[int] = Counter()
        for start in range(len(self.turns)):
            order = self._paths_from(start, n)
            look = kinds[order].tobytes()
            if weighted:
                # Which path comes again matters besides its kind: in loss bursts and while it is down.
                _, first, path = np.unique(order, return_index=True, return_inverse=True)
                look += first[path].tobytes()
            counts[seen.setdefault(look, start)] += 1
        return [(start, count / len(self.turns)) for start, count in counts.items()]

    def _paths_from(self, start: int, n: int) -> IntArray:
        """Return the paths of n packets in turn, the first at turn `start`."""
        return np.asarray(self.turns[(start + np.arange(n)) % len(self.turns)])

    def _table_from(self, start: int, late: FloatArray, r: int, least: int, *, tables: int) -> FloatArray:
        """Return the table of units whose first packet has the turn `start`, one of so many tables."""
        n = late.shape[1]
        if self.down_paths and self.spread == "in-turn":
            return self._down_table(n, r)
        table = np.zeros((n + 1, r + 1))
        if self.packets_are_independent:
            return run(independent, self.packet_losses(start, late), table, operations=3 * n * tables)
        order = self._paths_from(start, n)
        paths, turns = np.unique(order, return_inverse=True)
        counts = self._counts_in_turn(paths, turns, late[order, np.arange(n)], r)
        operations = 12 * len(paths).bit_length() * (n - least) * tables
        return run(in_turn, counts, turns, least, table, operations=operations)

    def late_probs(self, n: int) -> FloatArray:
        """Return the probability that packet i of n on each path is late, shape (m, n)."""
        if self.deadline_s is None or self.packet_s is None:
            return np.broadcast_to(0.0, (self.n_paths, n))
        left_s = self._left_s(n)
        late = {
            delay: np.where(left_s < 0, 1.0, 0.0 if delay is None else delay.survival(np.maximum(left_s, 0.0)))
            for delay in {path.delay for path in self.paths}
        }
        return np.array([late[path.delay] for path in self.paths])

    def _left_s(self, n: int) -> FloatArray:
        """Return the time that is left when each of n packets was sent, s."""
        sent_s = (self.packet_s or 0.0) * np.arange(1.0, n + 1)
        return time_left_s(self.deadline_s or 0.0, self.codec_s, sent_s)

    def packet_losses(self, start: int, late: FloatArray) -> FloatArray:
        """Return the probability that packet i is lost, or late by :meth:`late_probs`."""
        if self.spread == "random":
            loss = self._loss[:, None]
            return np.asarray(self._besides_down(self.weights @ (loss + (1 - loss) * late)))
        order = self._paths_from(start, late.shape[1])
        loss = self._loss[order]
        return np.asarray(loss + (1 - loss) * late[order, np.arange(order.size)])

    def _down_table(self, n: int, r: int) -> FloatArray:
        """Return the table of equal paths in turn of which exactly `down_paths` are down."""
        alive = run(independent, np.full(n, self.paths[0].loss), np.empty((n + 1, r + 1)), operations=3 * n)
        return some_down(alive, self.n_paths, self.down_paths)

    def _counts_in_turn(self, paths: IntArray, turns: IntArray, late: FloatArray, r: int) -> FloatArray:
        """Return the counts of lost packets of each path, shape (paths, packets of a path + 1, r + 2)."""
        most, kept = int(np.bincount(turns).max()), dict[Any, FloatArray]()
        counts = np.zeros((len(paths), most + 1, r + 2))
        for leaf, number in enumerate(paths.tolist()):
            at = np.flatnonzero(turns == leaf)
            alike = (self.paths[number], at.tobytes() if self.packet_s is not None else at.size)
            if alike not in kept:
                kept[alike] = self._counts(number, at, late[at], r)
            counts[leaf, : at.size + 1] = kept[alike]
        return counts

    def _counts(self, number: int, at: IntArray, late: FloatArray, r: int) -> FloatArray:
        """Return P(l of the first c packets are lost) of a path whose packets are the `at` of the unit."""
        path = self.paths[number]
        none, every = np.zeros(at.size), np.ones(at.size)
        log_same, outside = np.full(at.size, -inf), none + path.loss
        if self.has_runs:
            log_same, outside = self._log_memory(path, np.diff(at, prepend=0)), none
            log_same[:1] = -inf  # the first packet finds the chain in its stationary state
        same, other = np.exp(log_same), -np.expm1(log_same)
        if self.delay_per == "packet":
            outside, late = outside + (1 - outside) * late, none
        in_time = np.concatenate([[1.0], 1 - late])
        # Of packets in time so far, those that the next delay is too long for; certain where none is left.
        going = np.divide(np.diff(late, prepend=0.0), in_time[:-1], out=np.ones(at.size), where=in_time[:-1] > 0)
        going[:1] = path.down + (1 - path.down) * going[:1]
        enter, leave = path.loss * other * self.has_runs, (1 - path.loss) * other
        stay = same + path.loss * other
        return path_counts(enter, stay, leave, going, outside, every, r)

    def _log_memory(self, path: Path, gaps: IntArray) -> FloatArray:
        """Return log lambda^d between packets of a path that are `gaps` packets of the unit apart."""
        if path.burst_s is not None and self.packet_s is not None:
            return np.asarray(-self.interleave * self.packet_s * gaps / (path.burst_s * (1 - path.loss)))
        runs = (path.burst_packets or inf) * (1 - path.loss)
        return np.full(gaps.shape, self.interleave * log1p(-1 / runs) if runs > 1 + _TOLERANCE else -inf)

    def _random_table(self, n: int, r: int) -> FloatArray:
        """Return the table of packets that each draw their path, with loss bursts or paths that are down."""
        require(
            n <= MOST_AT_RANDOM,
            f"units of {n} packets: with loss bursts or paths that are down, random paths are computed for at most "
            f"{MOST_AT_RANDOM}: let the paths take turns, lower k, or simulate",
        )
        kinds = Counter(zip(self.paths, self.weights.tolist(), strict=True))
        late, at = self.late_probs(n), np.arange(n)
        counts = np.array([self._counts(self.paths.index(path), at, late[0], r) for path, _ in kinds])
        weights, copies = np.array([weight for _, weight in kinds]), np.array(list(kinds.values()))
        return at_random(counts, copies, weights)

    def draw(self, n: int, receptions: int, rng: Rng = None) -> npt.NDArray[np.bool_]:
        """Return which packets of a unit arrive in time, shape (receptions, n), in independent receptions.

        Parameters
        ----------
        n : int
            Packets of the unit, at least 1.
        receptions : int
            How often the unit is received, at least 1.
        rng : numpy.random.Generator or int, optional
            Generator or its seed.

        Returns
        -------
        ndarray of bool
            True where a packet arrives; the law of what is missing is that of :meth:`failure_table`.

        Raises
        ------
        ParameterError
            If an argument leaves its range, or the first path is to be the worst, which depends on r.
        """
        n = int(one_number(whole, "n", n, minimum=1))
        receptions = int(one_number(whole, "receptions", receptions, minimum=1))
        source = generator(rng)
        path = self._drawn_paths(n, receptions, source)
        lost = self._drawn_runs(path, source) if self.has_runs else source.random(path.shape) < self._loss[path]
        here = np.arange(receptions)[:, None]
        if self.down_paths:
            order = source.permuted(np.tile(np.arange(self.n_paths), (receptions, 1)), axis=1)
            lost |= (order < self.down_paths)[here, path]
        down = np.array([each.down for each in self.paths])
        if down.any():
            lost |= (source.random((receptions, self.n_paths)) < down)[here, path]
        return ~(lost | self._drawn_late(path, source))

    @cached_property
    def _loss(self) -> FloatArray:
        return np.array([path.loss for path in self.paths])

    def _drawn_paths(self, n: int, receptions: int, source: np.random.Generator) -> IntArray:
        if self.n_paths == 1:
            return np.zeros((receptions, n), np.int64)
        if self.spread == "random":
            return source.choice(self.n_paths, size=(receptions, n), p=self.weights)
        require(self.first_path != "worst", "which first path is the worst depends on r: draw with any, or give one")
        if isinstance(self.first_path, str):
            start = source.integers(len(self.turns), size=receptions)
        else:
            start = np.full(receptions, np.flatnonzero(self.turns == self.first_path)[0])
        return np.asarray(self.turns[(start[:, None] + np.arange(n)) % len(self.turns)])

    def _drawn_runs(self, path: IntArray, source: np.random.Generator) -> npt.NDArray[np.bool_]:
        """Return which packets are lost, packet by packet: the chain of its path goes on since its last one."""
        receptions, n = path.shape
        rows, lost = np.arange(receptions), np.zeros(path.shape, np.bool_)
        last = np.full((receptions, self.n_paths), -1)  # the packet before on each path
        for i in range(n):
            here = path[:, i]
            before, prob = last[rows, here], np.empty(receptions)
            for number in np.unique(here).tolist():
                on_it = here == number
                log_same = self._log_memory(self.paths[number], i - before[on_it])
                other = -np.expm1(np.where(before[on_it] < 0, -inf, log_same))
                was_lost = lost[on_it, before[on_it]] & (before[on_it] >= 0)
                loss = self.paths[number].loss
                prob[on_it] = np.where(was_lost, 1 - (1 - loss) * other, loss * other)
            lost[:, i] = source.random(receptions) < prob
            last[rows, here] = i
        return lost

    def _drawn_late(self, path: IntArray, source: np.random.Generator) -> npt.NDArray[np.bool_]:
        """Return which packets are late."""
        if self.deadline_s is None or self.packet_s is None:
            return np.zeros(path.shape, np.bool_)
        receptions, n = path.shape
        left_s = self._left_s(n)
        late = np.broadcast_to(left_s < 0, path.shape).copy()
        for number, delay in enumerate(each.delay for each in self.paths):
            if delay is not None:
                columns = 1 if self.delay_per == "path" else n
                drawn_s = delay.sample(receptions * columns, rng=source).reshape(receptions, columns)
                late |= (path == number) & (drawn_s > left_s)
        return late


def _each(name: str, values: Any, check: Callable[..., FloatArray], count: int) -> list[Any]:
    """Return an entry for each of `count` paths of what passes `check`; None for each where nothing was given."""
    if values is None and name in _OPTIONAL:
        return [None] * count
    array = np.atleast_1d(check(name, values))
    require(array.shape in ((1,), (count,)), f"{name} has shape {array.shape}, but there are {count} paths")
    return list(np.broadcast_to(array, count).tolist())


def as_losses(losses: Any) -> PathLosses:
    """Return losses as they were given; a number is the loss of equal, independent packets."""
    if isinstance(losses, PathLosses):
        return losses
    return PathLosses(one_number(probability, "losses", losses))
