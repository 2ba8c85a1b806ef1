"""Answers as pages: what their scripts work on, and how it is laid out."""
