"""Experiments of single papers that are rebuilt beside the main protocol."""
