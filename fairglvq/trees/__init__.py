"""Decision trees whose leaves predict the target and not the protected attribute: eq. (4) with leaves as cells."""
