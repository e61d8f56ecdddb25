package io.github.pulsarspark.schema.columns

import org.apache.spark.sql.types._

import io.github.pulsarspark.format.DecodeDepth
import io.github.pulsarspark.position.Position
import io.github.pulsarspark.schema.columns.MetadataReader.{Factory, setTime, text}

/** Every metadata column: the one list that reads, writes and documentation share. The rows of `docs/use/columns.md`
  * are made from it.
  *
  * There is no `__redeliveryCount`: that number belongs to one delivery through a subscription. Reads address messages
  * by position, so it would always be 0.
  */
object MetadataColumns {
  import MetadataWriter.{Column, Input}

  private type Writer = Input => MetadataWriter

  private val properties  = MapType(StringType, StringType)
  private val textOrBytes = Seq(StringType, BinaryType)

  /** A column that the metadata of an entry fills. */
  private def ofEntry(name: String, dataType: DataType, doc: String, nullWhen: String = "")(reader: Factory) =
    MetadataColumn(name, dataType, doc, reason(nullWhen), DecodeDepth.Entry, Some(reader), None)

  /** A column that needs the entry opened as far as its messages. */
  private def ofMessage(name: String, dataType: DataType, doc: String, nullWhen: String = "")(reader: Factory) =
    MetadataColumn(name, dataType, doc, reason(nullWhen), DecodeDepth.Message, Some(reader), None)

  /** A column that only rows to write have. */
  private def writeOnly(name: String, dataType: DataType, doc: String) =
    MetadataColumn(name, dataType, doc, None, DecodeDepth.Entry, None, None)

  private def reason(nullWhen: String) = Option(nullWhen).filter(_.nonEmpty)

  private implicit final class Writable(column: MetadataColumn) {
    def written(doc: String, types: Seq[DataType] = Seq(column.dataType))(writer: Writer): MetadataColumn =
      column.copy(writer = Some(Column(types, doc, writer)))
  }

  val Key: MetadataColumn =
    ofMessage("__key", BinaryType, "Key as bytes (text keys as UTF-8).", "the message has no key")(_ =>
      MetadataReader.key
    ).written(
      "STRING: a text key; BINARY: a bytes key. Both go to the partition that the Java client picks; the Python and " +
        "C++ clients have another hash by default",
      textOrBytes
    )(MetadataWriter.key)

  val Topic: MetadataColumn =
    ofEntry("__topic", StringType, "Full name of the topic partition.")(MetadataReader.topic)
      .written("topic of the row, unless the option `topic` is set")(_ =>
        (row, i, message) => message.topic = row.getUTF8String(i)
      )

  val MessageId: MetadataColumn =
    ofMessage("__messageId", BinaryType, "Message id as native clients serialize it.")(MetadataReader.messageId)

  val PublishTime: MetadataColumn =
    ofEntry("__publishTime", TimestampType, "Time of sending by the producer's clock, in milliseconds.")(_ =>
      (m, row, i) => setTime(row, i, m.publishTime)
    )

  val EventTime: MetadataColumn =
    ofMessage("__eventTime", TimestampType, "Event time set by the application, in milliseconds.",
      "the application sets none")(_ =>
      (m, row, i) => if (m.eventTime == 0) row.setNullAt(i) else setTime(row, i, m.eventTime)
    ).written("TIMESTAMP, or milliseconds as BIGINT: event time, after 1970", Seq(TimestampType, LongType))(
      MetadataWriter.eventTime
    )

  val MessageProperties: MetadataColumn =
    ofMessage("__messageProperties", properties, "Properties, an empty map without any.")(_ =>
      MetadataReader.properties
    )
      .written("properties, without nulls")(MetadataWriter.properties)

  val KeyIsText: MetadataColumn =
    ofMessage("__keyIsText", BooleanType, "Whether the key is a text.", "the message has no key")(_ =>
      MetadataReader.keyIsText
    ).written("true: a BINARY `__key` is a text key, too")(MetadataWriter.keyIsText)

  val OrderingKey: MetadataColumn =
    ofMessage("__orderingKey", BinaryType, "Ordering key.", "the message has no ordering key")(_ =>
      (m, row, i) => row.update(i, m.orderingKey)
    ).written("STRING or BINARY: ordering key", textOrBytes)(MetadataWriter.orderingKey)

  val AtPosition: MetadataColumn =
    ofMessage("__position", StringType, "Position as `ledger:entry:batchIndex`, as offset options take it.")(_ =>
      (m, row, i) => row.update(i, text(Position(m.ledgerId, m.entryId, m.batchIndex).toString))
    )

  val Partition: MetadataColumn =
    ofEntry("__partition", IntegerType, "Index of the partition.", "the topic has no partitions")(
      MetadataReader.partition
    ).written("partition to send to; null: by key, else in turn")(MetadataWriter.partition)

  val LedgerId: MetadataColumn =
    ofEntry("__ledgerId", LongType, "Ledger that holds the message.")(_ => (m, row, i) => row.setLong(i, m.ledgerId))

  val EntryId: MetadataColumn =
    ofEntry("__entryId", LongType, "Entry in the ledger.")(_ => (m, row, i) => row.setLong(i, m.entryId))

