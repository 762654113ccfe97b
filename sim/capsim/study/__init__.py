"""Studies: runs at the points of axes, what is claimed about them, and how that is decided."""
