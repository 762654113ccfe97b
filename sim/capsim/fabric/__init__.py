"""What packets travel through and why they are sent: topology, routes, traffic. Pure data, no engine."""
