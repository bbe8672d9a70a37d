"""The policy document: its schema, its canonical form, its checks and its differences."""
