"""Device memory: the ledger, the live tokens of each route, what a request of a class holds."""

from decimal import Decimal

from controlplane import figures
from controlplane.web import Column, Table
from orchid.engine import memory
from orchid.engine.document.model import PolicyDocument

GIB = Decimal(memory.GIB)


def residency_table(document: PolicyDocument) -> Table | None:
    """The lines of one device; None where the document declares no device memory."""
    ledger = memory.residency(document.fleet)
    if ledger is None:
        return None
    largest = sorted(ledger.lines.items(), key=lambda line: -line[1])
    lines = [(name.replace("_", " "), f"{gib:f}") for name, gib in largest]
    closing = "closes exactly" if ledger.closes else f"{ledger.remainder_gib:f} unaccounted"
    return Table(
        "Memory of one device",
        [Column("Line"), Column("GiB", numeric=True)],
        [*lines, (f"Device ({closing})", f"{ledger.device_gib:f}")],
    )


def routes_table(document: PolicyDocument) -> Table:
    """What one token of cache costs on each route, and how many a device may hold."""
    columns = ("Cache a token", "Live tokens a device", "Second version fits")
    return Table(
        "Live tokens by route",
        [Column("Route"), *(Column(label, numeric=True) for label in columns)],
        [(name, *_route(document, name)) for name in document.models],
    )


def _route(document: PolicyDocument, name: str) -> tuple[str, str, str]:
    model, ledger = document.models[name], memory.residency(document.fleet)
    each = memory.kv_bytes_per_token(model.kv) if model.kv else None
    live = memory.live_tokens_per_device(document.fleet, model)
    fits = figures.UNKNOWN
    if ledger is not None and model.weights_gib is not None:
        need = ledger.with_second(model.weights_gib)
        fits = "yes" if memory.can_coexist(ledger, model.weights_gib) else f"no: {need:f} GiB"
    return (
        figures.UNKNOWN if each is None else f"{figures.shortest(each)} B",
        figures.UNKNOWN if live is None else f"{live:,}",
        fits,
    )


def classes_table(document: PolicyDocument) -> Table:
    """What one request of each class reserves, in tokens, blocks and sequences a device."""
    columns = ("Reserved", "Blocks", "Unused slots", "Cache", "Such requests a device")
    return Table(
        f"What one request holds, in blocks of {document.scheduling.kv_block_tokens} tokens",
        [Column("Class"), *(Column(label, numeric=True) for label in columns)],
        [(name, *_class(held)) for name, held in memory.memory_by_class(document).items()],
    )


def _class(held: memory.ClassMemory) -> tuple[str, ...]:
    gib = None if held.cache_bytes is None else held.cache_bytes / GIB
    return (
        f"{held.reserved_tokens:,}",
        f"{held.blocks.blocks:,}",
        f"{held.blocks.unused:,}",
        figures.UNKNOWN if gib is None else f"{figures.decimals(gib, 3)} GiB",
        figures.UNKNOWN if held.sequences is None else f"{held.sequences:,}",
    )
