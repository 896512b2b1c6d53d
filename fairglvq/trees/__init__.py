"""Decision trees whose leaves tell the target and not the protected attribute: eq. (4) with leaves as cells."""
