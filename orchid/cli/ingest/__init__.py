"""`orchid ingest`: files of any size to the control plane's inbox, each part once."""

from orchid.cli.ingest.commands import ingest

__all__ = ["ingest"]
