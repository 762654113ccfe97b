"""Intervals of means and quantiles, steady state, place of a minimum."""
