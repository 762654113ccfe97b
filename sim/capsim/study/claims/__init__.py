"""Claims of a study: what they compare, and how samples of runs become a word.

=========== ===============================================================================
Module      Holds
=========== ===============================================================================
`design`    what claims compare
`samples`   from rows to one value a seed for each point of a claim
`relations` what an interval must be for a claim of each kind
`decide`    from samples to a word, at levels that keep its error small
`looks`     when a claim is looked at, in one setting or carried over from a smaller fabric
=========== ===============================================================================

The words are those of :mod:`capsmodel.experiments.words`.
"""
