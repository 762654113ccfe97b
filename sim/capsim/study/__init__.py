"""Studies: runs at the points of axes, what is claimed about them, and how that is decided.

=============== ==================================================================================
Module          Holds
=============== ==================================================================================
`study`         a study that is run: its rows, verdicts, table and picture
`file`          the keys of its file
`template`      arithmetic in braces
`points`        what is run at each point, in every setting, and the ids of the runs
`claims`        what claims compare
`metrics`       the numbers that describe a run: name, unit, function of the result
`measures`      measurements by name, and the tasks that runs are
`scheme_runs`   the measurement of any study, tables of its metrics
`samples`       from rows to one value a seed for each point of a claim
`relations`     what an interval must be for a claim of each kind
`decide`        from samples to a word, at levels that keep its error small
`looks`         when a claim is looked at, in one setting or carried over from a smaller fabric
`campaign`      which runs come next, and where all claims stand
`comparison`    several schemes on the same flows: a study with one axis
`plot`          panels with intervals and what is printed
=============== ==================================================================================
"""
