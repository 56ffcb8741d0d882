"""Values, errors, clock and store contracts that every other package uses."""
