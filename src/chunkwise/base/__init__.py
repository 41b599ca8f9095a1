"""What every room stands on: errors, parameters, specifications, the registry, files, workers, progress and wording."""
