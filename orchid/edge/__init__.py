"""What happens to a request, now: the admission service beside the fleet.

It decides by the last good signed bundle, keeps what it promised in a journal on disk, and sends
back what happened. It goes on deciding when the control plane can't be reached, and refuses when it
never had a bundle.
"""
