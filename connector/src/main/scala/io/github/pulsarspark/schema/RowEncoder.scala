package io.github.pulsarspark.schema

import java.util.{Arrays, HashMap => JHashMap, Map => JMap}

import org.apache.spark.sql.catalyst.InternalRow
import org.apache.spark.sql.catalyst.util.MapData
import org.apache.spark.sql.types.StringType

import io.github.pulsarspark.errors.PulsarErrors

/** Turns rows into messages as a [[WritePlan]] says. Made once per task, not thread-safe. */
private[pulsarspark] final class RowEncoder(plan: WritePlan) {
  private val message     = new OutgoingMessage
  private val value       = ValueEncoder(plan)
  private val separateKey = KeyValueEncoder.separateKey(plan).orNull
  private val topic       = plan.metadata.getOrElse("__topic", -1)
  private val key         = plan.metadata.getOrElse("__key", -1)
  private val eventTime   = plan.metadata.getOrElse("__eventTime", -1)
  private val properties  = plan.metadata.getOrElse("__messageProperties", -1)
  private val keyIsText   = key >= 0 && plan.input(key).dataType.isInstanceOf[StringType]

  message.keyIsBytes = separateKey != null || key >= 0 && !keyIsText

  /** The same object each time. Fails with a named error when the row cannot be written. */
  def encode(row: InternalRow): OutgoingMessage = {
    message.topic = if (topic < 0 || row.isNullAt(topic)) null else row.getUTF8String(topic)
    message.key = if (separateKey == null) givenKey(row) else keyOfColumn(row)
    message.eventTime = if (eventTime < 0 || row.isNullAt(eventTime)) 0 else millis(row.getLong(eventTime))
    message.properties = if (properties < 0 || row.isNullAt(properties)) null else javaMap(row.getMap(properties))
    message.value = value.encode(row)
    message
  }

  private def givenKey(row: InternalRow): Array[Byte] =
    if (key < 0 || row.isNullAt(key)) null
    else if (keyIsText) row.getUTF8String(key).getBytes
    else row.getBinary(key)

  /** The column `key` is the key of the message; a `__key` next to it, as in rows that were read, can only be the same. */
  private def keyOfColumn(row: InternalRow): Array[Byte] = {
    val encoded = separateKey.encode(row)
    val named   = givenKey(row)
    if (named != null && !Arrays.equals(named, encoded))
      throw refused("__key", "something else than the column `key`", "that column is the key of the message")
    encoded
  }

  /** Pulsar has no event times up to 1970: its 0 means that there is none. */
  private def millis(micros: Long): Long = {
    val result = Math.floorDiv(micros, 1000L)
    if (result <= 0)
      throw refused("__eventTime", s"$result ms since 1970", "Pulsar keeps event times after 1970-01-01 00:00:00 UTC only")
    result
  }

  private def javaMap(map: MapData): JMap[String, String] = {
    val keys   = map.keyArray()
    val values = map.valueArray()
    val result = new JHashMap[String, String](2 * map.numElements())
    var i      = 0
    while (i < map.numElements()) {
      val name = keys.getUTF8String(i).toString
      if (values.isNullAt(i)) throw refused("__messageProperties", s"null for `$name`", "properties of messages have a text")
      result.put(name, values.getUTF8String(i).toString)
      i += 1
    }
    result
  }

  private def refused(column: String, what: String, reason: String) =
    PulsarErrors("PULSAR_WRITE_VALUE_NOT_ALLOWED", "field" -> column, "target" -> plan.target, "value" -> what, "reason" -> reason)
}
