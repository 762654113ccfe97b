"""Experiments: sweeps of measurements, kept results, their statistics, agreement with a model. Knows no measurement."""
