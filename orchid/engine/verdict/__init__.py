"""Verdicts: pure functions from counts, evidence and dollars to pass, fail, inconclusive, no data.

Gates are looked at all the time, so proportions rest on e-values: the chance that one ever reaches
1/alpha while its null hypothesis holds is at most alpha, however often it is looked at (Ville 1939;
Robbins 1970; Howard, Ramdas, McAuliffe, Sekhon 2021).
"""
