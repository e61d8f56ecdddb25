package io.github.pulsarspark.options

import scala.concurrent.duration._

import io.github.pulsarspark.errors.Conditions
import io.github.pulsarspark.options.registry.CheckedOptions

/** The options of a write: one immutable value, created once on the driver. */
private[pulsarspark] final case class WriteOptions(
    client: ClientOptions,
    topic: Option[String],
    schemaType: String,
    sendTimeout: FiniteDuration,
    producer: Map[String, String],
    keySchemaType: String = "auto",
    valueSchemaType: String = "auto",
    keyValueEncoding: Option[String] = None,
    cutsTimes: Boolean = false,
    protobuf: Option[ProtobufMessageOption] = None,
    exactlyOnce: Option[ExactlyOnceOptions] = None,
    publicKeys: Option[PublicKeys] = None,
    isByKey: Boolean = false,
    producerPrefix: Option[String] = None
)

private[pulsarspark] object WriteOptions {

  /** Options of the producer that copies messages of a read. A copy may be larger than one entry, so it may be chunked.
    */
  def ofCopies(read: ReadOptions): WriteOptions = WriteOptions(
    client = read.client,
    topic = None,
    schemaType = "bytes",
    sendTimeout = read.pollTimeout,
    producer = Map("batchingEnabled" -> "false", "chunkingEnabled" -> "true")
  )

  def apply(options: CheckedOptions): WriteOptions = WriteOptions(
    client = ClientOptions(options),
    topic = options.get("topic").map(_.trim),
    schemaType = options("schemaType").toLowerCase,
    sendTimeout = options.duration("sendTimeoutMs").millis,
    producer = producer(options),
    keySchemaType = options("keySchemaType"),
    valueSchemaType = options("valueSchemaType"),
    keyValueEncoding = options.explicit("keyValueEncoding"),
    cutsTimes = options("timestampPrecision").equalsIgnoreCase("truncate"),
    protobuf = ProtobufMessageOption(options),
    exactlyOnce = ExactlyOnceOptions(options, producer(options)),
    publicKeys = PublicKeys(options),
    isByKey = options("batchBuilder").equalsIgnoreCase("key_based")
  )

  /** The client's own settings. Its `CustomPartition` needs a router, which no text can give. */
  private def producer(options: CheckedOptions): Map[String, String] = {
    val settings = options.clientSettings("pulsar.producer.")
    settings.get("messageRoutingMode").filter(_.equalsIgnoreCase("CustomPartition")).foreach(mode =>
      throw Conditions.OptionInvalid(option = "pulsar.producer.messageRoutingMode", value = mode,
        allowed = "RoundRobinPartition or SinglePartition; rows name their partition in `__partition`").exception
    )
    chunking(settings)
  }

  /** The client refuses producers that chunk messages and batch them, and batches unless it is told otherwise. */
  private def chunking(settings: Map[String, String]): Map[String, String] = {
    def isOn(setting: String) = settings.get(setting).exists(_.trim.equalsIgnoreCase("true"))
    if (!isOn("chunkingEnabled")) settings
    else if (isOn("batchingEnabled"))
      throw Conditions.OptionInvalid(option = "pulsar.producer.batchingEnabled", value = "true",
        allowed = "false, as producers with `pulsar.producer.chunkingEnabled` do not batch messages").exception
    else settings + ("batchingEnabled" -> "false")
  }
}
