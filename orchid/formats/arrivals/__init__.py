"""Recorded traffic, one module a format: bytes to arrivals in order, or to lengths or rates."""
