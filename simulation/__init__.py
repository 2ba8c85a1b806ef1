"""Playing the load graph packet by packet: what it tells is judged, not computed."""
