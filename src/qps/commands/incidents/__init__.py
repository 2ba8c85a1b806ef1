"""Files of incidents: pages, and tables of their courses."""
