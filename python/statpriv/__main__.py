"""`python -m statpriv` is the command `statpriv`."""

from statpriv.cli import main

if __name__ == "__main__":
    main()
