"""An example for each group of options: Python, and the options that it prints, as SQL and Scala set them."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Mapping


class Example(NamedTuple):
    """One sentence, a snippet that runs, and what it prints."""

    words: str
    code: str
    output: str = ""


_BROKERS = "pulsar+ssl://pulsar.example.com:6651"

EXAMPLES: Mapping[str, Example] = {
    "connection": Example(
        "Brokers over TLS, the admin service for direct reads, and a shorter wait:",
        f"""\
from pulsar_spark import PulsarReadOptions

options = PulsarReadOptions(
    service_url="{_BROKERS}",
    admin_url="https://pulsar.example.com:8443",
    operation_timeout_ms="10s",
    topic="orders",
)
for name, value in options.to_options().items():
    print(name, "=", value)
""",
        f"""\
service.url = {_BROKERS}
admin.url = https://pulsar.example.com:8443
operationTimeoutMs = 10s
topic = orders
""",
    ),
    "authentication": Example(
        "A token in a file, which each new connection reads again:",
        f"""\
from pulsar_spark import PulsarReadOptions

options = PulsarReadOptions(service_url="{_BROKERS}", auth_token_file="/etc/pulsar/token", topic="orders")
print(options.to_options()["auth.tokenFile"])
""",
        "/etc/pulsar/token\n",
    ),
    "tls": Example(
        "Certificates of a private authority, for brokers and for bookies:",
        """\
from pulsar_spark import PulsarReadOptions

options = PulsarReadOptions(
    tls_trust_certs_file="/etc/pulsar/ca.pem",
    bookie_tls_trust_certs_file="/etc/pulsar/bookies-ca.pem",
)
for name, value in options.to_options().items():
    print(name, "=", value)
""",
        """\
tls.trustCertsFile = /etc/pulsar/ca.pem
bookie.tls.trustCertsFile = /etc/pulsar/bookies-ca.pem
""",
    ),
    "topics": Example(
        "One topic, several, or all that match an expression:",
        """\
from pulsar_spark import PulsarReadOptions

for options in (
    PulsarReadOptions(topic="orders"),
    PulsarReadOptions(topics=["orders", "sales/eu/orders"]),
    PulsarReadOptions(topics_pattern="sales/eu/orders-.*", allow_missing_topics=True),
):
    print(options.to_options())
""",
        """\
{'topic': 'orders'}
{'topics': 'orders,sales/eu/orders'}
{'topicsPattern': 'sales/eu/orders-.*', 'allowMissingTopics': 'true'}
""",
    ),
    "range": Example(
        "A day, in Python by `start` and `end`, which also take positions and spans as `-2h`:",
        """\
from pulsar_spark import PulsarReadOptions

options = PulsarReadOptions(topic="orders", start="2026-01-31T00:00:00Z", end="2026-02-01T00:00:00Z")
print(options.to_options())
""",
        """\
{'topic': 'orders', 'startingTime': '2026-01-31T00:00:00.000Z', 'endingTime': '2026-02-01T00:00:00.000Z'}
""",
    ),
    "reading": Example(
        "A stream with a limit, that goes on without what was lost, and keeps messages that do not decode:",
        """\
from pulsar_spark import PulsarReadOptions

options = PulsarReadOptions(
    topic="orders",
    max_bytes_per_trigger="256m",
    fail_on_data_loss=False,
    on_decode_error="dlq",
    dlq_topic="orders-dlq",
)
for name, value in options.to_options().items():
    print(name, "=", value)
""",
        """\
topic = orders
failOnDataLoss = false
maxBytesPerTrigger = 256m
onDecodeError = dlq
dlqTopic = orders-dlq
""",
    ),
    "metadata tables": Example(
        "Topics of a namespace, as a DataFrame:",
        """\
import pulsar_spark

spark = pulsar_spark.session()
look = {"service.url": "pulsar://localhost:6650", "metadata": "topics", "namespace": "public/default"}
topics = spark.read.format("pulsar").options(**look).load()
assert "topic" in topics.columns
""",
    ),
    "writing": Example(
        "JSON, exactly once:",
        """\
from pulsar_spark import PulsarWriteOptions

options = PulsarWriteOptions(topic="totals", schema_type="JSON", delivery_guarantee="exactly-once", sink_id="totals")
print(options.to_options())
""",
        "{'topic': 'totals', 'schemaType': 'JSON', 'deliveryGuarantee': 'exactly-once', 'sinkId': 'totals'}\n",
    ),
    "catalog": Example(
        "A catalog that shows two namespaces and refuses `DROP TABLE`:",
        """\
import pulsar_spark

spark = pulsar_spark.session()
spark.conf.set("spark.sql.catalog.shop", "io.github.pulsarspark.catalog.PulsarCatalog")
spark.conf.set("spark.sql.catalog.shop.service.url", "pulsar://localhost:6650")
spark.conf.set("spark.sql.catalog.shop.namespaces", "public/default,sales/eu")
spark.conf.set("spark.sql.catalog.shop.allowDrop", "false")
""",
    ),
}
"""By group, as in the option table."""
