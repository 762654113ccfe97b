"""Fabric and traffic: topology, routes, flows. Pure data, no engine."""
