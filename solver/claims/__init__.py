"""What a spec claims and draws, held against the model."""
