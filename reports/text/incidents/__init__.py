"""What happens in an incident, as text, as Markdown and as plain values."""