  val BatchIndex: MetadataColumn =
    ofMessage("__batchIndex", IntegerType, "Index in the producer's batch.", "the message is not batched")(_ =>
      (m, row, i) => if (m.batchIndex < 0) row.setNullAt(i) else row.setInt(i, m.batchIndex)
    )

  val SequenceId: MetadataColumn =
    ofMessage("__sequenceId", LongType, "Sequence id set by the producer.")(_ =>
      (m, row, i) => row.setLong(i, m.sequenceId)
    ).written("sequence id, ascending for each task and topic")(MetadataWriter.sequenceId)

  val ProducerName: MetadataColumn =
    ofEntry("__producerName", StringType, "Name of the producer.")(_ => MetadataReader.producerName)

  val SchemaVersion: MetadataColumn =
    ofEntry("__schemaVersion", BinaryType, "Version of the schema the message was written with.",
      "the message has no schema version")(_ =>
      (m, row, i) => if (m.schemaVersion.isEmpty) row.setNullAt(i) else row.update(i, m.schemaVersion)
    )

  val ReplicatedFrom: MetadataColumn =
    ofEntry("__replicatedFrom", StringType, "Cluster the message was replicated from.", "the message is local")(_ =>
      (m, row, i) => if (m.replicatedFrom == null) row.setNullAt(i) else row.update(i, text(m.replicatedFrom))
    )

  val BrokerPublishTime: MetadataColumn =
    ofEntry("__brokerPublishTime", TimestampType, "Time of storing by the broker's clock.",
      "the broker does not add it")(_ =>
      (m, row, i) => if (m.brokerPublishTime < 0) row.setNullAt(i) else setTime(row, i, m.brokerPublishTime)
    )

  val Index: MetadataColumn =
    ofMessage("__index", LongType, "Index of the message in the topic.", "the broker does not add it")(_ =>
      (m, row, i) => if (m.index < 0) row.setNullAt(i) else row.setLong(i, m.index)
    )

  val DeliverAt: MetadataColumn =
    ofMessage("__deliverAt", TimestampType, "Time before which shared subscriptions do not deliver the message.",
      "the message has no such time")(_ =>
      (m, row, i) => if (m.deliverAtTime == 0) row.setNullAt(i) else setTime(row, i, m.deliverAtTime)
    ).written("the same, after 1970")(input =>
      (row, i, message) => message.deliverAt = input.millis(row.getLong(i))
    )

  val DeliverAfter: MetadataColumn =
    writeOnly("__deliverAfter", DayTimeIntervalType(), "Delay of `__deliverAt`.")
      .written("the same as a delay that begins when the message is sent")(MetadataWriter.deliverAfter)

  val ReplicationClusters: MetadataColumn =
    writeOnly("__replicationClusters", ArrayType(StringType), "Clusters to replicate the message to.")
      .written("clusters to replicate to; empty: none. Such messages are not sent in batches")(
        MetadataWriter.replicationClusters
      )

  /** Columns after the value columns unless the user selects others. The last two are included so that rows that are
    * written as they were read make the same messages.
    */
  val default: Seq[MetadataColumn] =
    Seq(Key, Topic, MessageId, PublishTime, EventTime, MessageProperties, KeyIsText, OrderingKey)

  /** Columns that are filled only when a query names them. */
  val hidden: Seq[MetadataColumn] = Seq(AtPosition, Partition, LedgerId, EntryId, BatchIndex, SequenceId, ProducerName,
    SchemaVersion, ReplicatedFrom, BrokerPublishTime, Index, DeliverAt)

  /** The columns of reads. */
  val all: Seq[MetadataColumn] = default ++ hidden

  /** The columns of rows to write, in the order in which they are set on a message. */
  val inWrites: Seq[MetadataColumn] = all ++ Seq(DeliverAfter, ReplicationClusters)

  private val ofReads  = all.map(c => c.name -> c).toMap
  private val ofWrites = inWrites.map(c => c.name -> c).toMap

  /** The column of reads that a column of a table is; None for value columns. */
  def of(column: StructField): Option[MetadataColumn] = if (FieldNames.isMarked(column)) None else byName(column.name)

  /** The column of rows to write that a column is; None for value columns. */
  def written(column: StructField): Option[MetadataColumn] =
    if (FieldNames.isMarked(column)) None else writable(column.name)

  /** Columns of `metadata` that a table has beside others: one of the others wins over a metadata column of its name,
    * as Spark compares names.
    */
  def besides(others: StructType, metadata: Seq[MetadataColumn], isCaseSensitive: Boolean): Seq[MetadataColumn] =
    metadata.filterNot(m =>
      others.fieldNames.exists(name => if (isCaseSensitive) name == m.name else name.equalsIgnoreCase(m.name))
    )

  /** The column of reads that has this name; None for value columns. */
  def byName(name: String): Option[MetadataColumn] = ofReads.get(name)

  /** The column of rows to write that has this name; None for value columns. */
  def writable(name: String): Option[MetadataColumn] = ofWrites.get(name)
}
