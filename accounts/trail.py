"""Pages of the audit trail: find, take out as a file, verify."""

from urllib.parse import urlencode

from django.contrib.auth.decorators import login_required
from django.http import HttpResponse, HttpResponseBase
from django.utils import timezone
from django.views.decorators.http import require_safe

from accounts import sealing
from accounts.exporting import CONTENT_TYPES, exported
from accounts.forms import AuditForm
from accounts.guard import Actor, Permission, actor_of, may, page, products_with
from accounts.roles import EVERY_PRODUCT
from accounts.searching import AuditFilter, audit_events
from controlplane.errors import BadInput, Forbidden
from controlplane.web import HtmxRequest, paged, render_page, streamed


@require_safe
@login_required
def audit(request: HtmxRequest) -> HttpResponse:
    """Who did what, newest first, within the products whose trail one may read."""
    actor = _reader(request)
    form = AuditForm(request.GET)
    is_valid = form.is_valid()
    wanted = AuditFilter(**form.cleaned_data) if is_valid else AuditFilter()
    found = paged(audit_events(actor, wanted), request.GET.get("cursor", ""), field="at")
    context = {
        "form": form,
        "page": found,
        "query": urlencode(wanted.asked),
        "head": sealing.newest_head(),
        "may_verify": may(actor, Permission.AUDIT, EVERY_PRODUCT),
    }
    status = 200 if is_valid else 400
    template, part = "accounts/audit.html", "accounts/_audit_events.html"
    return render_page(request, template, part, context, status=status)


@require_safe
@login_required
def export(request: HtmxRequest, form: str) -> HttpResponseBase:
    """The same events as a file, in the order in which they were sealed."""
    actor, asked = _reader(request), AuditForm(request.GET)
    if not asked.is_valid():
        raise BadInput("bad_filter", "The filter can't be read; go back and look at its fields.")
    wanted = AuditFilter(**asked.cleaned_data)
    parts = exported(actor, wanted, form, timezone.now())
    return streamed(request, parts, CONTENT_TYPES[form], f"audit.{form}")


@require_safe
@page(Permission.AUDIT)
def verify(request: HtmxRequest) -> HttpResponse:
    """Walk the whole chain now; for those who may read the trail of every product."""
    found = sealing.verify()
    context = {"found": found, "now": timezone.now()}
    return render_page(request, "accounts/audit_verify.html", None, context)


def _reader(request: HtmxRequest) -> Actor:
    actor = actor_of(request)
    if not products_with(actor, Permission.AUDIT):
        raise Forbidden("forbidden", "The audit trail needs the role of auditor, owner or SRE.")
    return actor
