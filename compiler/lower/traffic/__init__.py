"""Traffic: flows of each class along its itinerary, the visits that they make, and losses."""
