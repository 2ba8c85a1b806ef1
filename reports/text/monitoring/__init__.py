"""Predictions as monitoring systems read them."""
