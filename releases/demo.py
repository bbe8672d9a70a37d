"""What the demo begins with: two products, five people, three tokens, a first publication each."""

import json
import os
import secrets
from dataclasses import dataclass
from pathlib import Path

from django.db import transaction

from accounts.authentication import credential_for
from accounts.guard import SYSTEM_ACTOR
from accounts.models import Credential, User
from accounts.roles import EVERY_PRODUCT, Role
from accounts.services import grant, issue_credential, revoke_credential
from gates.services import load_declared_points, push_evidence
from gates.services.diagnosis import load_declared_case
from policies.models import Generation, Product
from policies.services import create_product
from releases.models import Publication
from releases.services.binding import current_revision
from releases.services.publish import bootstrap

DEMO = "orchid-demo"
REFERENCE = "orchid-serve"
FIRST_ROUTE = "full"  # generation 1 serves nothing else; CI brings evidence for what it proposes
WHY_FIRST = "The first generation of the demo; there is nothing live to compare it with."


@dataclass(frozen=True)
class Person:
    """Someone of the cast."""

    username: str
    display_name: str
    role: Role


CAST = (
    Person("ana", "Ana", Role.ENGINEER),
    Person("ben", "Ben", Role.PRODUCT_OWNER),
    Person("cho", "Cho", Role.PRODUCT_OWNER),
    Person("dee", "Dee", Role.SRE),
    Person("eve", "Eve", Role.AUDITOR),
)
PRODUCTS = {
    REFERENCE: (
        "Orchid Serve",
        "The reference product: three routes, four classes and a fleet of 28 devices. "
        "No edge serves it; its points on the frontier are declared.",
    ),
    DEMO: (
        "Orchid Demo",
        "The reference policy scaled to one small machine. Its model servers are toys without "
        "continuous batching: scheduling is equal in both generations, so what generation 2 "
        "gains comes from fallback and a smaller fleet alone.",
    ),
}
# Kind, owner, product: what the machines of the demo show to be known.
TOKENS = ((Role.CI, "ana", DEMO), (Role.EDGE, "dee", DEMO), (Role.OTEL, "dee", DEMO))


def load(examples: Path, folder: Path) -> list[str]:
    """Bring everything into place; what is there already stays. Returns what was made, in words."""
    folder.mkdir(parents=True, exist_ok=True, mode=0o700)
    made = _people(folder / "demo-passwords.json")
    for slug in PRODUCTS:
        made += _product(slug, examples / slug)
    made += [word for token in TOKENS for word in _token(folder, *token)]
    return made


def _people(path: Path) -> list[str]:
    passwords: dict[str, str] = json.loads(path.read_text()) if path.exists() else {}
    made = []
    for someone in CAST:
        user, created = User.objects.get_or_create(
            username=someone.username,
            defaults={
                "display_name": someone.display_name,
                "email": f"{someone.username}@demo.invalid",
            },
        )
        if created or someone.username not in passwords:
            passwords[someone.username] = secrets.token_urlsafe(9)
            user.set_password(passwords[someone.username])
            user.save(update_fields=["password"])
            made.append(f"user {someone.username}")
        grant(SYSTEM_ACTOR, user, someone.role, EVERY_PRODUCT)
    _write_secret(path, json.dumps(passwords, indent=2))
    return made


@transaction.atomic
def _product(slug: str, examples: Path) -> list[str]:
    product = Product.objects.filter(slug=slug).first()
    made = []
    if product is None:
        document = (examples / "generation-1.yaml").read_bytes()
        name, said = PRODUCTS[slug]
        product = create_product(SYSTEM_ACTOR, slug, name, document=document, description=said)
        made.append(f"product {slug}")
    made += _evidence(product, examples / "evidence.json")
    points = examples / "declared-points.yaml"
    if points.exists():
        load_declared_points(product, points.read_text())
    case = examples / "diagnosis.yaml"
    if case.exists():
        load_declared_case(product, case.read_text())
    if not Publication.objects.filter(product=product).exists():
        first = Generation.objects.get(product=product, number=1)
        publication = bootstrap(SYSTEM_ACTOR, product, current_revision(first), WHY_FIRST)
        made.append(f"publication {publication.number} of {slug}")
    return made


def _evidence(product: Product, path: Path) -> list[str]:
    """The evidence on what generation 1 serves."""
    cells = json.loads(path.read_text())["evidence"] if path.exists() else []
    pushed = [
        push_evidence(SYSTEM_ACTOR, product, cell)[1]
        for cell in cells
        if cell["route"] == FIRST_ROUTE
    ]
    return [f"{sum(pushed)} cells of evidence for {product.slug}"] if any(pushed) else []


def _token(folder: Path, kind: Role, owner: str, slug: str) -> list[str]:
    """A token file whose credential is live; a lost or dead one is replaced."""
    path = folder / f"{kind}-token"
    if path.exists() and credential_for(path.read_text().strip()):
        return []
    name = f"demo-{kind}"
    for stale in Credential.objects.filter(
        product_slug=slug, kind=kind, name=name, revoked_at=None
    ):
        revoke_credential(SYSTEM_ACTOR, stale.pk, "Its token file is gone.", slug)
    _credential, token = issue_credential(
        SYSTEM_ACTOR,
        kind=kind,
        name=name,
        product_slug=slug,
        owner=User.objects.get(username=owner),
    )
    _write_secret(path, token)
    return [f"token {path.name}"]


def _write_secret(path: Path, text: str) -> None:
    """Readable by its owner from its first byte on."""
    draft = path.with_name(f".{path.name}.draft")
    descriptor = os.open(draft, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600)
    with os.fdopen(descriptor, "w") as file:
        file.write(text)
    draft.replace(path)
