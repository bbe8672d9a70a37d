"""`orchid audit verify` and `export`: the trail, over REST or from a file alone."""

import json
from pathlib import Path
from typing import Any

import click
import msgspec

from orchid.cli.client import Api, Json
from orchid.cli.output import json_option, show, written
from orchid.engine.wire.signed import Jwk, SignatureRefused
from orchid.engine.wire.trail import Head, read_head
from orchid.engine.wire.trail_export import check_export

FOUND_BROKEN = 1
a_file = click.Path(exists=True, dir_okay=False, path_type=Path)
to_file = click.Path(dir_okay=False, path_type=Path)


@click.command()
@click.argument("file", type=a_file, required=False)
@click.option("--keys", type=a_file, help="Public keys that were kept; default: ask for them.")
@click.option(
    "--head", "heads", type=a_file, multiple=True, help="A signed head from earlier; repeatable."
)
@click.option("--save-head", type=to_file, help="Keep the newest signed head in this file.")
@click.option("--save-keys", type=to_file, help="Keep the public keys in this file.")
@json_option
def verify(
    file: Path | None,
    keys: Path | None,
    heads: tuple[Path, ...],
    save_head: Path | None,
    save_keys: Path | None,
    as_json: bool,
) -> int:
    """Verify the audit trail: that of the control plane, or an export FILE without it.

    With --keys and a FILE nothing is asked of anybody. A head that was kept proves that nothing
    before it was altered or cut off since. Exit code 0: intact, 1: broken, 3: error.
    """
    trusted = _keys(keys)
    seen = [_head(path, trusted) for path in heads]
    found = _offline(file, trusted, seen) if file else _online(seen)
    if save_head is not None:
        written(str(found["signed_head"]).encode(), save_head)
    if save_keys is not None:
        written(json.dumps({"keys": trusted}, indent=2).encode(), save_keys)
    show(found, lambda: _words(found), as_json=as_json)
    return FOUND_BROKEN if found["fault"] else 0


@click.command()
@click.argument("file", type=to_file)
@click.option("--format", "form", type=click.Choice(["jsonl", "csv"]), default="jsonl")
@click.option("--product", help="Slug of one product; default: all that may be read.")
@click.option("--person", help="Who did it, or to whom it was done.")
@click.option("--generation", help="Number of a generation.")
@click.option("--segment", help="As task=chat.")
@click.option("--action", help="What actions begin with, as proposal.")
@click.option("--since", help="From this time on, with its offset from UTC.")
@click.option("--until", help="Before this time.")
def export(file: Path, form: str, **asked: str | None) -> None:
    """Write the sealed events of the trail to FILE; without a filter they verify as a whole."""
    written(Api().fetch("/api/v1/audit/export", format=form, **asked), file)
    click.echo(f"{file}: verify it with orchid audit verify {file}", err=True)


def _online(seen: list[Head]) -> Json:
    """What the control plane finds; heads that were kept are compared with an export of it."""
    api = Api()
    found = api.get("/api/v1/audit/verify")
    fault = found["fault"]
    if seen and not fault:
        lines = api.fetch("/api/v1/audit/export").splitlines()
        fault = check_export(lines, _asked_for(api), seen).fault
    return {**found, "fault": fault, "whole": True, "events": found["sealed"]}


def _offline(file: Path, trusted: dict[str, Jwk], seen: list[Head]) -> Json:
    with file.open("rb") as lines:
        found = check_export(lines, trusted, seen)
    return {
        "events": found.events,
        "whole": found.whole,
        "head": found.head,
        "signed": found.signed.seq if found.signed else 0,
        "signed_head": found.token,
        "fault": found.fault,
    }


def _words(found: Json) -> str:
    if found["fault"]:
        return f"Broken: {found['fault']}."
    if not found["whole"]:
        return (
            f"{found['events']:,} events, each as it was sealed. A filtered export can't show that"
            " none was left out."
        )
    signed = f"signed to link {found['signed']}" if found["signed"] else "vouched for by no key"
    return f"Intact: {found['events']:,} events, {signed}.\n{found['head']}"


def _keys(kept: Path | None) -> dict[str, Jwk]:
    return _read_keys(kept) if kept else _asked_for(Api())


def _asked_for(api: Api) -> dict[str, Jwk]:
    found: dict[str, Jwk] = api.get("/api/v1/audit/keys")["keys"]
    return found


class _Kept(msgspec.Struct):
    keys: dict[str, Jwk]


def _read_keys(path: Path) -> dict[str, Jwk]:
    try:
        return msgspec.json.decode(path.read_bytes(), type=_Kept).keys
    except msgspec.DecodeError as error:
        raise click.ClickException(f"{path} holds no public keys: {error}") from error


def _head(path: Path, trusted: dict[str, Any]) -> Head:
    try:
        return read_head(path.read_text().strip(), trusted)
    except (SignatureRefused, UnicodeDecodeError) as refused:
        raise click.ClickException(f"{path} holds no head that was signed: {refused}") from refused
