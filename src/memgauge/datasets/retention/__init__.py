"""Conversations whose final state is known: direct assignments against acceptances of earlier offers (paper C, 3.4)."""
