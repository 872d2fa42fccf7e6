from .figure import svg as svg
