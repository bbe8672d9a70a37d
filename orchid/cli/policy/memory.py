"""`orchid policy memory`: what a device holds, and how many requests' caches fit it."""

import json
from dataclasses import asdict
from decimal import Decimal
from itertools import combinations
from pathlib import Path
from typing import Any

import click

from orchid.cli.output import json_option, show, table
from orchid.cli.policy.reading import document_argument, figure, file_argument, loaded, share
from orchid.engine.document.model import PolicyDocument
from orchid.engine.manifest import compatible, member_of, parted_by
from orchid.engine.memory import (
    GIB,
    can_coexist,
    kv_bytes_per_token,
    live_tokens_per_device,
    memory_by_class,
    pool_tokens,
    residency,
    usable_tokens,
)
from orchid.engine.model_config import ConfigError, kv_of_config

#: A published configuration has a few kilobytes.
MAX_CONFIG_BYTES = 1 << 20


@click.command()
@click.argument("file", type=document_argument)
@click.option("--config", type=file_argument, help="config.json of a model to be tried.")
@click.option("--cache-bits", default=16, show_default=True, help="Bits of a value in its cache.")
@click.option("--against", type=document_argument, help="Another generation, route by route.")
@json_option
def memory(
    file: Path, config: Path | None, cache_bits: int, against: Path | None, as_json: bool
) -> None:
    """What a device of FILE holds: its ledger, caches, what may coexist."""
    document = loaded(file).document
    data = device(document)
    if config is not None:
        data["config"] = tried(document, config, cache_bits)
    if against is not None:
        data["against"] = differences(document, loaded(against).document)
    show(data, lambda: memory_text(data), as_json=as_json)


def device(document: PolicyDocument) -> dict[str, Any]:
    ledger, fleet = residency(document.fleet), document.fleet
    return {
        "product": document.product,
        "ledger": ledger and {"lines": ledger.lines, "device_gib": ledger.device_gib},
        "remainder_gib": ledger and ledger.remainder_gib,
        "routes": {
            name: {
                "kv_bytes_per_token": kv_bytes_per_token(model.kv) if model.kv else None,
                "live_tokens_per_device": live_tokens_per_device(fleet, model),
                "weights_gib": model.weights_gib,
                "second_version_fits": can_coexist(ledger, model.weights_gib)
                if ledger and model.weights_gib is not None
                else None,
            }
            for name, model in document.models.items()
        },
        "classes": {name: asdict(held) for name, held in memory_by_class(document).items()},
        "parted": parted(document),
    }


def parted(document: PolicyDocument) -> list[dict[str, Any]]:
    """Pairs of classes, and what keeps their requests out of one batch."""
    return [
        {
            "classes": [one, other],
            "by": parted_by([member_of(document, one)], member_of(document, other)),
        }
        for one, other in combinations(document.classes, 2)
    ]


def tried(document: PolicyDocument, file: Path, bits: int) -> dict[str, Any]:
    """The cache of a published configuration in this document's pool."""
    try:
        if file.stat().st_size > MAX_CONFIG_BYTES:
            raise ConfigError(f"it has more than {MAX_CONFIG_BYTES >> 20} MiB")
        config = _config(file.read_bytes())
        if not isinstance(config, dict):
            raise ConfigError("it is no JSON object")
        kv = kv_of_config(config, bits=bits)
    except ConfigError as error:
        raise click.ClickException(f"{file} says no cache shape: {error}") from error
    each, fleet = kv_bytes_per_token(kv), document.fleet
    pool = fleet.residency_gib.get("kv_pool")
    tokens = pool_tokens(pool * GIB, each) if pool is not None else None
    usable = fleet.kv_usable_factor or Decimal(1)
    return {
        "kv": kv.model_dump(exclude_none=True),
        "kv_bytes_per_token": each,
        "pool_tokens": tokens,
        "live_tokens": usable_tokens(tokens, usable) if tokens is not None else None,
    }


def _config(text: bytes) -> Any:
    try:
        return json.loads(text)
    except (ValueError, RecursionError) as error:
        raise ConfigError("it is no JSON") from error


def differences(document: PolicyDocument, other: PolicyDocument) -> dict[str, Any]:
    """Route by route, what differs between two generations' manifests; null where one lacks it."""
    names = sorted({*document.models, *other.models})
    return {
        name: [asdict(d) for d in compatible(document.models[name], other.models[name])]
        if name in document.models and name in other.models
        else None
        for name in names
    }


def memory_text(data: dict[str, Any]) -> str:
    parts = [data["product"], ledger_text(data), routes_text(data), classes_text(data)]
    if "config" in data:
        parts.append(config_text(data["config"]))
    if "against" in data:
        parts.append(against_text(data["against"]))
    return "\n\n".join(parts)


def ledger_text(data: dict[str, Any]) -> str:
    if data["ledger"] is None:
        return "The document declares no device memory."
    rows = [(name, f"{gib:f}") for name, gib in data["ledger"]["lines"].items()]
    left = data["remainder_gib"]
    closing = "closes exactly" if left == 0 else f"{left:f} unaccounted"
    rows.append((f"device ({closing})", f"{data['ledger']['device_gib']:f}"))
    return table(("line", "GiB"), rows)


def routes_text(data: dict[str, Any]) -> str:
    fits = {True: "yes", False: "no: its own pool", None: None}
    return table(
        ("route", "cache bytes a token", "live tokens a device", "a second version fits"),
        (
            (
                name,
                whole(route["kv_bytes_per_token"]),
                whole(route["live_tokens_per_device"]),
                fits[route["second_version_fits"]],
            )
            for name, route in data["routes"].items()
        ),
    )


def classes_text(data: dict[str, Any]) -> str:
    rows = [
        (
            name,
            held["route"],
            whole(held["reserved_tokens"]),
            held["blocks"]["blocks"],
            held["blocks"]["unused"],
            share(held["idle_share"]),
            None if held["cache_bytes"] is None else figure(held["cache_bytes"] / 2**20),
            whole(held["sequences"]),
        )
        for name, held in data["classes"].items()
    ]
    headings = ("class", "route", "reserved", "blocks", "unused", "idle at least output")
    lines = [table((*headings, "cache MiB", "fit a device"), rows)]
    lines += [
        f"  {' and '.join(pair['classes'])} never share a batch: {', '.join(pair['by'])}"
        for pair in data["parted"]
        if pair["by"]
    ]
    return "\n".join(lines)


def config_text(config: dict[str, Any]) -> str:
    shape = ", ".join(f"{key} {value}" for key, value in config["kv"].items())
    return (
        f"Tried: {shape}: {whole(config['kv_bytes_per_token'])} cache bytes a token,"
        f" {whole(config['pool_tokens']) or '-'} tokens in the pool,"
        f" {whole(config['live_tokens']) or '-'} usable"
    )


def against_text(against: dict[str, Any]) -> str:
    lines = []
    for name, found in against.items():
        if found is None:
            lines.append(f"  {name}: only one of the two has it")
        elif not found:
            lines.append(f"  {name}: the same manifest")
        else:
            parts = "; ".join(f"{d['part']} {d['ours']} / {d['other']}" for d in found)
            lines.append(f"  {name}: another model: {parts}")
    return "\n".join(["Against the other generation", *lines])


def whole(value: Decimal | int | None) -> str | None:
    return None if value is None else f"{value:,.0f}"
