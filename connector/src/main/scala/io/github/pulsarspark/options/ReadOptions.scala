package io.github.pulsarspark.options

import scala.concurrent.duration._

import io.github.pulsarspark.errors.Conditions
import io.github.pulsarspark.options.registry.{CheckedOptions, RawOptions, Scope}

/** The options of a read: one immutable value, created once on the driver. Offsets, times and metadata columns are
  * still texts, because what they mean depends on the topics.
  */
private[pulsarspark] final case class ReadOptions(
    client: ClientOptions,
    topics: TopicSelection,
    allowMissingTopics: Boolean,
    startingOffsets: Option[String],
    endingOffsets: Option[String],
    startingTime: Option[String],
    endingTime: Option[String],
    metadataColumns: Option[String],
    publishTimeSkew: FiniteDuration,
    failOnDataLoss: Boolean,
    schemaMode: SchemaMode,
    protobuf: Option[ProtobufMessageOption],
    schemaTrackingLocation: Option[String],
    onDecodeError: OnDecodeError,
    errorColumns: Boolean,
    pollTimeout: FiniteDuration,
    readAheadBytes: Long,
    readAheadMessages: Int,
    maxMessageBytes: Int,
    privateKeys: Option[PrivateKeys],
    readerName: Option[String],
    subscriptionPrefix: String,
    progressSubscription: Option[String],
    offloadLocation: Option[String],
    offloadFormat: Option[String],
    readCompacted: Boolean,
    readLevel: ReadLevel,
    maxBytesPerPartition: Long,
    minPartitions: Option[Int],
    realTimeTasks: Option[Int],
    triggerLimits: TriggerLimits,
    discoveryInterval: FiniteDuration,
    bookKeeper: BookKeeperOptions
) {

  /** True for a stream that starts where its subscription is. */
  def startsAtSubscription: Boolean = startingOffsets.exists(ReadOptions.isSubscription)

  /** False if every message comes from the broker. */
  def mayReadSegments: Boolean = readLevel != ReadLevel.Broker && client.adminUrl.nonEmpty

  /** Options for the driver's own reads: `segment` becomes `auto`, so that they fall back to the broker where the
    * storage cannot be reached.
    */
  def orBroker: ReadOptions = if (readLevel == ReadLevel.Segment) copy(readLevel = ReadLevel.Auto) else this
}

private[pulsarspark] object ReadOptions {

  /** The client's own default of `receiverQueueSize`. */
  private val DefaultReadAheadMessages = 1000

  /** Largest size of a byte array on every JVM. */
  private val LargestMessage = Int.MaxValue - 16L

  /** Checks and types the options of a read in one of the scopes. */
  def apply(options: RawOptions, scopes: Scope*): ReadOptions = apply(options.check(scopes: _*))

  def apply(options: CheckedOptions): ReadOptions = {
    val reader = options.clientSettings("pulsar.reader.")
    ReadOptions(
      client = ClientOptions(options),
      topics = TopicSelection(options),
      allowMissingTopics = options.boolean("allowMissingTopics"),
      startingOffsets = options.explicit("startingOffsets"),
      endingOffsets = options.explicit("endingOffsets"),
      startingTime = options.get("startingTime"),
      endingTime = options.get("endingTime"),
      metadataColumns = options.get("metadataColumns"),
      publishTimeSkew = options.duration("publishTimeSkewMs").millis,
      failOnDataLoss = options.boolean("failOnDataLoss"),
      schemaMode = SchemaMode(options),
      protobuf = ProtobufMessageOption(options),
      schemaTrackingLocation = SchemaMode.trackingLocation(options),
      onDecodeError = OnDecodeError(options),
      errorColumns = options.boolean("errorColumns"),
      pollTimeout = options.duration("pollTimeoutMs").millis,
      readAheadBytes = options.bytes("readAheadBytes"),
      readAheadMessages = reader.get("receiverQueueSize").fold(DefaultReadAheadMessages)(_.toInt),
      maxMessageBytes = math.min(options.bytes("maxMessageBytes"), LargestMessage).toInt,
      privateKeys = PrivateKeys(options),
      readerName = reader.get("readerName"),
      subscriptionPrefix = options("subscriptionPrefix"),
      progressSubscription = progressSubscription(options),
      offloadLocation = options.get("offload.location"),
      offloadFormat = options.get("offload.format").map(_.toLowerCase),
      readCompacted = options.boolean("readCompacted"),
      readLevel = ReadLevel(options("readLevel")),
      maxBytesPerPartition = options.bytes("maxBytesPerPartition"),
      minPartitions = options.explicit("minPartitions").map(_.toInt),
      realTimeTasks = options.explicit("realTimeTasks").map(_.toInt),
      triggerLimits = TriggerLimits(options),
      discoveryInterval = options.duration("discoveryInterval").millis,
      bookKeeper = BookKeeperOptions(options)
    )
  }

  private def isSubscription(startingOffsets: String) = startingOffsets.equalsIgnoreCase("subscription")

  private def progressSubscription(options: CheckedOptions): Option[String] = {
    val name = options.get("progressSubscription")
    if (name.isEmpty && options.explicit("startingOffsets").exists(isSubscription))
      throw Conditions.OptionIncomplete(present = "startingOffsets=subscription", missing = "progressSubscription")
        .exception
    name
  }
}
