"""The description of the API at `/api/schema`."""

from threading import Lock
from typing import Any

from drf_spectacular.generators import SchemaGenerator

_alone = Lock()


class OneAtATime(SchemaGenerator):
    """Makes one description at a time: its library loads itself on the first, and of several that
    come at once all but one would stumble over what is half loaded."""

    def get_schema(self, *args: Any, **named: Any) -> Any:
        with _alone:
            return super().get_schema(*args, **named)  # type: ignore[no-untyped-call]
