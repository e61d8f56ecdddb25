package io.github.pulsarspark.schema.rows

import java.util.{ArrayList => JArrayList, HashMap => JHashMap, List => JList, Map => JMap}

import org.apache.spark.sql.catalyst.InternalRow
import org.apache.spark.sql.catalyst.util.{ArrayData, MapData}
import org.apache.spark.sql.types.StringType

import io.github.pulsarspark.schema.WritePlan
import io.github.pulsarspark.schema.columns.OutgoingMessage

/** Sets on a message what the metadata columns of a row say, but for topic and key. What is null is not set. Made once
  * per task and topic, not thread-safe.
  */
private[schema] final class MetadataEncoder(plan: WritePlan) {
  private val eventTime    = place("__eventTime")
  private val properties   = place("__messageProperties")
  private val orderingKey  = place("__orderingKey")
  private val sequenceId   = place("__sequenceId")
  private val partition    = place("__partition")
  private val deliverAt    = place("__deliverAt")
  private val deliverAfter = place("__deliverAfter")
  private val clusters     = place("__replicationClusters")

  private val orderingKeyIsText = orderingKey >= 0 && plan.input(orderingKey).dataType.isInstanceOf[StringType]
  private var lastSequenceId    = -1L

  private def place(column: String): Int = plan.metadata.getOrElse(column, -1)

  /** Whether the row has a value for a column that may not be there. */
  private def has(row: InternalRow, column: Int): Boolean = column >= 0 && !row.isNullAt(column)

  def set(row: InternalRow, message: OutgoingMessage): Unit = {
    message.eventTime = if (has(row, eventTime)) time("__eventTime", row.getLong(eventTime)) else 0
    message.properties = if (has(row, properties)) javaMap(row.getMap(properties)) else null
    message.orderingKey =
      if (!has(row, orderingKey)) null
      else if (orderingKeyIsText) row.getUTF8String(orderingKey).getBytes
      else row.getBinary(orderingKey)
    message.sequenceId = if (has(row, sequenceId)) ascending(row.getLong(sequenceId)) else -1
    message.partition = if (has(row, partition)) notNegative("__partition", row.getInt(partition).toLong).toInt else -1
    message.deliverAt = if (has(row, deliverAt)) time("__deliverAt", row.getLong(deliverAt)) else 0
    message.deliverAfter = if (has(row, deliverAfter)) delay(row.getLong(deliverAfter)) else 0
    if (message.deliverAt != 0 && message.deliverAfter != 0)
      throw plan.refused("__deliverAfter", "a delay", "the row has a time in `__deliverAt`, too")
    message.replicationClusters = if (has(row, clusters)) javaList(row.getArray(clusters)) else null
  }

  /** Pulsar has no times up to 1970: its 0 means that there is none. */
  private def time(column: String, micros: Long): Long = {
    val result = Math.floorDiv(micros, 1000L)
    if (result <= 0)
      throw plan.refused(column, s"$result ms since 1970", "Pulsar keeps times after 1970-01-01 00:00:00 UTC only")
    result
  }

  /** Up, so that nothing is delivered too early. */
  private def delay(micros: Long): Long = notNegative("__deliverAfter", -Math.floorDiv(-micros, 1000L))

  /** A broker that looks for duplicates drops, without an error, what does not ascend. */
  private def ascending(id: Long): Long = {
    notNegative("__sequenceId", id)
    if (id <= lastSequenceId)
      throw plan.refused(
        "__sequenceId",
        s"$id after $lastSequenceId",
        "the ids of a task have to ascend for each topic: sort the rows, or leave the column out"
      )
    lastSequenceId = id
    id
  }

  private def notNegative(column: String, number: Long): Long =
    if (number >= 0) number else throw plan.refused(column, number.toString, "it cannot be negative")

  private def javaMap(map: MapData): JMap[String, String] = {
    val keys   = map.keyArray()
    val values = map.valueArray()
    val result = new JHashMap[String, String](2 * map.numElements())
    var i      = 0
    while (i < map.numElements()) {
      val name = text(keys, i)
      if (values.isNullAt(i))
        throw plan.refused("__messageProperties", s"null for `$name`", "properties of messages have a text")
      result.put(name, text(values, i))
      i += 1
    }
    result
  }

  private def text(properties: ArrayData, i: Int) =
    plan.text(properties.getUTF8String(i), "__messageProperties").toString

  private def javaList(names: ArrayData): JList[String] = {
    val result = new JArrayList[String](names.numElements())
    (0 until names.numElements()).foreach { i =>
      if (names.isNullAt(i)) throw plan.refused("__replicationClusters", "null", "clusters have names")
      result.add(names.getUTF8String(i).toString)
    }
    result
  }
}
