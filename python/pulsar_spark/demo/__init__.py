"""A tour with a real Pulsar: ``make demo``, ``pulsar-spark demo`` or ``python -m pulsar_spark.demo``.

Starts a server of its own, has the official client produce rides of a taxi company, then reads them as a batch, through
the broker and past it, streams them to another topic while more arrive, writes the answer of a query back, and reads
all results with the official client. Every count is checked. Needs ``pip install 'pulsar-spark[demo]'`` and a JDK 17.
"""
