"""NICs: in which order the port of a host sends what waits there."""
