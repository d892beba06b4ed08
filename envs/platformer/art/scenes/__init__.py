"""The sixteen kinds of background, one module each; every module has `draw(rng, member)`."""
