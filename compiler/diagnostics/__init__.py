"""What went wrong, where, and how it is reported: codes, sinks, sources, rendering, suggestions."""
