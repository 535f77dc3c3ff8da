"""memgauge: where an agent's memory loses evidence, and what an answer costs.

Importing this package does nothing and imports nothing heavy.
"""
