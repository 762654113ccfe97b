"""Measurements: functions that simulate one setting and return rows, ready to be tasks of a sweep.

Each takes plain numbers, strings and a seed, as JSON holds them, and returns a mapping (one row) or a DataFrame whose
columns name their units. Tests, figures and notebooks name them in :class:`~capsmodel.experiments.sweep.Task`.
"""
