"""What somebody has to be told of, read from what is stored: each fact under a key of its own."""

from releases.services.facts.fact import Fact
from releases.services.facts.reviewing import reviewing
from releases.services.facts.running import running

__all__ = ["Fact", "reviewing", "running"]
