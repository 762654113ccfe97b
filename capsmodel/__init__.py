"""Closed forms, packet simulator and codec for multipath data-centre transport."""

__version__ = "0.1.0"
