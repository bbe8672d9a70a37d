"""Pages of the room, one module a subject."""
