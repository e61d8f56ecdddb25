package io.github.pulsarspark.schema.columns

import java.nio.charset.StandardCharsets.UTF_8
import java.util.Arrays

import org.apache.spark.sql.catalyst.InternalRow
import org.apache.spark.unsafe.types.UTF8String

import io.github.pulsarspark.format.entry.MessageView
import io.github.pulsarspark.schema.convert.{MapBuilder, TimeOutOfRange}

/** Fills one metadata column of a row. The value is a copy: it never points into the bytes of the entry. A task
  * resolves its readers once for each topic partition.
  */
private[schema] abstract class MetadataReader {
  def set(m: MessageView, row: InternalRow, ordinal: Int): Unit
}

private[schema] object MetadataReader {

  /** Topic partition of a reader, known before the first message.
    *
    * @param topic
    *   full name of the topic partition
    * @param partition
    *   index of the partition, -1 for a topic without partitions
    */
  final case class Origin(topic: String, partition: Int)

  type Factory = Origin => MetadataReader

  def text(s: String): UTF8String = UTF8String.fromString(s)

  /** Sets a time in milliseconds as Spark's microseconds. */
  def setTime(row: InternalRow, ordinal: Int, millis: Long): Unit =
    if (millis > MaxMillis || millis < -MaxMillis) throw new TimeOutOfRange(millis)
    else row.setLong(ordinal, millis * 1000)

  private val MaxMillis = Long.MaxValue / 1000

  val key: MetadataReader = (m, row, i) =>
    if (m.keyLength < 0) row.setNullAt(i)
    else row.update(i, Arrays.copyOfRange(m.keyBytes, m.keyOffset, m.keyOffset + m.keyLength))

  val keyIsText: MetadataReader = (m, row, i) =>
    if (m.keyLength < 0) row.setNullAt(i) else row.setBoolean(i, !m.keyIsBytes)

  def topic(origin: Origin): MetadataReader = {
    val name = text(origin.topic)
    (_, row, i) => row.update(i, name)
  }

  def partition(origin: Origin): MetadataReader =
    if (origin.partition < 0) (_, row, i) => row.setNullAt(i) else (_, row, i) => row.setInt(i, origin.partition)

  def messageId(origin: Origin): MetadataReader = {
    val bytes = new MessageIdBytes(origin.partition)
    (m, row, i) =>
      row.update(
        i,
        if (m.firstLedgerId < 0) bytes(m.ledgerId, m.entryId, m.batchIndex, m.batchSize)
        else bytes.ofChunks(m.firstLedgerId, m.firstEntryId, m.ledgerId, m.entryId)
      )
  }

  /** Keeps the last name in Spark's form, because producers change rarely from entry to entry. */
  def producerName: MetadataReader = new MetadataReader {
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

  val properties: MetadataReader = (m, row, i) =>
    row.update(
      i,
      if (m.propertyCount == 0) MapBuilder.Empty
      else {
        val map = new MapBuilder(m.propertyCount)
        var n   = 0
        while (n < m.propertyCount) {
          map.put(range(m, 4 * n), range(m, 4 * n + 2))
          n += 1
        }
        map.result()
      }
    )

  private def range(m: MessageView, at: Int): UTF8String =
    UTF8String.fromBytes(
      Arrays.copyOfRange(m.propertyBytes, m.propertyRanges(at), m.propertyRanges(at) + m.propertyRanges(at + 1))
    )
}
