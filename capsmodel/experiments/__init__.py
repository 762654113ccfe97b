"""The bench: joins model, simulator and data, and holds the papers' claims against them."""
