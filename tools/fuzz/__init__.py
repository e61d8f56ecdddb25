"""Runs the fuzz targets of the JVM and of Python, and writes a page of what they did."""
