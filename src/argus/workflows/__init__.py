"""What composes the parts into jobs: audit, exposure, demo."""
