"""Demand measured: fit the factors of TEU from attempts, bound their error, judge it by cell."""
