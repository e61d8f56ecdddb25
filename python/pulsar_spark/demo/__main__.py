"""``python -m pulsar_spark.demo``; see the package."""

import sys

from pulsar_spark.demo.command import main

if __name__ == "__main__":
    sys.exit(main())
