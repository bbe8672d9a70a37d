"""What people fill in, checked; each page's forms in a module of its own."""
