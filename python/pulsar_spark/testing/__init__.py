"""A real Pulsar for the tests of jobs, and what they do with its topics.

    from pulsar_spark.testing import assert_messages, produce, run_to_end

    def test_my_job(pulsar_topic):
        produce(pulsar_topic, [{"city": "Berlin", "km": 12.5}])
        run_to_end(my_job(pulsar_topic.spark, str(pulsar_topic), pulsar_topic.service_url))
        assert_messages(pulsar_topic.beside("totals"), [{"city": "Berlin", "km": 12.5}])

The fixtures ``pulsar_server``, ``pulsar_namespace``, ``pulsar_topic`` and ``pulsar_session`` need no import: pytest
finds them by itself (``pytest_pulsar_spark``). docs/use/testing.md describes them.
"""

from __future__ import annotations

from pulsar_spark.testing.addresses import NoServerError
from pulsar_spark.testing.faults import CannotRestartError, lose, restart, unload
from pulsar_spark.testing.messages import assert_messages, messages_of, produce
from pulsar_spark.testing.servers import PulsarServer
from pulsar_spark.testing.streams import run_to_end
from pulsar_spark.testing.topics import Topic
from pulsar_spark.testing.waiting import eventually

__all__ = [
    "CannotRestartError",
    "NoServerError",
    "PulsarServer",
    "Topic",
    "assert_messages",
    "eventually",
    "lose",
    "messages_of",
    "produce",
    "restart",
    "run_to_end",
    "unload",
]
