"""Terminal and files: output, progress, signals and exit statuses."""
