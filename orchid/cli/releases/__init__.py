"""Releases from a terminal: proposals, rollouts, pools, edges and emergencies, over REST."""
