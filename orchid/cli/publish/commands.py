"""`orchid publish`: bundles as files, written once or kept up to date."""

import json
import time
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import click
import msgspec

from orchid.cli.client import Api
from orchid.cli.output import json_option, show, written
from orchid.cli.product import named, product_option
from orchid.cli.publish.sinks import File, Sink, sink_of
from orchid.engine.wire.bundle import Bundle, BundleRefused, Jwk, etag_of, verify
from orchid.engine.wire.fields import Instant
from orchid.engine.wire.signed import opened_token

LEAST_EVERY_S = 1.0
MANIFEST = "orchid.static/v1"
TOKEN_TYPE = "application/jose"  # noqa: S105 - a media type


class _Claim(msgspec.Struct):
    publication: int
    issued_at: Instant


@click.command()
@product_option
@click.option("--to", "target", required=True, help="A folder, or s3://bucket/prefix.")
@click.option("--follow", is_flag=True, help="Stay, and write each bundle that is signed.")
@click.option(
    "--every",
    type=click.FloatRange(min=LEAST_EVERY_S),
    default=5.0,
    show_default=True,
    help="Seconds between two looks when following.",
)
@click.option(
    "--keys",
    "keys_file",
    type=click.Path(dir_okay=False, path_type=Path),
    help="Also write the public keys, for edges that can ask no control plane. Hand this file to"
    " them yourself: keys from where the bundles lie would prove nothing.",
)
@json_option
def publish(
    product: str | None,
    target: str,
    follow: bool,
    every: float,
    keys_file: Path | None,
    as_json: bool,
) -> None:
    """Write the newest signed bundle of a product where static files are served from.

    An edge follows PRODUCT/bundle.jws there (ORCHID_BUNDLE_URL). The bundle expires unless it is
    written again after it was signed again: follow, or run this on a schedule.
    """
    slug, api, sink = named(product), Api(), sink_of(target)
    if keys_file is not None:
        written(json.dumps({"keys": keys_of(api, slug)}, indent=2).encode(), keys_file)
    if not follow:
        done = published(api, slug, sink, datetime.now(UTC))
        show(done, lambda: words(done, target), as_json=as_json)
        return
    while True:
        followed(api, slug, sink, target)
        time.sleep(every)


def followed(api: Api, slug: str, sink: Sink, target: str) -> None:
    """One look of a command that stays: what fails is told, and tried again at the next look."""
    try:
        done = published(api, slug, sink, datetime.now(UTC))
    except click.ClickException as failed:
        click.echo(failed.message, err=True)
    else:
        if done["written"]:
            click.echo(words(done, target))


def published(api: Api, slug: str, sink: Sink, now: datetime) -> dict[str, Any]:
    """Put the newest bundle into the sink, unless it lies there already.

    Raises click.ClickException where the sink holds a newer one or can't be used, or where the
    bundle is not what the control plane's own keys signed: what edges would refuse is not written.
    """
    token = api.fetch(f"/api/v1/products/{slug}/bundle").decode("ascii", "replace").strip()
    bundle = _verified(token, keys_of(api, slug), slug, now)
    facts = manifest_of(bundle, token)
    files = files_of(slug, token, facts)
    # Compared by their bytes: whoever was cut off left some of them, or another's among them.
    lies = {file.path: sink.read(file.path) for file in files}
    _refuse_older(lies[f"{slug}/bundle.jws"], bundle)
    changed = any(lies[file.path] != file.data for file in files)
    if changed:
        for file in files:
            sink.write(file)
    return {**facts, "written": changed}


def files_of(slug: str, token: str, facts: dict[str, Any]) -> tuple[File, ...]:
    """The files of a bundle in the order of writing: what is named by others comes first."""
    data = token.encode()
    return (
        File(f"{slug}/{facts['kept_as']}", data, TOKEN_TYPE, lasting=True),
        File(f"{slug}/bundle.jws", data, TOKEN_TYPE),
        File(f"{slug}/manifest.json", json.dumps(facts, indent=2).encode(), "application/json"),
    )


def manifest_of(bundle: Bundle, token: str) -> dict[str, Any]:
    """What people and monitors read of it; edges believe only the signed file."""
    etag = etag_of(token)
    return {
        "schema": MANIFEST,
        "product": bundle.product,
        "publication": bundle.publication,
        "kind": bundle.kind,
        "etag": etag,
        "issued_at": bundle.issued_at.isoformat(),
        "expires_at": bundle.expires_at.isoformat(),
        "bundle": "bundle.jws",
        "kept_as": f"publications/{bundle.publication}-{etag.strip(chr(34))[:16]}.jws",
    }


def keys_of(api: Api, slug: str) -> dict[str, Jwk]:
    """The public keys that bundles are signed with now, and next."""
    found: dict[str, Jwk] = api.get(f"/api/v1/products/{slug}/keys")["keys"]
    return found


def words(done: dict[str, Any], target: str) -> str:
    what = f"Publication {done['publication']} ({done['kind']}), good until {done['expires_at']}"
    if not done["written"]:
        return f"{what}: lies in {target} already."
    return f"{what}: {target.rstrip('/')}/{done['product']}/bundle.jws"


def _verified(token: str, keys: dict[str, Jwk], slug: str, now: datetime) -> Bundle:
    try:
        return verify(token, keys, product=slug, floor_publication=0, now=now)
    except BundleRefused as refused:
        raise click.ClickException(
            f"The bundle would be refused by every edge, so nothing is written: {refused}"
        ) from refused


def _refuse_older(lies: bytes | None, bundle: Bundle) -> None:
    there = _claimed(lies) if lies else None
    if there and (there.publication, there.issued_at) > (bundle.publication, bundle.issued_at):
        raise click.ClickException(
            f"Publication {there.publication}, signed {there.issued_at.isoformat()}, lies there "
            f"already and is newer than {bundle.publication}. Does another control plane write to "
            "the same place?"
        )


def _claimed(lies: bytes) -> _Claim | None:
    """What a file says of itself, signed or not; None where it is no bundle."""
    try:
        payload = opened_token(lies.decode("ascii").strip()).payload
        return msgspec.json.decode(payload, type=_Claim)
    except (ValueError, msgspec.DecodeError):
        return None
