"""Distributions of times: gamma, normal, maxima, order statistics, and sums of stages."""
