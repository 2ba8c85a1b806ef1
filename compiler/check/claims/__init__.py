"""What a spec claims and draws: expectations, observations, figures, matrices."""
