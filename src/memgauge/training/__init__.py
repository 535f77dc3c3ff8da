"""Trains the suite's own models: the tuned reader, the distilled writer, the query-aware summariser."""
