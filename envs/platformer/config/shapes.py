"""The names of shapes."""

SHAPES = (
    "circle", "square", "line", "cross", "ellipse", "diamond", "triangle", "polygon", "star",
)  # fmt: skip
ROTATING = tuple(name for name in SHAPES if name != "circle")
