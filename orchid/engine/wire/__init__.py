"""The forms in which edges and the control plane speak: request records and signed bundles."""
