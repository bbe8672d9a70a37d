"""Reads that pages, API and tasks share."""
