package io.github.pulsarspark.schema.columns

import java.util.{List => JList, Map => JMap}

import org.apache.spark.unsafe.types.UTF8String

/** The message to send for a row. One instance per [[RowEncoder]], overwritten for each row: callers may keep what it
  * refers to, but not the instance itself. Plain variables and nulls, because this is the hot path.
  */
private[pulsarspark] final class OutgoingMessage {

  /** Topic of the row, null = none. Valid only until the next row. */
  var topic: UTF8String = _

  /** Key, null = none; the UTF-8 bytes of a text key unless `keyIsBytes`. */
  var key: Array[Byte] = _

  /** True if the key is not text: its column is of type BINARY, and no other column marks it as a text. */
  var keyIsBytes: Boolean = false

  /** Encoded value. */
  val payload = new EncodedValue

  /** Encoded value in an array that is not written again, null = tombstone. */
  def value: Array[Byte] = payload.toArray

  def value_=(bytes: Array[Byte]): Unit = payload.set(bytes)

  /** Milliseconds since 1970, 0 = none. */
  var eventTime: Long = 0

  /** Properties, null = none. */
  var properties: JMap[String, String] = _

  /** Ordering key, null = none. */
  var orderingKey: Array[Byte] = _

  /** Sequence id, -1 = the producer assigns one. */
  var sequenceId: Long = -1

  /** Index of the partition, -1 = by key, else round-robin. */
  var partition: Int = -1

  /** Milliseconds since 1970, 0 = none. */
  var deliverAt: Long = 0

  /** Milliseconds from sending to delivery, 0 = none. */
  var deliverAfter: Long = 0

  /** Clusters to replicate to, empty = none but this one, null = those of the namespace. */
  var replicationClusters: JList[String] = _

  /** Removes the values that the metadata columns of the previous row set. */
  private[schema] def clear(): Unit = {
    topic = null
    key = null
    eventTime = 0
    properties = null
    orderingKey = null
    sequenceId = -1
    partition = -1
    deliverAt = 0
    deliverAfter = 0
    replicationClusters = null
  }
}
