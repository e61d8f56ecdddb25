"""``python -m pulsar_spark.cli``; see the package."""

import sys

from pulsar_spark.cli import main

if __name__ == "__main__":
    sys.exit(main())
