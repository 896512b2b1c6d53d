"""Fairness: metrics, null-space projection, and the limit line."""
