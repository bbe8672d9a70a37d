"""Who is asking, and may they? Views, API, tasks and templates all ask here."""

import functools
from collections.abc import Callable, Collection
from dataclasses import dataclass, replace
from typing import Any
from urllib.parse import urlencode, urlsplit

from django.contrib import messages
from django.contrib.auth.views import redirect_to_login
from django.http import HttpRequest, HttpResponse, HttpResponseRedirect
from django.urls import reverse

from accounts.freshness import is_fresh
from accounts.models import ActorKind, Credential, Grant, User
from accounts.pressed import forget, keep
from accounts.roles import EVERY_PRODUCT, MACHINES, PERMISSIONS, SYSTEM, Permission
from controlplane.errors import Forbidden, NotFound

__all__ = [
    "SYSTEM_ACTOR",
    "Actor",
    "Permission",
    "actor_of",
    "confirmed",
    "may",
    "page",
    "require",
    "roles_of",
]


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


#: What moves traffic, and what lets people and machines in or out, asks a person to have shown
#: lately who they are. A token is shown each time.
CONFIRMED = frozenset(
    {
        Permission.PUBLISH,
        Permission.ROLLBACK,
        Permission.EMERGENCY,
        Permission.OVERRIDE,
        Permission.ADMINISTER,
    }
)
NOT_FRESH = "You signed in a while ago. Confirm that it is you; then press the button again."
SAFE = ("GET", "HEAD")

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
    if actor.user is None:
        return frozenset()
    return roles_held([actor.user], product_slug)[actor.user.pk]


def roles_held(users: Collection[User], product_slug: str) -> dict[int, frozenset[str]]:
    """The roles of several people that count in this product; who has left holds none."""
    held: dict[int, set[str]] = {user.pk: set() for user in users}
    grants = Grant.objects.filter(
        user__in=[user.pk for user in users if user.is_active],
        product_slug__in=[product_slug, EVERY_PRODUCT],
    )
    for pk, role in grants.values_list("user_id", "role"):
        held[pk].add(role)
    return {pk: frozenset(roles) for pk, roles in held.items()}


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


class ConfirmationNeeded(Forbidden):
    """They may, once they have shown anew who they are: a page leads to where that is done."""

    title = "Confirm that it is you"


def require(
    actor: Actor, permission: Permission, product_slug: str, *, reading: bool = False
) -> None:
    """Raise unless allowed. A product that one may not even see does not exist for one.

    `reading` is for what only shows something: nobody has to confirm for that.
    """
    if may(actor, permission, product_slug):
        if permission in CONFIRMED and not reading:
            confirmed(actor)
        return
    if permission is Permission.VIEW:
        raise NotFound("not_found", "No product of that name is open to you.")
    raise Forbidden(
        "forbidden",
        f"This needs the permission to {permission.value.replace('_', ' ')} in {product_slug}. "
        + _way_there(actor, permission),
    )


def _way_there(actor: Actor, permission: Permission) -> str:
    if actor.credential is None:
        return "An owner of the product can give you a role that has it."
    kinds = [kind.label for kind in MACHINES if permission in PERMISSIONS[kind]]
    if not kinds:
        return "No token has it: a person does that."
    return (
        f"Tokens of the kind {' or '.join(kinds)} have it where no scope narrows them; "
        "an owner makes them under Access."
    )


def confirmed(actor: Actor) -> None:
    """Raise where a browser's person showed too long ago who they are."""
    if not actor.is_fresh:
        raise ConfirmationNeeded("confirmation_needed", NOT_FRESH)


def page(
    permission: Permission, *, step_up: bool = False, reading: bool = False
) -> Callable[..., Any]:
    """A page's guard: sign in first, then the permission in the product named by `slug`.

    Without a slug the permission is asked for every product. The view finds its `Actor` on
    `request.actor`. What asks for a permission to be `CONFIRMED`, and what else asks to `step_up`,
    sends somebody who signed in long ago to confirm who they are, and back; a page that is for
    `reading` alone doesn't.
    """

    def decorate(view: Callable[..., HttpResponse]) -> Callable[..., HttpResponse]:
        @functools.wraps(view)
        def guarded(request: HttpRequest, *args: Any, **kwargs: Any) -> HttpResponse:
            if not request.user.is_authenticated:
                return redirect_to_login(_page_of(request))
            actor = actor_of(request)
            slug = kwargs.get("slug", EVERY_PRODUCT)
            if slug != EVERY_PRODUCT:
                require(actor, Permission.VIEW, slug)
            require(actor, permission, slug, reading=True)
            asked = step_up or (permission in CONFIRMED and not reading)
            request.actor = actor  # type: ignore[attr-defined]
            try:
                if asked and not _is_look(request, step_up):
                    confirmed(actor)
                answer = view(request, *args, **kwargs)
            except ConfirmationNeeded:  # here, or of what this button does in the end
                return to_confirm(request)
            if request.method not in SAFE:
                forget(request)
            return answer

        return guarded

    return decorate


def to_confirm(request: HttpRequest) -> HttpResponse:
    """Off to show who one is; then back to this page, or to the form that was sent, as written."""
    here = _page_of(request)
    if request.method not in SAFE:
        messages.info(request, NOT_FRESH)
        here = reverse("accounts:go_on") if keep(request, here) else here
    url = f"{reverse('accounts:confirm')}?{urlencode({'next': here})}"
    if request.headers.get("HX-Request"):
        return HttpResponse(headers={"HX-Redirect": url})
    return HttpResponseRedirect(url)


def _is_look(request: HttpRequest, step_up: bool) -> bool:
    """A page that looks again by itself: who writes on it meanwhile isn't taken away from it."""
    return request.method in SAFE and "HX-Request" in request.headers and not step_up


def _page_of(request: HttpRequest) -> str:
    """This page, or the one of ours that sent a form; the dashboard when that isn't told."""
    if request.method in SAFE:
        return request.get_full_path()
    try:
        sender = urlsplit(request.headers.get("Referer", ""))
    except ValueError:
        return reverse("hall:dashboard")
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
