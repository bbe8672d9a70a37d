"""`orchid publish`: put signed bundles where a web server, an object store or a CDN serves them."""

from orchid.cli.publish.commands import publish

__all__ = ["publish"]
