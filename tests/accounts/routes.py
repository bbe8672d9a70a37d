"""What each address needs, written by hand: who adds a route adds a line, or a test names it.

`path: (what GET needs, what POST needs)`, with None where the method is not taken; `FURTHER` has
the other methods. A page's need is met by people alone; a program's address takes machines and
people alike.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Literal

from django.urls import URLPattern, URLResolver, get_resolver

from accounts.roles import PERMISSIONS, Permission

Where = Literal["own", "other", "everywhere"]


@dataclass(frozen=True)
class Need:
    """Permissions, all or any of them, and where: in the product, in some product, in all."""

    permissions: tuple[Permission, ...] = ()
    scope: Literal["product", "some", "all", "known", "public"] = "product"
    any_of_them: bool = False

    def met_by(self, role: str | None, where: Where) -> bool:
        """Whether a role held there (own is the product that the address names) is enough.

        The role is empty for who has none, and None for who is not known at all.
        """
        if self.scope in ("known", "public"):
            return self.scope == "public" or role is not None
        if (self.scope == "product" and where == "other") or (
            self.scope == "all" and where != "everywhere"
        ):
            return False
        enough = any if self.any_of_them else all
        return enough(one in PERMISSIONS.get(role or "", ()) for one in self.permissions)


P = Permission
#: Anybody at all, or anybody who signed in.
PUBLIC, KNOWN = Need(scope="public"), Need(scope="known")
VIEW, PROPOSE, APPROVE = Need((P.VIEW,)), Need((P.PROPOSE,)), Need((P.APPROVE,))
PUBLISH, ROLLBACK = Need((P.PUBLISH,)), Need((P.ROLLBACK,))
EMERGENCY = Need((P.EMERGENCY,))
OVERRIDE = Need((P.OVERRIDE,))
PUSH, ADMINISTER = Need((P.EVIDENCE_PUSH,)), Need((P.ADMINISTER,))
#: To deliver is one thing, to change what is seen another.
DELIVER, INGEST, EDGE = Need((P.INGEST,)), Need((P.VIEW, P.INGEST)), Need((P.EDGE,))
#: Who delivers may read what became of it.
DELIVERED = Need((P.VIEW, P.INGEST), any_of_them=True)
AUDIT_SOME, AUDIT_ALL = Need((P.AUDIT,), "some"), Need((P.AUDIT,), "all")
FOUND = Need((P.ADMINISTER,), "all")

API, OF_ONE, PAGES = "api/v1/", "api/v1/products/<slug:slug>/", "products/<slug:slug>/"
HALL: dict[str, tuple[Need | None, Need | None]] = {
    "": (KNOWN, None),
    "api/schema": (KNOWN, None),
    "account/": (KNOWN, None),
    "account/codes": (KNOWN, None),
    "account/codes/new": (KNOWN, KNOWN),
    "account/keys/<int:pk>/remove": (KNOWN, KNOWN),
    "account/keys/add": (KNOWN, KNOWN),
    "account/password": (KNOWN, KNOWN),
    "account/providers/<slug:provider>/unlink": (None, KNOWN),
    "account/sessions/end": (None, KNOWN),
    "account/totp/add": (KNOWN, KNOWN),
    "account/totp/remove": (KNOWN, KNOWN),
    "audit/": (AUDIT_SOME, None),
    "audit/verify": (AUDIT_ALL, None),
    "audit/export.jsonl": (AUDIT_SOME, None),
    "audit/export.csv": (AUDIT_SOME, None),
    "confirm": (KNOWN, None),
    "confirm/code": (KNOWN, KNOWN),
    "confirm/go-on": (KNOWN, None),
    "confirm/key": (KNOWN, KNOWN),
    "confirm/password": (KNOWN, KNOWN),
    "healthz": (PUBLIC, None),
    "invitations/<str:secret>": (PUBLIC, PUBLIC),
    "login": (PUBLIC, PUBLIC),
    # Between a right password and a second factor; whoever isn't there goes back to sign in.
    "login/code": (PUBLIC, PUBLIC),
    "logout": (None, KNOWN),
    "metrics": (PUBLIC, None),
    "people/<str:name>/factors": (FOUND, FOUND),
    "password-reset": (PUBLIC, PUBLIC),
    "password-reset/<uidb64>/<token>": (PUBLIC, PUBLIC),
    "password-reset/done": (PUBLIC, None),
    "password-reset/sent": (PUBLIC, None),
    "people/": (FOUND, None),
    "people/<str:name>/": (FOUND, None),
    "people/<str:name>/end": (None, FOUND),
    "people/<str:name>/restore": (None, FOUND),
    "products/new": (FOUND, FOUND),
    "readyz": (PUBLIC, None),
    "schemas/orchid.policy.v1.json": (PUBLIC, None),
    "sign-on/<slug:provider_id>/": (None, PUBLIC),
    "sign-on/<slug:provider_id>/callback": (PUBLIC, PUBLIC),
    "sign-on/cancelled": (PUBLIC, None),
    "sign-on/taken": (PUBLIC, None),
    "v1/traces": (None, DELIVER),
}
PROGRAMS: dict[str, tuple[Need | None, Need | None]] = {
    API + "audit": (AUDIT_SOME, None),
    API + "audit/verify": (AUDIT_ALL, None),
    API + "audit/export": (AUDIT_SOME, None),
    API + "audit/keys": (AUDIT_SOME, None),
    API + "people/<str:name>/factors/reset": (None, FOUND),
    OF_ONE + "invitations": (ADMINISTER, ADMINISTER),
    OF_ONE + "invitations/<int:pk>/withdraw": (None, ADMINISTER),
    OF_ONE + "roles": (ADMINISTER, ADMINISTER),
    OF_ONE + "roles/<int:pk>/take": (None, ADMINISTER),
    OF_ONE + "tokens": (ADMINISTER, ADMINISTER),
    OF_ONE + "tokens/<int:pk>/revoke": (None, ADMINISTER),
    OF_ONE + "tokens/<int:pk>/rotate": (None, ADMINISTER),
    API + "people": (FOUND, None),
    API + "people/<str:name>": (FOUND, None),
    API + "people/<str:name>/end": (None, FOUND),
    API + "people/<str:name>/restore": (None, FOUND),
    API + "check": (VIEW, None),
    API + "alarms": (VIEW, None),
    API + "edges": (VIEW, None),
    API + "evidence": (VIEW, PUSH),
    API + "evidence/<int:pk>": (VIEW, None),
    API + "generations": (VIEW, None),
    API + "ingest/arrivals": (DELIVERED, None),
    API + "ingest/arrivals/<int:pk>": (DELIVERED, None),
    API + "ingest/attempts": (DELIVERED, None),
    API + "ingest/batches": (DELIVERED, None),
    API + "ingest/batches/<str:batch_id>": (DELIVERED, None),
    API + "ingest/engine-view": (DELIVERED, None),
    API + "ingest/files": (None, DELIVER),
    API + "ingest/requests": (DELIVERED, EDGE),
    API + "ingest/requests/<path:request_id>": (DELIVERED, None),
    API + "ingest/rollups": (DELIVERED, EDGE),
    API + "ingest/routes": (DELIVERED, DELIVER),
    API + "ingest/routes/<int:pk>/unmap": (None, DELIVER),
    API + "ingest/shadow": (None, EDGE),
    API + "ingest/servers": (DELIVERED, INGEST),
    API + "ingest/servers/<str:name>": (DELIVERED, None),
    API + "ingest/servers/<str:name>/accept": (None, INGEST),
    API + "ingest/servers/<str:name>/check": (None, INGEST),
    API + "ingest/servers/<str:name>/flush": (None, INGEST),
    API + "ingest/sources": (DELIVERED, None),
    API + "ingest/trials": (DELIVERED, None),
    API + "ingest/trials/<int:pk>": (DELIVERED, None),
    API + "products": (KNOWN, FOUND),
    API + "products/<slug:slug>": (VIEW, None),
    OF_ONE + "budgets": (VIEW, None),
    OF_ONE + "calibration": (VIEW, None),
    OF_ONE + "calibration/generations": (None, PROPOSE),
    OF_ONE + "check": (VIEW, None),
    OF_ONE + "decision-diffs": (VIEW, PROPOSE),
    OF_ONE + "decision-diffs/<int:pk>": (VIEW, None),
    OF_ONE + "diagnosis": (VIEW, None),
    OF_ONE + "diagnosis/generations": (None, PROPOSE),
    OF_ONE + "economics": (VIEW, None),
    OF_ONE + "alarms": (VIEW, None),
    OF_ONE + "edges": (VIEW, ADMINISTER),
    OF_ONE + "edges/<str:name>": (VIEW, None),
    OF_ONE + "edges/<str:name>/retire": (None, ADMINISTER),
    OF_ONE + "edges/<str:name>/revoke": (None, ADMINISTER),
    OF_ONE + "edges/<str:name>/rotate": (None, ADMINISTER),
    OF_ONE + "edges/<str:name>/share": (None, ADMINISTER),
    OF_ONE + "evaluations/<int:pk>/packet": (VIEW, None),
    OF_ONE + "evaluations/latest/packet": (VIEW, None),
    OF_ONE + "evidence": (VIEW, PUSH),
    OF_ONE + "evidence/<int:pk>": (VIEW, None),
    OF_ONE + "frontier": (VIEW, None),
    OF_ONE + "generations": (VIEW, PROPOSE),
    OF_ONE + "generations/<int:number>": (VIEW, None),
    OF_ONE + "generations/<int:number>/diff": (VIEW, None),
    OF_ONE + "generations/<int:number>/revisions": (None, PROPOSE),
    OF_ONE + "packets/figures": (VIEW, None),
    OF_ONE + "proposals": (VIEW, PROPOSE),
    OF_ONE + "publications": (VIEW, PUBLISH),
    OF_ONE + "bundle": (VIEW, None),
    OF_ONE + "keys": (VIEW, None),
    OF_ONE + "revisits": (VIEW, None),
    OF_ONE + "revisits/<int:pk>": (VIEW, None),
    OF_ONE + "revisits/<int:pk>/acknowledge": (None, PROPOSE),
    OF_ONE + "revisits/<int:pk>/resolve": (None, APPROVE),
    OF_ONE + "drills": (VIEW, ROLLBACK),
    OF_ONE + "deliveries/<int:pk>/resend": (None, ADMINISTER),
    OF_ONE + "notices": (VIEW, None),
    OF_ONE + "webhooks": (ADMINISTER, ADMINISTER),
    OF_ONE + "webhooks/<int:pk>/end": (None, ADMINISTER),
    OF_ONE + "pool-releases": (VIEW, PUBLISH),
    OF_ONE + "reconciliation": (VIEW, None),
    OF_ONE + "rollback-readiness": (VIEW, None),
    OF_ONE + "rollbacks": (None, ROLLBACK),
    OF_ONE + "shadow": (VIEW, None),
    OF_ONE + "shadow/disagreements": (VIEW, None),
    OF_ONE + "verdicts": (VIEW, None),
    API + "proposals": (VIEW, PROPOSE),
    API + "proposals/<int:pk>": (VIEW, None),
    API + "overrides/<int:pk>": (VIEW, None),
    API + "overrides/<int:pk>/confirm": (None, OVERRIDE),
    API + "proposals/<int:pk>/card": (VIEW, None),
    API + "proposals/<int:pk>/publish": (None, PUBLISH),
    API + "proposals/<int:pk>/record": (VIEW, PROPOSE),
    API + "proposals/<int:pk>/submit": (None, PROPOSE),
    API + "proposals/bulk": (None, KNOWN),  # each move asks for its own
    API + "proposals/<int:pk>/schedule": (None, PROPOSE),
    API + "proposals/<int:pk>/comments": (VIEW, PROPOSE),
    API + "proposals/<int:pk>/rebase": (VIEW, PROPOSE),
    API + "proposals/<int:pk>/emergency": (None, EMERGENCY),
    API + "emergency-caps": (None, EMERGENCY),
    OF_ONE + "emergency-caps": (None, EMERGENCY),
    API + "second-looks": (VIEW, None),
    OF_ONE + "second-looks": (VIEW, None),
    API + "second-looks/<int:pk>": (VIEW, None),
    API + "second-looks/<int:pk>/confirm": (None, APPROVE),
    API + "second-looks/<int:pk>/revert": (None, APPROVE),
    API + "proposals/<int:pk>/vote": (None, APPROVE),
    API + "proposals/<int:pk>/withdraw": (None, PROPOSE),
    API + "publications": (VIEW, PUBLISH),
    API + "drills/<int:pk>": (VIEW, None),
    API + "rollbacks": (None, ROLLBACK),
    API + "rollouts": (VIEW, None),
    API + "rollouts/<int:pk>": (VIEW, None),
    API + "rollouts/<int:pk>/advance": (None, PUBLISH),
    API + "rollouts/<int:pk>/approve": (None, APPROVE),
    API + "rollouts/<int:pk>/hold-back": (None, ROLLBACK),
    API + "rollouts/<int:pk>/let-go": (None, PUBLISH),
    API + "rollouts/<int:pk>/overrides": (VIEW, OVERRIDE),
    API + "rollouts/<int:pk>/pause": (None, ROLLBACK),
    API + "rollouts/<int:pk>/resume": (None, PUBLISH),
    API + "verdicts": (VIEW, None),
    API + "waiting": (KNOWN, None),
}
OF_PRODUCTS: dict[str, tuple[Need | None, Need | None]] = {
    PAGES: (VIEW, None),
    PAGES + "access/": (ADMINISTER, None),
    PAGES + "access/credentials": (None, ADMINISTER),
    PAGES + "access/invite": (None, ADMINISTER),
    PAGES + "access/revoke": (None, ADMINISTER),
    PAGES + "access/withdraw": (None, ADMINISTER),
    PAGES + "access/roles": (None, ADMINISTER),
    PAGES + "access/roles/take": (None, ADMINISTER),
    PAGES + "access/rotate": (None, ADMINISTER),
    PAGES + "arrivals/<int:trace_pk>/": (VIEW, None),
    PAGES + "attempts/": (VIEW, None),
    PAGES + "batches/": (VIEW, None),
    PAGES + "batches/<int:batch_pk>/": (VIEW, None),
    PAGES + "batches/<int:batch_pk>/retry/": (None, INGEST),
    PAGES + "budgets/": (VIEW, None),
    PAGES + "calibration/": (VIEW, None),
    PAGES + "calibration/cell/": (VIEW, None),
    PAGES + "calibration/draft/": (None, PROPOSE),
    PAGES + "decision-diffs/<int:pk>/": (VIEW, None),
    PAGES + "decision-diffs/ask": (None, PROPOSE),
    PAGES + "diagnosis/": (VIEW, None),
    PAGES + "diagnosis/draft/": (None, PROPOSE),
    PAGES + "economics.csv": (VIEW, None),
    PAGES + "economics/": (VIEW, None),
    PAGES + "edges/": (VIEW, None),
    PAGES + "edges/<str:name>/": (VIEW, None),
    PAGES + "edges/<str:name>/retire": (None, ADMINISTER),
    PAGES + "edges/<str:name>/revoke": (None, ADMINISTER),
    PAGES + "edges/<str:name>/rotate": (None, ADMINISTER),
    PAGES + "edges/<str:name>/share": (None, ADMINISTER),
    PAGES + "edges/register": (None, ADMINISTER),
    PAGES + "engine/": (VIEW, None),
    PAGES + "evidence/": (VIEW, None),
    PAGES + "evidence/pieces/": (VIEW, None),
    PAGES + "evidence/pieces/<int:pk>/": (VIEW, None),
    PAGES + "evidence/push/": (PUSH, PUSH),
    PAGES + "evidence/push/file": (None, PUSH),
    PAGES + "first-publication": (None, PUBLISH),
    PAGES + "frontier/": (VIEW, None),
    PAGES + "gates/": (VIEW, None),
    PAGES + "gates/evaluations/": (VIEW, None),
    PAGES + "gates/evaluations/<int:pk>/": (VIEW, None),
    PAGES + "gates/evaluations/<int:pk>/packet": (VIEW, None),
    PAGES + "gates/history/<slug:metric>/": (VIEW, None),
    PAGES + "gates/segments/": (VIEW, None),
    PAGES + "generations/": (VIEW, None),
    PAGES + "generations/<int:number>/": (VIEW, None),
    PAGES + "generations/<int:number>/diff/<int:base>/": (VIEW, None),
    PAGES + "generations/<int:number>/revise": (PROPOSE, PROPOSE),
    PAGES + "generations/<int:number>/try": (VIEW, None),
    PAGES + "generations/new": (PROPOSE, PROPOSE),
    PAGES + "proposals/": (VIEW, None),
    PAGES + "proposals/<int:pk>/": (VIEW, None),
    PAGES + "overrides/<int:pk>/confirm": (None, OVERRIDE),
    PAGES + "proposals/<int:pk>/publish": (None, PUBLISH),
    PAGES + "proposals/<int:pk>/record": (VIEW, PROPOSE),
    PAGES + "proposals/<int:pk>/record.json": (VIEW, None),
    PAGES + "proposals/<int:pk>/record.md": (VIEW, None),
    PAGES + "rollout/<int:pk>/override": (None, OVERRIDE),
    PAGES + "proposals/<int:pk>/submit": (None, PROPOSE),
    PAGES + "proposals/<int:pk>/time": (None, PROPOSE),
    PAGES + "proposals/<int:pk>/comments": (None, PROPOSE),
    PAGES + "proposals/<int:pk>/rebase": (PROPOSE, PROPOSE),
    PAGES + "emergency/": (EMERGENCY, None),
    PAGES + "emergency/publish": (None, EMERGENCY),
    PAGES + "emergency/cap": (None, EMERGENCY),
    PAGES + "second-looks/": (VIEW, None),
    PAGES + "second-looks/<int:pk>/confirm": (None, APPROVE),
    PAGES + "second-looks/<int:pk>/revert": (None, APPROVE),
    PAGES + "proposals/<int:pk>/vote": (None, APPROVE),
    PAGES + "proposals/<int:pk>/withdraw": (None, PROPOSE),
    PAGES + "proposals/open": (None, PROPOSE),
    PAGES + "publications/": (VIEW, None),
    PAGES + "requests/": (VIEW, None),
    PAGES + "requests/<str:day>/<int:pk>/": (VIEW, None),
    PAGES + "revisits/": (VIEW, None),
    PAGES + "revisits/<int:pk>/": (VIEW, None),
    PAGES + "revisits/<int:pk>/acknowledge/": (None, PROPOSE),
    PAGES + "revisits/<int:pk>/resolve/": (None, APPROVE),
    PAGES + "notices/": (VIEW, ADMINISTER),
    PAGES + "notices/deliveries/<int:pk>/resend": (None, ADMINISTER),
    PAGES + "notices/webhooks/<int:pk>/end": (None, ADMINISTER),
    PAGES + "reconciliation/": (VIEW, None),
    PAGES + "reconciliation/release": (PUBLISH, PUBLISH),
    PAGES + "rollback/": (ROLLBACK, ROLLBACK),
    PAGES + "rollback/drill": (None, ROLLBACK),
    PAGES + "rollout/": (VIEW, None),
    PAGES + "rollout/<int:pk>/advance": (None, PUBLISH),
    PAGES + "rollout/<int:pk>/approve": (None, APPROVE),
    PAGES + "rollout/<int:pk>/hold-back": (None, ROLLBACK),
    PAGES + "rollout/<int:pk>/let-go": (None, PUBLISH),
    PAGES + "rollout/<int:pk>/pause": (None, ROLLBACK),
    PAGES + "rollout/<int:pk>/resume": (None, PUBLISH),
    PAGES + "shadow/": (VIEW, None),
    PAGES + "routes/<int:pk>/unmap/": (None, INGEST),
    PAGES + "routes/map/": (None, INGEST),
    PAGES + "servers/": (VIEW, None),
    PAGES + "servers/<str:name>/": (VIEW, None),
    PAGES + "servers/<str:name>/accept": (None, INGEST),
    PAGES + "servers/<str:name>/change": (None, INGEST),
    PAGES + "servers/<str:name>/check": (None, INGEST),
    PAGES + "servers/<str:name>/flush": (None, INGEST),
    PAGES + "servers/<str:name>/forget": (None, INGEST),
    PAGES + "servers/register": (None, INGEST),
    PAGES + "sources/": (VIEW, None),
    PAGES + "sources/<int:source_pk>/figures/": (VIEW, None),
    PAGES + "sources/upload/": (None, INGEST),
    PAGES + "trials/": (VIEW, None),
    PAGES + "trials/<int:trial_pk>/": (VIEW, None),
    PAGES + "trials/<int:trial_pk>/declare/": (None, INGEST),
    PAGES + "trials/upload/": (None, INGEST),
}
TABLE = HALL | PROGRAMS | OF_PRODUCTS
METHODS = ("get", "post", "put", "patch", "delete")
#: What the few addresses need that take more than GET and POST.
FURTHER: dict[str, dict[str, Need]] = {
    API + "ingest/servers/<str:name>": {"patch": INGEST, "delete": INGEST},
}


def needs(route: str) -> dict[str, Need]:
    """What each method that an address takes needs."""
    asked = dict(zip(("get", "post"), TABLE[route], strict=True))
    return {name: need for name, need in asked.items() if need} | FURTHER.get(route, {})


def routes(patterns: list[URLPattern | URLResolver], before: str = "") -> Iterator[str]:
    """Every address of the URL table, as it is written there."""
    for pattern in patterns:
        route = before + str(pattern.pattern)
        if isinstance(pattern, URLResolver):
            yield from routes(pattern.url_patterns, route)
        else:
            yield route


ROUTES = sorted(set(routes(get_resolver().url_patterns)))


def is_page(route: str) -> bool:
    """Whether people alone ask here; a machine's token is no way to sign in."""
    return not route.startswith(("api/", "v1/"))
