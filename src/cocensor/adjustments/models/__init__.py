"""What adjustments fit to a sample: margins, joint models of event and dropout, hazards given covariates."""
