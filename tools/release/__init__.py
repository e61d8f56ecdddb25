"""Builds what a release publishes, twice, and checks it: `make release-check`. See docs/develop/releasing.md."""
