"""Jobs: commands of Argus, started, watched, cancelled and resumed by the service."""
