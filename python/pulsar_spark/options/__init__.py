"""Typed options of reads and writes. Made from the option table by tools/generate.py; do not edit."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any, ClassVar, Literal, TypeAlias, TypedDict

from pulsar_spark.options.bounds import Bound
from pulsar_spark.options.fields import TypedOptions

ReadLevel: TypeAlias = Literal[
    "auto",
    "broker",
    "segment",
]

SchemaMode: TypeAlias = Literal[
    "auto",
    "pinned",
    "raw",
]

OnDecodeError: TypeAlias = Literal[
    "fail",
    "null",
    "drop",
    "dlq",
]

OffloadFormat: TypeAlias = Literal[
    "block",
    "mapfile",
]

SchemaType: TypeAlias = Literal[
    "auto",
    "avro",
    "json",
    "key_value",
    "protobuf_native",
    "protobuf",
    "string",
    "bytes",
    "boolean",
    "int8",
    "int16",
    "int32",
    "int64",
    "float",
    "double",
    "date",
    "time",
    "timestamp",
    "instant",
    "local_date",
    "local_time",
    "local_date_time",
]

KeySchemaType: TypeAlias = Literal[
    "auto",
    "avro",
    "json",
    "string",
    "bytes",
    "boolean",
    "int8",
    "int16",
    "int32",
    "int64",
    "float",
    "double",
    "date",
    "time",
    "timestamp",
    "instant",
    "local_date",
    "local_time",
    "local_date_time",
]

ValueSchemaType: TypeAlias = KeySchemaType

KeyValueEncoding: TypeAlias = Literal[
    "inline",
    "separated",
]

TimestampPrecision: TypeAlias = Literal[
    "exact",
    "truncate",
]

DeliveryGuarantee: TypeAlias = Literal[
    "at-least-once",
    "exactly-once",
]

BatchBuilder: TypeAlias = Literal[
    "default",
    "key_based",
]

OnSinkMismatch: TypeAlias = Literal[
    "fail",
    "write",
    "skip",
]


@dataclass(frozen=True, kw_only=True, repr=False)
class PulsarReadOptions(TypedOptions):
    """Options of a read, each one optional here.

    Attributes:
        start: Where to start, as in `read_pulsar`. It sets ``starting_offsets`` or ``starting_time``.
        end: Where a batch read ends, as in `read_pulsar`. It sets ``ending_offsets`` or ``ending_time``.
        level: Another name of ``read_level``, as in `read_pulsar`.
        service_url: Address of the brokers: `pulsar://` or `pulsar+ssl://` (or `http(s)://` for lookups over HTTP), one
            or more hosts with ports separated by commas.
        admin_url: Address of Pulsar's admin REST service, one or more hosts with ports separated by commas. Only direct
            reads (`readLevel`) need it. Default: the `service.url`, if that begins with `http`.
        operation_timeout_ms: Longest wait for one response of the cluster: connect, look up, open, fetch a schema or a
            position. Default: ``30000``. At least 1.
        auth_token: Token (JWT) to authenticate with. Prefer `auth.tokenFile`, which keeps the token out of the job.
        auth_token_file: File with the token on every machine that runs the driver or an executor. Each new connection
            reads it again, so the token can be rotated.
        auth_basic_user_id: User name for basic authentication.
        auth_basic_password: Password for basic authentication.
        auth_tls_cert_file: PEM file with the client certificate for mutual TLS, on every machine.
        auth_tls_key_file: PEM (PKCS#8) file with the private key of `auth.tls.certFile`, on every machine.
        admin_auth_plugin_class_name: A plug-in of the Pulsar client that authenticates at `admin.url`, where the admin
            service needs other credentials than the brokers. Without an admin service it has no effect. Default: the
            credentials of the brokers.
        admin_auth_params: Parameters of `admin.auth.pluginClassName`, such as `token:...` or `file:///path/to/token`.
        auth_oauth2_issuer_url: OAuth 2.0 issuer for the client-credentials flow.
        auth_oauth2_credentials_url: JSON with `client_id` and `client_secret`: a key file on every machine,
            `file:///...`, or the text itself, `data:application/json;base64,...`.
        auth_oauth2_audience: OAuth 2.0 audience of the Pulsar cluster.
        auth_oauth2_scope: OAuth 2.0 scope.
        tls_trust_certs_file: PEM file with the certificates to trust, on every machine. Default: the JVM's trust store.
        tls_insecure_skip_hostname_verification: Accept a certificate that was issued for another host. Default: host
            names are verified. Every use of `true` is logged as a warning. Default: ``false``.
        tls_insecure_trust_any_certificate: Accept any certificate. For experiments only; every use is logged as a
            warning. Default: ``false``.
        bookie_tls_trust_certs_file: PEM file with the certificates to trust when segments are read from bookies over
            TLS, on every machine. Default: connections to bookies are not encrypted. The TLS settings of brokers do not
            apply to bookies.
        bookie_tls_cert_file: PEM file with a client certificate, for bookies that require one, on every machine.
        bookie_tls_key_file: PEM (PKCS#8) file with the private key of `bookie.tls.certFile`, on every machine.
        bookie_tls_insecure_skip_hostname_verification: Accept a bookie's certificate that was issued for another host.
            Default: host names are verified. Every use of `true` is logged as a warning. Default: ``false``.
        topic: One topic, short (`events`, which is `persistent://public/default/events`) or full; partitioned or not,
            or one partition of it. Writes use it instead of the column `__topic`.
        topics: Several topics, separated by commas. A topic that is named twice is read once.
        topics_pattern: All topics of a namespace whose whole name matches a Java regular expression:
            `[persistent://]tenant/namespace/expression`, or the expression alone for `public/default`. A stream
            discovers new topics at every trigger. Topics with the state of exactly-once sinks match only an expression
            with `pulsar-spark-sink-` in it.
        allow_missing_topics: Read also when a topic does not exist or no topic matches the pattern. A stream reads such
            a topic from its first message once it exists; a batch read has no rows of it. When no topic exists, the
            value is bytes, unless the query sets a schema. Default: ``false``.
        starting_offsets: Where to start: `earliest`, `latest` (streams only), `last 10` (the newest 10 messages of each
            topic partition, up to the end of the read), `subscription` (streams only: where `progressSubscription` is)
            or JSON with a position for each topic or partition: `{"events-partition-0": "12:34:5", "other":
            "earliest"}`. A position `ledger:entry[:batchIndex]` is the first message that is read; `after 12:34:5`
            starts after it. A position alone is one of the only partition. The JSON of a stream's progress (`version`,
            `positions`) starts after its positions; it may name other topics, too. A partition that is not listed has
            the default. A stream uses the option only at its first start. Default: ``earliest (batch), latest
            (stream)``.
        ending_offsets: Where to end: `latest` (the last message when the query is planned), a position if there is only
            one partition, JSON with a position for each topic or partition, or the JSON of a stream's progress; a
            position is the last message that is read. A partition that is not listed is read to the last message.
            Default: ``latest``.
        starting_time: Read messages published at or after this time: milliseconds since 1970, ISO 8601 with a zone, or
            JSON with a time for each topic. A stream begins there, and later returns what arrives, whatever its time
            is.
        ending_time: Read messages published before this time; forms as in `startingTime`. A time in the future reads to
            the last message and never waits.
        publish_time_skew_ms: How far clocks and delays of producers may put publish times out of order. Positions for
            `startingTime` and `endingTime` are looked up with this allowance on both sides; rows outside the bounds are
            dropped exactly. It is also how far a producer's clock may be ahead of the brokers': a filter `__publishTime
            >= t` skips ledgers that were closed more than this before `t`. Default: ``60000``. At least 0.
        fail_on_data_loss: Fail when messages that the query should read are gone (trimmed, or their topic deleted or
            recreated). With `false` the query continues, warns, and counts the ranges in the metric `pulsarDataLoss`.
            Default: ``true``.
        poll_timeout_ms: Longest wait for the next entry of a range, which is known to exist. Shorter outages only cost
            time. A trigger with a limit takes what it has counted after this time. Default: ``120000``. At least 1.
        read_ahead_bytes: Bytes of entries that the broker may send ahead to each task (`k`, `m`, `g` suffixes). Limits
            the memory of a task, in which at most twice as much waits. Default: ``16m``. At least 1.
        max_message_bytes: Largest message that is read, after decompression and after its chunks are joined. A larger
            one is an error. Messages that still miss chunks may use as much memory in each task; beyond that, messages
            are read twice. Default: ``64m``. At least 1.
        read_level: Where messages are read from: `broker`; `segment` = direct reads from the bookies that store them,
            in parallel within a partition; `auto` = segments wherever they can be reached, else the broker. Segments
            need `admin.url` and a network on which executors reach the bookies. Where `auto` falls back to the broker,
            `segment` fails with the reason. The rows are the same. Default: ``auto``.
        read_compacted: Read a compacted topic: the newest message of each key up to the last compaction, then
            everything after it. The broker delivers these messages. `readLevel=segment` does not support it. Default:
            ``false``.
        max_bytes_per_partition: Most stored bytes of one task of a direct read. One ledger may be split into several
            tasks, small ones are combined. With `readLevel=broker` one task reads one topic partition. A read has about
            100,000 such tasks at most: where that is too few, tasks are larger, and the log says so. Default: ``128m``.
            At least 1.
        min_partitions: Fewest tasks of a direct read, as far as there are entries to split. A stream with this option
            reads a topic partition by several tasks at the same time, so that its rows come in any order. Default of a
            batch read: as many as the cluster runs at a time (Spark's default parallelism), but none for less than 4
            MiB; of a stream: one task for each topic partition, in order. At least 1. At most 100000.
        real_time_tasks: Most tasks of a stream in real-time mode. Each follows several topic partitions, and holds a
            slot of an executor as long as the query runs. Default: half of the tasks that the cluster runs at a time,
            at least one. At least 1. At most 100000.
        max_messages_per_trigger: Most messages of one micro-batch, over all partitions, also inside the batches of
            producers. The driver reads the messages first to count them, unless brokers number them, see the page about
            streaming. Default: everything that is new. At least 1.
        max_bytes_per_trigger: Stored bytes after which a micro-batch ends. One message is read in any case, and each
            partition may exceed its share by at most one entry. Where segments may be read, a micro-batch of a backlog
            ends with a ledger, between half of the limit and the limit; else the driver reads the messages first to
            count their bytes, see the page about streaming. `0`, the default, is no limit. At least 0.
        min_messages_per_trigger: Fewest messages of one micro-batch: a trigger waits until there are so many, at most
            `maxTriggerDelay`. Not above `maxMessagesPerTrigger`. `Trigger.AvailableNow` ignores it. Default: a trigger
            never waits. At least 1.
        max_trigger_delay: With `minMessagesPerTrigger`, the longest time after a micro-batch for which new messages may
            wait. Default: ``15m``.
        discovery_interval: Least time between two requests for the topics and partitions of a stream. `0`, the default,
            requests them at every trigger: one request for a pattern, otherwise one for each named topic. Default:
            ``0``.
        bookie_addresses: Addresses of bookies whose ids are not addresses that executors can reach: `id=host:port`,
            separated by commas.
        encryption_private_key_file: PEM file with the private key that decrypts messages, on every machine; or JSON
            with a file for each key by the name that producers use: `{"orders": "/etc/pulsar/orders.pem"}`. To load
            keys from elsewhere, set `pulsar.reader.cryptoKeyReader` to your own `CryptoKeyReader`.
        metadata_columns: Hidden metadata columns to show as ordinary ones, separated by commas, or `all`. Batch reads
            can select them without this option; streams need it before Spark 4.2.
        schema_mode: How values are decoded. Each is decoded with the schema version it was written with, and resolved
            by Avro's rules. `auto` resolves to the newest schema that the topic has when the query starts; a stream
            keeps that schema until it is started again, or longer with `schemaTrackingLocation`. `pinned` resolves to
            `readerSchema`. `raw` returns the bytes of any value as the column `value`, also of topics whose schemas
            differ or cannot be read; `__schemaVersion` holds the version. Default: ``auto``.
        schema_tracking_location: With `schemaMode=auto`, a folder where a stream keeps the schemas it reads by. Use a
            folder under the checkpoint, and one for each source. A query that is started again has the columns that are
            kept there and the new ones: removed fields are null or have their default, and a changed type is an error
            unless one of the two types can be read as the other. Default: a stream has the columns of the newest schema
            at each start.
        reader_schema: With `schemaMode=pinned`, the Avro schema that AVRO and JSON values are read as, with aliases for
            renamed fields and defaults for fields that a version does not have.
        protobuf_descriptor_file: For topics with a schema of type PROTOBUF (not PROTOBUF_NATIVE), which does not store
            the field numbers of nested messages, nor of enums: a file with the descriptors of the message, as `protoc
            --include_imports --descriptor_set_out` writes it. The driver reads it. Number, name, type and label of
            every field must be those of the schema.
        protobuf_message: Name of the message in `protobuf.descriptorFile`, with its package.
        on_decode_error: What happens to a message whose value does not decode, or whose event time no timestamp can
            hold: `fail` ends the query with an error that names it; `null` returns a row with null in all value
            columns, or in that time alone; `drop` skips it; `dlq` skips it and copies it to `dlqTopic`. With any but
            `fail` all values and times are decoded in full, whichever columns a query selects, so that the same
            messages fail in each; the metric `pulsarDecodeErrors` counts them. An entry that is damaged, larger than
            `maxMessageBytes` or encrypted with an unknown key fails the query in any case. Default: ``fail``.
        dlq_topic: With `onDecodeError=dlq`, the topic that receives a copy of each message that does not decode: its
            value, key, event time and properties, and the properties `pulsarspark.topic`, `pulsarspark.position`,
            `pulsarspark.version` (of the schema) and `pulsarspark.error`. A task succeeds only when its copies are
            acknowledged, within `pollTimeoutMs`. A task that runs again copies again, and so does every query.
        error_columns: Add two columns, `_error` STRING and `_corrupt` BINARY: with `onDecodeError=null` the reason why
            a message does not decode, and the bytes of the value where that is the reason; null for every other
            message. Default: ``false``.
        offload_location: Where brokers store offloaded ledgers, as a URI of Hadoop's file systems: the bucket, or the
            folder of `fileSystemURI`. Default: the offload policies of the topic or its namespace decide. Endpoint and
            credentials are settings of the file system (`spark.hadoop.fs.s3a.*`).
        offload_format: Format of offloaded ledgers: `block` of the cloud offloaders, `mapfile` of the offloader
            `filesystem`. Default: the offload policies or the scheme of `offload.location` decide.
        subscription_prefix: Start of the names of the non-durable subscriptions that the broker shows for this read.
            They end with the read. Default: ``spark-pulsar``.
        progress_subscription: Name of a durable subscription that follows the stream: brokers keep the messages that
            the stream has not read, and show them as its backlog. The first start creates it in each partition where it
            does not exist. It serves one query at a time, and stays when the query ends. Default: nothing is kept for
            the stream beyond the retention of its topics.
        client: Any setting of the Pulsar Java client, by its own name.
        reader: Settings of the Pulsar Java client's readers that apply here: `readerName`, `receiverQueueSize` (most
            messages that the broker may send ahead to a task) and `cryptoKeyReader` (name of a class with a constructor
            without arguments).
        bookkeeper: Settings of BookKeeper's own client, by its own names. With any of them that client reads all
            segments of bookies; otherwise only those that the faster way cannot read.
    """

    SCOPES: ClassVar[tuple[str, ...]] = ("batchRead", "streamRead")

    start: Bound | None = None
    end: Bound | None = None
    level: ReadLevel | None = None
    service_url: str | None = None
    admin_url: str | None = None
    operation_timeout_ms: str | int | timedelta | None = None
    auth_token: str | None = None
    auth_token_file: str | None = None
    auth_basic_user_id: str | None = None
    auth_basic_password: str | None = None
    auth_tls_cert_file: str | None = None
    auth_tls_key_file: str | None = None
    admin_auth_plugin_class_name: str | None = None
    admin_auth_params: str | None = None
    auth_oauth2_issuer_url: str | None = None
    auth_oauth2_credentials_url: str | None = None
    auth_oauth2_audience: str | None = None
    auth_oauth2_scope: str | None = None
    tls_trust_certs_file: str | None = None
    tls_insecure_skip_hostname_verification: bool | None = None
    tls_insecure_trust_any_certificate: bool | None = None
    bookie_tls_trust_certs_file: str | None = None
    bookie_tls_cert_file: str | None = None
    bookie_tls_key_file: str | None = None
    bookie_tls_insecure_skip_hostname_verification: bool | None = None
    topic: str | None = None
    topics: str | Sequence[str] | None = None
    topics_pattern: str | None = None
    allow_missing_topics: bool | None = None
    starting_offsets: str | Mapping[str, str] | None = None
    ending_offsets: str | Mapping[str, str] | None = None
    starting_time: str | int | datetime | Mapping[str, str | int | datetime] | None = None
    ending_time: str | int | datetime | Mapping[str, str | int | datetime] | None = None
    publish_time_skew_ms: str | int | timedelta | None = None
    fail_on_data_loss: bool | None = None
    poll_timeout_ms: str | int | timedelta | None = None
    read_ahead_bytes: int | str | None = None
    max_message_bytes: int | str | None = None
    read_level: ReadLevel | None = None
    read_compacted: bool | None = None
    max_bytes_per_partition: int | str | None = None
    min_partitions: int | None = None
    real_time_tasks: int | None = None
    max_messages_per_trigger: int | None = None
    max_bytes_per_trigger: int | str | None = None
    min_messages_per_trigger: int | None = None
    max_trigger_delay: str | int | timedelta | None = None
    discovery_interval: str | int | timedelta | None = None
    bookie_addresses: str | None = None
    encryption_private_key_file: str | None = None
    metadata_columns: str | Sequence[str] | None = None
    schema_mode: SchemaMode | None = None
    schema_tracking_location: str | None = None
    reader_schema: str | None = None
    protobuf_descriptor_file: str | None = None
    protobuf_message: str | None = None
    on_decode_error: OnDecodeError | None = None
    dlq_topic: str | None = None
    error_columns: bool | None = None
    offload_location: str | None = None
    offload_format: OffloadFormat | None = None
    subscription_prefix: str | None = None
    progress_subscription: str | None = None
    client: Mapping[str, Any] | None = None
    reader: Mapping[str, Any] | None = None
    bookkeeper: Mapping[str, Any] | None = None


@dataclass(frozen=True, kw_only=True, repr=False)
class PulsarWriteOptions(TypedOptions):
    """Options of a write, each one optional here.

    Attributes:
        service_url: Address of the brokers: `pulsar://` or `pulsar+ssl://` (or `http(s)://` for lookups over HTTP), one
            or more hosts with ports separated by commas.
        admin_url: Address of Pulsar's admin REST service, one or more hosts with ports separated by commas. Only direct
            reads (`readLevel`) need it. Default: the `service.url`, if that begins with `http`.
        operation_timeout_ms: Longest wait for one response of the cluster: connect, look up, open, fetch a schema or a
            position. Default: ``30000``. At least 1.
        auth_token: Token (JWT) to authenticate with. Prefer `auth.tokenFile`, which keeps the token out of the job.
        auth_token_file: File with the token on every machine that runs the driver or an executor. Each new connection
            reads it again, so the token can be rotated.
        auth_basic_user_id: User name for basic authentication.
        auth_basic_password: Password for basic authentication.
        auth_tls_cert_file: PEM file with the client certificate for mutual TLS, on every machine.
        auth_tls_key_file: PEM (PKCS#8) file with the private key of `auth.tls.certFile`, on every machine.
        admin_auth_plugin_class_name: A plug-in of the Pulsar client that authenticates at `admin.url`, where the admin
            service needs other credentials than the brokers. Without an admin service it has no effect. Default: the
            credentials of the brokers.
        admin_auth_params: Parameters of `admin.auth.pluginClassName`, such as `token:...` or `file:///path/to/token`.
        auth_oauth2_issuer_url: OAuth 2.0 issuer for the client-credentials flow.
        auth_oauth2_credentials_url: JSON with `client_id` and `client_secret`: a key file on every machine,
            `file:///...`, or the text itself, `data:application/json;base64,...`.
        auth_oauth2_audience: OAuth 2.0 audience of the Pulsar cluster.
        auth_oauth2_scope: OAuth 2.0 scope.
        tls_trust_certs_file: PEM file with the certificates to trust, on every machine. Default: the JVM's trust store.
        tls_insecure_skip_hostname_verification: Accept a certificate that was issued for another host. Default: host
            names are verified. Every use of `true` is logged as a warning. Default: ``false``.
        tls_insecure_trust_any_certificate: Accept any certificate. For experiments only; every use is logged as a
            warning. Default: ``false``.
        topic: One topic, short (`events`, which is `persistent://public/default/events`) or full; partitioned or not,
            or one partition of it. Writes use it instead of the column `__topic`.
        protobuf_descriptor_file: For topics with a schema of type PROTOBUF (not PROTOBUF_NATIVE), which does not store
            the field numbers of nested messages, nor of enums: a file with the descriptors of the message, as `protoc
            --include_imports --descriptor_set_out` writes it. The driver reads it. Number, name, type and label of
            every field must be those of the schema.
        protobuf_message: Name of the message in `protobuf.descriptorFile`, with its package.
        schema_type: Schema to write with: `auto` uses that of the topic, or derives one from the columns when the topic
            has none (one column `value` of a simple type: that primitive; else an AVRO record). `key_value` uses the
            columns `key` and `value`. `protobuf_native` and `protobuf` need a topic that has such a schema. Default:
            ``auto``.
        key_schema_type: Schema of the column `key` with a KEY_VALUE schema: `auto` uses AVRO for a struct, else the
            primitive of the column. Default: ``auto``.
        value_schema_type: The same for the column `value`. Default: ``auto``.
        key_value_encoding: Where the column `key` goes with a KEY_VALUE schema: `inline` = into the payload, with the
            value; `separated` = it is the key of the message. Default: the topic's schema decides; a new schema is
            `inline`.
        timestamp_precision: What happens to parts of a millisecond where the schema keeps whole ones (Avro's
            `timestamp-millis` and `local-timestamp-millis`, Pulsar's `DATE` and `TIMESTAMP`): with `exact` such a value
            fails the task; `truncate` cuts the parts towards the past. Nothing else of a value is ever cut or rounded.
            Default: ``exact``.
        send_timeout_ms: Longest wait for the cluster to acknowledge a message; then the task fails. Default: ``60000``.
            At least 1.
        delivery_guarantee: What a reader that skips uncommitted messages sees of the rows: `at-least-once` may repeat
            those of tasks and micro-batches that are run again; `exactly-once` writes each micro-batch, and each batch,
            once, in transactions, which the brokers must have enabled. Default: ``at-least-once``.
        sink_id: With `exactly-once`, the name of this sink's state: 1 to 100 letters, digits, `.`, `_` and `-`. Two
            writes at a time cannot share one. Default: the id of the stream, which is in its checkpoint; a new one for
            each batch. A batch needs `txnVersion` with it. The table `sink` shows the state of the sink of this name.
        sink_namespace: With `exactly-once`, where the three topics with the sink's state are: `tenant/namespace`.
            Default: the namespace of the option `topic`.
        txn_version: With `exactly-once` and `sinkId`, the number of this batch: a batch whose number is not above that
            of the last one that was written to its topic has no effect, but a warning in the log. In `foreachBatch` use
            the id of the batch. At least 0.
        batch_builder: Which rows make a batch: those of a topic partition, or with `key_based` only those of one key,
            for consumers of `Key_Shared` subscriptions. Rows without a key make batches of their own. Default:
            ``default``.
        encryption_public_key_file: Encrypts messages for these keys: JSON with the PEM file of a public key for each
            name by which readers know the key, on every machine. Any one of the private keys decrypts a message.
        encryption_key_reader: Encrypts messages with public keys from elsewhere: the name of a `CryptoKeyReader` on
            every machine, a class with a constructor without arguments. Each producer requests each key once, when it
            opens.
        encryption_key_names: The names of the keys that `encryption.keyReader` returns, separated by commas. Any one of
            the private keys decrypts a message.
        on_sink_mismatch: With `exactly-once`, what a start does whose micro-batch does not follow the last one that the
            sink has, as after a checkpoint was restored from a copy: `fail`; `write` its rows, some of which the topic
            may have; or `skip` the micro-batches whose numbers the sink has, although their rows may be others now. Set
            it for one start. Default: ``fail``.
        txn_timeout: With `exactly-once`, after this time brokers abort a transaction that nobody ended. It must be
            longer than a micro-batch or batch takes, and longer than the driver may be away. Default: ``3h``.
        client: Any setting of the Pulsar Java client, by its own name.
        producer: Any setting of the Pulsar Java client's producers, by its own name.
    """

    SCOPES: ClassVar[tuple[str, ...]] = ("batchWrite", "streamWrite")

    service_url: str | None = None
    admin_url: str | None = None
    operation_timeout_ms: str | int | timedelta | None = None
    auth_token: str | None = None
    auth_token_file: str | None = None
    auth_basic_user_id: str | None = None
    auth_basic_password: str | None = None
    auth_tls_cert_file: str | None = None
    auth_tls_key_file: str | None = None
    admin_auth_plugin_class_name: str | None = None
    admin_auth_params: str | None = None
    auth_oauth2_issuer_url: str | None = None
    auth_oauth2_credentials_url: str | None = None
    auth_oauth2_audience: str | None = None
    auth_oauth2_scope: str | None = None
    tls_trust_certs_file: str | None = None
    tls_insecure_skip_hostname_verification: bool | None = None
    tls_insecure_trust_any_certificate: bool | None = None
    topic: str | None = None
    protobuf_descriptor_file: str | None = None
    protobuf_message: str | None = None
    schema_type: SchemaType | None = None
    key_schema_type: KeySchemaType | None = None
    value_schema_type: ValueSchemaType | None = None
    key_value_encoding: KeyValueEncoding | None = None
    timestamp_precision: TimestampPrecision | None = None
    send_timeout_ms: str | int | timedelta | None = None
    delivery_guarantee: DeliveryGuarantee | None = None
    sink_id: str | None = None
    sink_namespace: str | None = None
    txn_version: int | None = None
    batch_builder: BatchBuilder | None = None
    encryption_public_key_file: str | None = None
    encryption_key_reader: str | None = None
    encryption_key_names: str | None = None
    on_sink_mismatch: OnSinkMismatch | None = None
    txn_timeout: str | int | timedelta | None = None
    client: Mapping[str, Any] | None = None
    producer: Mapping[str, Any] | None = None


class ReadArguments(TypedDict, total=False):
    """Fields of `PulsarReadOptions` that are arguments of functions, too."""

    admin_url: str | None
    operation_timeout_ms: str | int | timedelta | None
    auth_token: str | None
    auth_token_file: str | None
    auth_basic_user_id: str | None
    auth_basic_password: str | None
    auth_tls_cert_file: str | None
    auth_tls_key_file: str | None
    admin_auth_plugin_class_name: str | None
    admin_auth_params: str | None
    auth_oauth2_issuer_url: str | None
    auth_oauth2_credentials_url: str | None
    auth_oauth2_audience: str | None
    auth_oauth2_scope: str | None
    tls_trust_certs_file: str | None
    tls_insecure_skip_hostname_verification: bool | None
    tls_insecure_trust_any_certificate: bool | None
    bookie_tls_trust_certs_file: str | None
    bookie_tls_cert_file: str | None
    bookie_tls_key_file: str | None
    bookie_tls_insecure_skip_hostname_verification: bool | None
    allow_missing_topics: bool | None
    publish_time_skew_ms: str | int | timedelta | None
    fail_on_data_loss: bool | None
    poll_timeout_ms: str | int | timedelta | None
    read_ahead_bytes: int | str | None
    max_message_bytes: int | str | None
    read_compacted: bool | None
    max_bytes_per_partition: int | str | None
    min_partitions: int | None
    real_time_tasks: int | None
    max_messages_per_trigger: int | None
    max_bytes_per_trigger: int | str | None
    min_messages_per_trigger: int | None
    max_trigger_delay: str | int | timedelta | None
    discovery_interval: str | int | timedelta | None
    bookie_addresses: str | None
    encryption_private_key_file: str | None
    schema_mode: SchemaMode | None
    schema_tracking_location: str | None
    reader_schema: str | None
    protobuf_descriptor_file: str | None
    protobuf_message: str | None
    on_decode_error: OnDecodeError | None
    dlq_topic: str | None
    error_columns: bool | None
    offload_location: str | None
    offload_format: OffloadFormat | None
    subscription_prefix: str | None
    progress_subscription: str | None
    client: Mapping[str, Any] | None
    reader: Mapping[str, Any] | None
    bookkeeper: Mapping[str, Any] | None


class WriteArguments(TypedDict, total=False):
    """Fields of `PulsarWriteOptions` that are arguments of functions, too."""

    admin_url: str | None
    operation_timeout_ms: str | int | timedelta | None
    auth_token: str | None
    auth_token_file: str | None
    auth_basic_user_id: str | None
    auth_basic_password: str | None
    auth_tls_cert_file: str | None
    auth_tls_key_file: str | None
    admin_auth_plugin_class_name: str | None
    admin_auth_params: str | None
    auth_oauth2_issuer_url: str | None
    auth_oauth2_credentials_url: str | None
    auth_oauth2_audience: str | None
    auth_oauth2_scope: str | None
    tls_trust_certs_file: str | None
    tls_insecure_skip_hostname_verification: bool | None
    tls_insecure_trust_any_certificate: bool | None
    protobuf_descriptor_file: str | None
    protobuf_message: str | None
    schema_type: SchemaType | None
    key_schema_type: KeySchemaType | None
    value_schema_type: ValueSchemaType | None
    key_value_encoding: KeyValueEncoding | None
    timestamp_precision: TimestampPrecision | None
    send_timeout_ms: str | int | timedelta | None
    delivery_guarantee: DeliveryGuarantee | None
    sink_id: str | None
    sink_namespace: str | None
    txn_version: int | None
    batch_builder: BatchBuilder | None
    encryption_public_key_file: str | None
    encryption_key_reader: str | None
    encryption_key_names: str | None
    on_sink_mismatch: OnSinkMismatch | None
    txn_timeout: str | int | timedelta | None
    client: Mapping[str, Any] | None
    producer: Mapping[str, Any] | None
