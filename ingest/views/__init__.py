"""Pages of what happened: parse, call a service or a selector, render; one file a subject."""
