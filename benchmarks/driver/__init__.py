"""The driver measured: the plan of a direct read, and looks into a cluster."""
