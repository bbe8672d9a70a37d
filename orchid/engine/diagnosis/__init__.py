"""Why a figure moved, and the smallest change of policy that would bring it back.

A change between two windows (or cohorts) is taken apart exactly: its parts are fractions and sum to
it to the last digit. Every product of two factors is split at the midpoint, which treats both
windows alike: x1 y1 - x0 y0 = (x1 - x0)(y0 + y1)/2 + (x0 + x1)/2 (y1 - y0).
"""
