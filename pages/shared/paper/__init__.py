"""The parts of the paper's page: Table 1, Figure 2, why numbers differ, Algorithm 1, and what goes further."""
