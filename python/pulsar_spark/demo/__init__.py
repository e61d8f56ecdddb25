"""A tour with a real Pulsar: ``make demo``, ``pulsar-spark demo`` or ``python -m pulsar_spark.demo``.

Starts a server of its own and produces rides of a taxi company with the official client. Then it reads them as a batch,
through the broker and directly from bookies, streams them to another topic while more arrive, writes the result of a
query back, and reads all results with the official client. Every count is checked.
Needs ``pip install 'pulsar-spark[demo]'`` and a JDK 17.
"""
