"""Flow sizes.

=========== ==================================================================
Module      Holds
=========== ==================================================================
`sizes`     the distribution of a flow size: quantiles, moments, draws
`catalogue` the published workloads by name, and their mean rates
=========== ==================================================================
"""
