package io.github.pulsarspark.schema.columns

import org.apache.spark.sql.types._

import io.github.pulsarspark.format.DecodeDepth
import io.github.pulsarspark.schema.columns.MetadataColumn.{Ignored, InWrites, Written}

/** Every metadata column: the one list that reads, writes and documentation share.
  *
  * There is no `__redeliveryCount`: that number belongs to one delivery through a subscription. Reads address messages
  * by position, so it would always be 0.
  */
object MetadataColumns {

  private val properties = MapType(StringType, StringType)

  private def entry(name: String, dataType: DataType, doc: String, inWrites: InWrites = Ignored) =
    MetadataColumn(name, dataType, doc, DecodeDepth.Entry, inWrites)

  private def message(name: String, dataType: DataType, doc: String, inWrites: InWrites = Ignored) =
    MetadataColumn(name, dataType, doc, DecodeDepth.Message, inWrites)

  /** Shown after the value columns unless the user selects otherwise. */
  val default: Seq[MetadataColumn] = Seq(
    message("__key", BinaryType, "Key as bytes (text keys as UTF-8), null without one.",
      Written(StringType, BinaryType)),
    entry("__topic", StringType, "Full name of the topic partition.", Written(StringType)),
    message("__messageId", BinaryType, "Message id as native clients serialize it."),
    entry("__publishTime", TimestampType, "Time of sending by the producer's clock, in milliseconds."),
    message("__eventTime", TimestampType, "Event time set by the application, in milliseconds, null without one.",
      Written(TimestampType)),
    message("__messageProperties", properties, "Properties, an empty map without any.", Written(properties))
  )

  /** Filled only when a query names them. */
  val hidden: Seq[MetadataColumn] = Seq(
    message("__position", StringType, "Position as `ledger:entry:batchIndex`, as offset options take it."),
    entry("__partition", IntegerType, "Index of the partition, null in a topic without partitions.",
      Written(IntegerType)),
    entry("__ledgerId", LongType, "Ledger that holds the message."),
    entry("__entryId", LongType, "Entry in the ledger."),
    message("__batchIndex", IntegerType, "Index in the producer's batch, null when the message was not batched."),
    message("__sequenceId", LongType, "Sequence id given by the producer.", Written(LongType)),
    entry("__producerName", StringType, "Name of the producer."),
    entry("__schemaVersion", BinaryType, "Version of the schema the message was written with, null without one."),
    message("__orderingKey", BinaryType, "Ordering key, null without one.", Written(StringType, BinaryType)),
    entry("__replicatedFrom", StringType, "Cluster the message was replicated from, null when it is local."),
    entry("__brokerPublishTime", TimestampType,
      "Time of storing by the broker's clock, null when the broker does not add it."),
    message("__index", LongType, "Index of the message in the topic, null when the broker does not add it."),
    message(
      "__deliverAt",
      TimestampType,
      "Time before which shared subscriptions do not deliver the message, null without one.",
      Written(TimestampType)
    )
  )

  val all: Seq[MetadataColumn] = default ++ hidden

  /** Columns that only rows to write can have. */
  private[schema] val writeOnly: Map[String, InWrites] = Map(
    "__deliverAfter"        -> Written(DayTimeIntervalType()),
    "__replicationClusters" -> Written(ArrayType(StringType))
  )

  private val named = all.map(c => c.name -> c).toMap

  def byName(name: String): Option[MetadataColumn] = named.get(name)

  /** What a write does with a column of this name; None for value columns. */
  def inWrites(name: String): Option[InWrites] = byName(name).map(_.inWrites).orElse(writeOnly.get(name))
}
