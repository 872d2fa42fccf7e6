"""Hold the version of this package, for modules that must not import `argus` itself."""

__version__ = "0.1.0"
