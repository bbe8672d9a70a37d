"""Which methods a page takes."""

from django.views.decorators.http import require_http_methods

#: A page and its form. Django's own form views would take a PUT for a POST, and several send one
#: on before they look at the method.
form_page = require_http_methods(["GET", "HEAD", "POST"])
