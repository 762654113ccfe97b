"""Marking: what addresses and port numbers, as a hash, a packet carries."""
