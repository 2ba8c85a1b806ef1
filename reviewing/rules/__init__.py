"""What a change makes weaker: pure functions of a spec, or a project, before and after it."""
