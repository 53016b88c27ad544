"""The command adc, and python -m adc: runs the compiler that is in this package, in this process's place."""

import os
import sys

from ._compile import own_program, program


def main():
    found = own_program() or program()
    os.execv(found, ["adc", *sys.argv[1:]])


if __name__ == "__main__":
    main()
