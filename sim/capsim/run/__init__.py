"""To run: `simulation` (one scenario).

`coding_units` has scenarios of windows sent in coding units, `unequal_paths` of units over links that lose packets.
`estimate` says what a run will need before it starts; `hook_errors` and `hook_failures` report what is wrong with a
hook of one's own, before the run and while it runs.
"""
