"""The compiled engine, part 7: how long the loop runs before it returns to Python."""

import time

CHUNK_S = 0.25  # between chunks Python sees Ctrl-C


class Chunk:
    """How many events the loop takes before it returns to Python: as many as last `CHUNK_S`, whatever one event costs.

    Chunks decide when a run can be interrupted and tells its progress, never what it does.
    """

    def __init__(self) -> None:
        self.events, self.begun_s = 1000, 0.0

    def begin(self) -> int:
        """Return the number of events of the chunk that begins."""
        self.begun_s = time.perf_counter()
        return self.events

    def adapt(self) -> None:
        """Set the number of events of the next chunk by how long this one took; at most twice as many."""
        took_s = time.perf_counter() - self.begun_s
        self.events = max(1, int(self.events * min(2.0, CHUNK_S / max(took_s, 1e-9))))
