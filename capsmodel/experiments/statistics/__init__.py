"""Intervals of means and quantiles, sequential decisions, designs, steady state, place of a minimum."""
