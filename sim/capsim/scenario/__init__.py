"""A run, written down: `scenario` (fabric, traffic, scheme, what is recorded), `settings` by name, `entry_stacks`."""
