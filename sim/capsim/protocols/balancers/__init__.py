"""Balancers: which of the equal-cost ports a switch sends a packet to."""
