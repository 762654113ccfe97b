"""Intervals of means and quantiles, sequential decisions, designs, place of a minimum."""
