"""The LVQ family: kernels, trainer and the scikit-learn estimators."""
