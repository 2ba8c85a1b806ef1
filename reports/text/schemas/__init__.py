"""Values as JSON, and the schemas of these."""
