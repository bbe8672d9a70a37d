"""The room for machines, one module a subject."""
