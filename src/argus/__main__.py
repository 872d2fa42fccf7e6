"""Run `python -m argus` as the command `argus` (`argus.cli.main`)."""

from argus.cli.main import main

if __name__ == "__main__":
    main()
