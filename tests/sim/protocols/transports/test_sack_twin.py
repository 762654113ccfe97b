"""A twin of the SACK sender, written from RFC 6675 and 6937 with sets, sends the same for the same acknowledgements."""

from collections import deque
from math import ceil

from hypothesis import given
from hypothesis import strategies as st
from support.scripted import MSS, Sender, runs_above

THRESHOLD = 3


class Rfc6675:
    """Sections 4 and 5 in whole segments; RFC 5681 outside recovery, no limited transmit, no timer."""

    def __init__(self, *, window, receive_window, n_segments, rescues, reduction="at_once"):
        self.una = self.next = 0  # HighACK + 1, HighData + 1
        self.sacked, self.dup_acks = set(), 0
        self.recovery_point = self.high_rxt = self.rescue_rxt = -1
        self.in_recovery, self.rescues = False, rescues
        self.cwnd_bytes, self.ssthresh_bytes, self.n_segments = window * MSS, 2**40, n_segments
        self.receive_window = receive_window
        self.reduction, self.delivered, self.out = reduction, 0, 0

    def is_lost(self, segment):
        return sum(other > segment for other in self.sacked) >= THRESHOLD

    def pipe(self):
        holes = [segment for segment in range(self.una, self.next) if segment not in self.sacked]
        return sum((not self.is_lost(segment)) + (segment <= self.high_rxt) for segment in holes)

    def has_new(self):
        """Return whether there is a new segment that the receiver has room for."""
        return self.next < min(self.n_segments, self.una + self.receive_window)

    def next_seg(self):
        """Return the segment of rules 1-3, or None."""
        holes = [segment for segment in range(self.una, max(self.sacked, default=0)) if segment not in self.sacked]
        left = [segment for segment in holes if segment > self.high_rxt]
        if left and self.is_lost(left[0]):
            return left[0]
        if self.has_new():
            return self.next
        return left[0] if left else None

    def rescue(self):
        """Return the segment of rule 4, at most once in a recovery, or None."""
        unsacked = [segment for segment in range(self.una, self.next) if segment not in self.sacked]
        if not self.rescues or not unsacked or self.una - 1 <= self.rescue_rxt:
            return None
        self.rescue_rxt = self.recovery_point
        return unsacked[-1]

    def send(self):
        """Return what leaves now: by the window, or by step C."""
        sent = []
        while not self.in_recovery and self.has_new() and self._room(self.next - self.una):
            sent.append(self.next)
            self.next += 1
        while self.in_recovery and self._room(self.pipe()):
            segment = self.next_seg()
            if segment is None:
                last = self.rescue()
                self.out += 0 if last is None else MSS
                return sent if last is None else [*sent, last]
            sent.append(segment)
            self.out += MSS
            if segment == self.next:
                self.next += 1
            else:
                self.high_rxt = segment
        return sent

    def ack(self, ack, blocks):
        fresh = {segment for block in blocks for segment in range(*block)} - self.sacked
        new = (len(fresh) + len(set(range(self.una, ack)) - self.sacked)) * MSS
        self.delivered += new
        self.sacked |= fresh
        if ack > self.una:
            self.una, self.dup_acks = ack, 0
            self.sacked = {segment for segment in self.sacked if segment >= ack}
            if not self.in_recovery:
                slow_start = self.cwnd_bytes < self.ssthresh_bytes
                self.cwnd_bytes += MSS if slow_start else max(1, MSS * MSS // self.cwnd_bytes)
                self.cwnd_bytes = min(self.cwnd_bytes, self.receive_window * MSS)
            if self.in_recovery and ack > self.recovery_point:
                self.in_recovery, self.cwnd_bytes = False, self.ssthresh_bytes
        if fresh and not self.in_recovery:
            self.dup_acks += 1
            if self.dup_acks >= THRESHOLD or self.is_lost(self.una):
                return [self._enter(new), *self.send()]
        if self.in_recovery and self.reduction != "at_once":
            self._reduce(new)
        return self.send()

    def _enter(self, new):
        """Step 4."""
        self.in_recovery, self.recovery_point = True, self.next - 1
        self.cwnd_bytes = self.ssthresh_bytes = max((self.next - self.una) * MSS // 2, 2 * MSS)
        self.high_rxt = self.rescue_rxt = self.una - 1
        self.recover_fs, self.delivered, self.out = (self.next - self.una) * MSS, new, 0
        if self.reduction != "at_once":
            self._reduce(new)
        self.high_rxt = self.rescue_rxt = self.una
        self.out += MSS
        return self.una

    def _reduce(self, new):
        """RFC 6937, section 3."""
        pipe = self.pipe() * MSS
        if pipe > self.ssthresh_bytes:
            send = ceil(self.delivered * self.ssthresh_bytes / self.recover_fs) - self.out
        elif self.reduction == "proportional":
            send = min(self.ssthresh_bytes - pipe, max(self.delivered - self.out, new) + MSS)
        else:
            send = min(self.ssthresh_bytes - pipe, self.delivered - self.out)
        self.cwnd_bytes = pipe + max(send, 0 if self.out else MSS)

    def _room(self, packets):
        return (packets + 1) * MSS <= self.cwnd_bytes


@given(
    window=st.integers(2, 16),
    receive_window=st.integers(2, 20),
    n_segments=st.integers(2, 60),
    lost=st.sets(st.integers(0, 59), max_size=12),
    lost_again=st.sets(st.integers(0, 59), max_size=3),
    mute=st.sets(st.integers(0, 80), max_size=10),
    rescue=st.booleans(),
    reduction=st.sampled_from(["at_once", "proportional", "proportional_conservative"]),
)
def test_the_twin_sends_the_same(window, receive_window, n_segments, lost, lost_again, mute, rescue, reduction):
    """A path in order that loses the first copy of some segments, the second of a few, and some acknowledgements."""
    options = {"initial_window_packets": window, "limited_transmit": False, "rescue": rescue}
    options["reduction"] = reduction
    sender = Sender("sack", n_segments=n_segments, max_window_bytes=receive_window * MSS, **options)
    twin = Rfc6675(
        window=window, receive_window=receive_window, n_segments=n_segments, rescues=rescue, reduction=reduction
    )
    path = deque(twin.send())
    assert [packet.segment for packet in sender.packets] == list(path)
    drops, came, number = {segment: 1 + (segment in lost_again) for segment in lost}, set(), 0
    while path:
        segment = path.popleft()
        if drops.get(segment, 0):
            drops[segment] -= 1
            continue
        came.add(segment)
        ack = next(candidate for candidate in range(n_segments + 1) if candidate not in came)
        blocks = sorted(runs_above(came, ack), key=lambda run: segment not in range(*run))[:3]
        number += 1
        if number in mute:
            continue
        expected = twin.ack(ack, blocks)
        assert sender.ack(ack, blocks=blocks) == expected
        assert sender.sub.cwnd_bytes == twin.cwnd_bytes
        path.extend(expected)
