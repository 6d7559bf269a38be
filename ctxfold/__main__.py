"""Runs `ctxfold` as `python -m ctxfold`."""

from ctxfold.cli import main

if __name__ == "__main__":
    main()
