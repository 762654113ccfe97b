"""Schemes: what they are made of and what their hooks are given.

=============== =================================================================
Module          Holds
=============== =================================================================
`hooks`         the decisions of protocols: one signature for each hook
`components`    roles, stacks and schemes
`own`           own state: fields that a component declares for itself
`catalogue`     components with their parameters, defaults, bounds and meanings
`scheme_files`  a scheme from a Python file
=============== =================================================================
"""
