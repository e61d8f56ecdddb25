package io.github.pulsarspark.schema.columns

import java.nio.charset.StandardCharsets.UTF_8
import java.util.Arrays

import org.apache.spark.sql.catalyst.InternalRow
import org.apache.spark.sql.catalyst.util.MapData
import org.apache.spark.unsafe.types.UTF8String

import io.github.pulsarspark.format.entry.MessageView
import io.github.pulsarspark.position.Position
import io.github.pulsarspark.schema.convert.{MapBuilder, TimeOutOfRange}

/** Fills one metadata column of a row, with values of its own: none points into the bytes of the entry. Millisecond
  * times become Spark's microseconds; what a message does not have is null.
  */
private[schema] abstract class MetadataReader {
  def set(m: MessageView, row: InternalRow, ordinal: Int): Unit
}

private[schema] object MetadataReader {

  def apply(column: MetadataColumn, topic: String, partition: Int): MetadataReader = column.name match {
    case "__key"         => key
    case "__topic"       => topicName(topic)
    case "__messageId"   => messageId(partition)
    case "__publishTime" => (m, row, i) => row.setLong(i, micros(m.publishTime))
    case "__eventTime" => (m, row, i) => if (m.eventTime == 0) row.setNullAt(i) else row.setLong(i, micros(m.eventTime))
    case "__messageProperties" => (m, row, i) => row.update(i, properties(m))
    case "__position"      => (m, row, i) => row.update(i, text(Position(m.ledgerId, m.entryId, m.batchIndex).toString))
    case "__partition"     => (_, row, i) => if (partition < 0) row.setNullAt(i) else row.setInt(i, partition)
    case "__ledgerId"      => (m, row, i) => row.setLong(i, m.ledgerId)
    case "__entryId"       => (m, row, i) => row.setLong(i, m.entryId)
    case "__batchIndex"    => (m, row, i) => if (m.batchIndex < 0) row.setNullAt(i) else row.setInt(i, m.batchIndex)
    case "__sequenceId"    => (m, row, i) => row.setLong(i, m.sequenceId)
    case "__producerName"  => producerName
    case "__schemaVersion" =>
      (m, row, i) => if (m.schemaVersion.isEmpty) row.setNullAt(i) else row.update(i, m.schemaVersion)
    case "__orderingKey"    => (m, row, i) => row.update(i, m.orderingKey)
    case "__replicatedFrom" =>
      (m, row, i) => if (m.replicatedFrom == null) row.setNullAt(i) else row.update(i, text(m.replicatedFrom))
    case "__brokerPublishTime" =>
      (m, row, i) => if (m.brokerPublishTime < 0) row.setNullAt(i) else row.setLong(i, micros(m.brokerPublishTime))
    case "__index"     => (m, row, i) => if (m.index < 0) row.setNullAt(i) else row.setLong(i, m.index)
    case "__deliverAt" =>
      (m, row, i) => if (m.deliverAtTime == 0) row.setNullAt(i) else row.setLong(i, micros(m.deliverAtTime))
  }

  private def micros(millis: Long): Long =
    if (millis.abs > Long.MaxValue / 1000) throw new TimeOutOfRange(millis) else millis * 1000

  private def text(s: String): UTF8String = UTF8String.fromString(s)

  private val key: MetadataReader = (m, row, i) =>
    if (m.keyLength < 0) row.setNullAt(i)
    else row.update(i, Arrays.copyOfRange(m.keyBytes, m.keyOffset, m.keyOffset + m.keyLength))

  private def topicName(topic: String): MetadataReader = {
    val name = text(topic)
    (_, row, i) => row.update(i, name)
  }

  private def messageId(partition: Int): MetadataReader = {
    val bytes = new MessageIdBytes(partition)
    (m, row, i) =>
      row.update(
        i,
        if (m.firstLedgerId < 0) bytes(m.ledgerId, m.entryId, m.batchIndex, m.batchSize)
        else bytes.ofChunks(m.firstLedgerId, m.firstEntryId, m.ledgerId, m.entryId)
      )
  }

  /** Producers change rarely from entry to entry, so the name in Spark's form is kept. */
  private def producerName: MetadataReader = new MetadataReader {
    private var last: String                                               = ""
    private var lastText: UTF8String                                       = UTF8String.EMPTY_UTF8
    override def set(m: MessageView, row: InternalRow, ordinal: Int): Unit = {
      if (m.producerName != last) {
        last = m.producerName
        lastText = UTF8String.fromBytes(last.getBytes(UTF_8))
      }
      row.update(ordinal, lastText)
    }
  }

  private def properties(m: MessageView): MapData = if (m.propertyCount == 0) MapBuilder.Empty
  else {
    val map = new MapBuilder(m.propertyCount)
    var i   = 0
    while (i < m.propertyCount) {
      val at = 4 * i
      map.put(range(m, at), range(m, at + 2))
      i += 1
    }
    map.result()
  }

  private def range(m: MessageView, at: Int): UTF8String =
    UTF8String.fromBytes(
      Arrays.copyOfRange(m.propertyBytes, m.propertyRanges(at), m.propertyRanges(at) + m.propertyRanges(at + 1))
    )
}
