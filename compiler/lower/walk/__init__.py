"""Along the way of a stream: what each step, link, call and pool of it requests."""
