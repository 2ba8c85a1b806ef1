"""What the scripts of a page work on: a model as options, machines and numbers may change it."""
