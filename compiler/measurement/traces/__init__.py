"""From spans of distributed traces to the graph of calls between services."""
