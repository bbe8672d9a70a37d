"""One thing to tell, and whom."""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from datetime import datetime

from accounts.guard import may, person
from accounts.models import Grant, User
from accounts.roles import EVERY_PRODUCT, Permission
from policies.models import Product
from releases.states import NoticeKind


@dataclass(frozen=True)
class Fact:
    """Something to tell, under a key that is the same however often it is found."""

    kind: NoticeKind
    key: str
    title: str
    text: str
    path: str
    at: datetime
    people: Iterable[User]


def those_who(product: Product, permission: Permission) -> Iterator[User]:
    """People of the product who may; asked only when something is new."""
    slugs = [product.slug, EVERY_PRODUCT]
    held = Grant.objects.filter(product_slug__in=slugs).values_list("user_id", flat=True)
    for user in User.objects.filter(pk__in=held, is_active=True).exclude(email=""):
        if may(person(user), permission, product.slug):
            yield user


def said(text: str) -> str:
    """Words of somebody, for a sentence that ends behind them."""
    return text.strip().rstrip(".")


def others(asked: Iterator[User], but: int) -> Iterator[User]:
    return (user for user in asked if user.pk != but)
