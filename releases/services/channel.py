"""The name of the channel on which a new publication is hinted at."""

CHANNEL = "orchid_publication"
