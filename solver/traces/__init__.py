"""Recorded packets: measured, and played out."""
