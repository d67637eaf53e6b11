"""The engine: plan what applies, measure batches on an executor, journal results to the store, resume."""
