"""What happened? Sources, the inbox, normalised requests and attempts, rollups."""
