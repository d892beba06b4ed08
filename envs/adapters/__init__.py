"""Training on our sides with other people's trainers: Gymnasium, and functions for JAX trainers."""
