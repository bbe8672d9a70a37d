"""Results of load generators, one module a format: bytes to a trial with points.

Every figure keeps the unit, the percentile method and the clock of the tool that wrote it. Where a
format has each request, our own figures stand beside the tool's and are never mixed with them.
"""
