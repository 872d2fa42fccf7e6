"""`python -m argus`: the same as the command `argus`."""

from argus.cli.main import main

if __name__ == "__main__":
    main()
