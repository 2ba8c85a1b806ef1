"""Until when a spec holds: its forecast of users, month by month, against its capacity."""
