"""A candidate beside what is live: it is asked, it differs or agrees, and it answers nobody."""
