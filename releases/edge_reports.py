"""How often edges are asked to tell what they run, and for how long such a word counts."""

from datetime import timedelta

REPORTS_PER_S = 200  # of edges that have nothing new to say, over all of them
SOONEST_REPORT_S = 2.0
LONGEST_REPORT_S = 300.0  # an edge waits for no more, whatever it is asked for
#: Reports that may fail to come through before the last one is no evidence any more, with the
#: quarter by which an edge spreads its pauses.
MISSED = 3 * 1.25
LEAST_S = 45.0  # as for silence: a restart of a process is no loss of evidence


def report_every_s(edges: int) -> float:
    """Seconds between two reports of one edge, where so many tell what they run."""
    return min(max(SOONEST_REPORT_S, edges / REPORTS_PER_S), LONGEST_REPORT_S)


def counts_for(edges: int) -> timedelta:
    """How old the word of one of so many edges may be: a larger fleet is asked less often."""
    return timedelta(seconds=max(LEAST_S, MISSED * report_every_s(edges)))
