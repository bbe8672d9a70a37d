"""How a request is decided: pure functions over a compiled policy and a state that is passed in.

The edge, shadow and replay run the same `decide`. No module here reads a clock or rolls dice.
"""
