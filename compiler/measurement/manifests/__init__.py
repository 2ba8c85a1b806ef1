"""Manifests of deployments: what runs on what, how often, and with which limits."""
