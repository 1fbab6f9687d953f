"""The documented command `python -m statpriv.checker`; the checker itself is :mod:`statpriv.assurance.checker`."""

import sys

from statpriv.assurance.checker import main

if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
