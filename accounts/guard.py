"""Who is asking, and may they? Views, API, tasks and templates all ask here."""

import functools
from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any
from urllib.parse import urlencode, urlsplit

from django.contrib import messages
from django.contrib.auth.views import redirect_to_login
from django.http import HttpRequest, HttpResponse, HttpResponseRedirect
from django.urls import reverse

from accounts.freshness import is_fresh
from accounts.models import ActorKind, Credential, Grant, User
from accounts.roles import EVERY_PRODUCT, PERMISSIONS, SYSTEM, Permission
from controlplane.errors import Forbidden, NotFound

__all__ = ["SYSTEM_ACTOR", "Actor", "Permission", "actor_of", "may", "page", "require", "roles_of"]


@dataclass(frozen=True)
class Actor:
    """Whoever acts: a person, a machine with its credential, or the product itself."""

    kind: str
    name: str
    user: User | None = None
    credential: Credential | None = None
    #: False for a browser whose person showed who they are too long ago for what changes traffic.
    is_fresh: bool = True

    @property
    def owner(self) -> User | None:
        """The person answerable: oneself, or the owner of the machine's credential."""
        return self.credential.owner if self.credential else self.user


#: What moves traffic asks a person to have shown lately who they are. A token is shown each time.
CONFIRMED = frozenset({Permission.PUBLISH, Permission.ROLLBACK, Permission.EMERGENCY})
NOT_FRESH = "You signed in a while ago. Confirm that it is you; then press the button again."

SYSTEM_ACTOR = Actor(ActorKind.SYSTEM, "orchid")


def actor_of(request: Any) -> Actor:
    """The actor behind a Django or DRF request; someone unknown is an actor who may nothing."""
    credential = getattr(request, "auth", None)
    if isinstance(credential, Credential):
        return machine(credential)
    user = request.user
    if not user.is_authenticated:
        return Actor(ActorKind.PERSON, "")
    return replace(person(user), is_fresh=is_fresh(request))


def person(user: User) -> Actor:
    return Actor(ActorKind.PERSON, user.username, user=user)


def machine(credential: Credential) -> Actor:
    return Actor(ActorKind.MACHINE, f"{credential.kind}:{credential.name}", credential=credential)


def roles_of(actor: Actor, product_slug: str) -> frozenset[str]:
    """The roles that count in this product, those for every product included."""
    if actor.credential:
        covers = actor.credential.product_slug in (product_slug, EVERY_PRODUCT)
        return frozenset({actor.credential.kind}) if covers else frozenset()
    if actor.user is None or not actor.user.is_active:
        return frozenset()
    grants = Grant.objects.filter(user=actor.user, product_slug__in=[product_slug, EVERY_PRODUCT])
    return frozenset(grants.values_list("role", flat=True))


def permissions_in(actor: Actor, product_slug: str) -> frozenset[Permission]:
    """Everything that the actor may do in a product."""
    if actor.kind == ActorKind.SYSTEM:
        return SYSTEM
    if actor.credential:
        return _of_machine(actor.credential) if roles_of(actor, product_slug) else frozenset()
    return frozenset().union(*(PERMISSIONS[role] for role in roles_of(actor, product_slug)))


def _of_machine(credential: Credential) -> frozenset[Permission]:
    """What its kind may, cut down to its scopes where it has some."""
    allowed = PERMISSIONS[credential.kind]
    scopes = set(credential.scopes)
    return frozenset(one for one in allowed if one in scopes) if scopes else allowed


def may(actor: Actor, permission: Permission, product_slug: str) -> bool:
    """Ask with `*` for what concerns no single product."""
    return permission in permissions_in(actor, product_slug)


def require(actor: Actor, permission: Permission, product_slug: str) -> None:
    """Raise unless allowed. A product that one may not even see does not exist for one."""
    if may(actor, permission, product_slug):
        if permission in CONFIRMED and not actor.is_fresh:
            raise Forbidden("confirmation_needed", NOT_FRESH)
        return
    if permission is Permission.VIEW:
        raise NotFound("not_found", "No product of that name is open to you.")
    raise Forbidden(
        "forbidden",
        f"This needs the permission to {permission.value.replace('_', ' ')} in {product_slug}. "
        "An owner of the product can give you a role that has it.",
    )


def page(permission: Permission, step_up: bool = False) -> Callable[..., Any]:
    """A page's guard: sign in first, then the permission in the product named by `slug`.

    Without a slug the permission is asked for every product. The view finds its `Actor` on
    `request.actor`. What moves traffic, and what else asks to `step_up`, sends somebody who signed
    in long ago to confirm who they are, and back.
    """

    def decorate(view: Callable[..., HttpResponse]) -> Callable[..., HttpResponse]:
        @functools.wraps(view)
        def guarded(request: HttpRequest, *args: Any, **kwargs: Any) -> HttpResponse:
            if not request.user.is_authenticated:
                return redirect_to_login(request.get_full_path())
            actor = actor_of(request)
            slug = kwargs.get("slug", EVERY_PRODUCT)
            if slug != EVERY_PRODUCT:
                require(actor, Permission.VIEW, slug)
            if (step_up or permission in CONFIRMED) and not actor.is_fresh:
                require(replace(actor, is_fresh=True), permission, slug)
                return to_confirm(request)
            require(actor, permission, slug)
            request.actor = actor  # type: ignore[attr-defined]
            return view(request, *args, **kwargs)

        return guarded

    return decorate


def to_confirm(request: HttpRequest) -> HttpResponse:
    """Off to show who one is; then back to this page, or to the one whose button was pressed."""
    here = request.get_full_path()
    if request.method not in ("GET", "HEAD"):
        messages.info(request, NOT_FRESH)
        here = _pressed_on(request)
    url = f"{reverse('accounts:confirm')}?{urlencode({'next': here})}"
    if request.headers.get("HX-Request"):
        return HttpResponse(headers={"HX-Redirect": url})
    return HttpResponseRedirect(url)


def _pressed_on(request: HttpRequest) -> str:
    """The page of ours that sent a form; the dashboard when that isn't told."""
    sender = urlsplit(request.headers.get("Referer", ""))
    if sender.netloc != request.get_host() or not sender.path.startswith("/"):
        return reverse("hall:dashboard")
    return sender.path + (f"?{sender.query}" if sender.query else "")


def products_with(actor: Actor, permission: Permission) -> frozenset[str]:
    """The product slugs where the actor has the permission; `*` in it means all."""
    if actor.kind == ActorKind.SYSTEM:
        return frozenset({EVERY_PRODUCT})
    if actor.credential:
        allowed = permission in _of_machine(actor.credential)
        return frozenset({actor.credential.product_slug} if allowed else ())
    if actor.user and actor.user.is_active:
        held = set(Grant.objects.filter(user=actor.user).values_list("product_slug", "role"))
    else:
        held = set()
    return frozenset(slug for slug, role in held if permission in PERMISSIONS[role])
