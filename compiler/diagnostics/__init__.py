"""What went wrong, where, and how it is told: codes, sinks, sources, rendering, suggestions."""
