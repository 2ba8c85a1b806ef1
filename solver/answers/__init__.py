"""What a load graph comes to: saturation, requirements, the largest population, headroom."""
