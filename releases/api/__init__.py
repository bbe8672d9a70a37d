"""The same doors for machines: parse, call the service or selector, answer."""
