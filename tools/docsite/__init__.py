"""The site of the documentation, built from the pages of the repository."""
