package io.github.pulsarspark.schema.columns

import java.util.{ArrayList => JArrayList, HashMap => JHashMap}

import org.apache.spark.sql.catalyst.InternalRow
import org.apache.spark.sql.types.{DataType, NumericType, StringType}
import org.apache.spark.unsafe.types.UTF8String

import io.github.pulsarspark.schema.convert.NumberConversion

/** Sets one metadata column of a row on a message. Called only if the row has a value there. It has state for the next
  * row, so a task creates one for each topic.
  */
private[schema] abstract class MetadataWriter {
  def set(row: InternalRow, ordinal: Int, message: OutgoingMessage): Unit
}

private[schema] object MetadataWriter {

  /** A metadata column as it is written.
    *
    * @param types
    *   the types that the column may have in the rows; one of numbers stands for every other
    * @param doc
    *   what a write does with the value
    */
  final case class Column(types: Seq[DataType], doc: String, writer: Input => MetadataWriter)

  /** The column of the rows, known to a writer before the first row.
    *
    * @param dataType
    *   type of the column in the rows
    * @param refused
    *   the error for a value that no message can have; takes the value and the reason
    */
  final class Input(dataType: DataType, val refused: (String, String) => RuntimeException) {

    /** Reads whole numbers of so many bits from a column of any type of numbers. */
    def whole(bits: Int): NumberConversion.ToLong =
      new NumberConversion(refused).whole(dataType, bits)
        .getOrElse(throw new IllegalStateException(s"$dataType is no type of numbers"))

    def isText: Boolean = dataType.isInstanceOf[StringType]

    /** Fails unless the value is UTF-8: anything else would be replaced on its way through a text of Java. */
    def text(value: UTF8String): UTF8String =
      if (value.isValid) value else throw refused("bytes that are not UTF-8", "a BINARY would hold them")

    def notNegative(number: Long): Long =
      if (number >= 0) number else throw refused(number.toString, "it cannot be negative")

    def isNumber: Boolean = dataType.isInstanceOf[NumericType]

    /** Milliseconds of a time. */
    def millis(micros: Long): Long = afterStart(Math.floorDiv(micros, 1000L))

    /** Pulsar's 0 means that there is no time. */
    def afterStart(millis: Long): Long =
      if (millis > 0) millis
      else throw refused(s"$millis ms since 1970", "Pulsar keeps times after 1970-01-01 00:00:00 UTC only")
  }

  def key(input: Input): MetadataWriter =
    if (input.isText) (row, i, message) => {
      message.key = input.text(row.getUTF8String(i)).getBytes
      message.keyIsBytes = false
    }
    else (row, i, message) => {
      message.key = row.getBinary(i)
      message.keyIsBytes = true
    }

  /** Sets the kind of the key. A key of type STRING is always a text. Runs after the writer of `__key`. */
  def keyIsText(input: Input): MetadataWriter = (row, i, message) =>
    if (message.key != null && message.keyIsBytes && row.getBoolean(i)) {
      if (!UTF8String.fromBytes(message.key).isValid)
        throw input.refused("true beside a `__key` that is not UTF-8", "without this column it is a key of bytes")
      message.keyIsBytes = false
    }

  def partition(input: Input): MetadataWriter = {
    val indexes = input.whole(32)
    (row, i, message) => message.partition = input.notNegative(indexes(row, i)).toInt
  }

  def orderingKey(input: Input): MetadataWriter =
    if (input.isText) (row, i, message) => message.orderingKey = row.getUTF8String(i).getBytes
    else (row, i, message) => message.orderingKey = row.getBinary(i)

  def eventTime(input: Input): MetadataWriter =
    if (input.isNumber) {
      val millis = input.whole(64)
      (row, i, message) => message.eventTime = input.afterStart(millis(row, i))
    } else (row, i, message) => message.eventTime = input.millis(row.getLong(i))

  /** A broker that looks for duplicates drops, without an error, what does not ascend. */
  def sequenceId(input: Input): MetadataWriter = new MetadataWriter {
    private val ids  = input.whole(64)
    private var last = -1L

    override def set(row: InternalRow, ordinal: Int, message: OutgoingMessage): Unit = {
      val id = input.notNegative(ids(row, ordinal))
      if (id <= last)
        throw input.refused(
          s"$id after $last",
          "the ids of a task must ascend for each topic: sort the rows, or drop the column"
        )
      last = id
      message.sequenceId = id
    }
  }

  /** Rounds up to milliseconds, so that nothing is delivered too early. Runs after the writer of `__deliverAt`. */
  def deliverAfter(input: Input): MetadataWriter = (row, i, message) => {
    message.deliverAfter = input.notNegative(-Math.floorDiv(-row.getLong(i), 1000L))
    if (message.deliverAt != 0 && message.deliverAfter != 0)
      throw input.refused("a delay", "the row has a time in `__deliverAt`, too")
  }

  def properties(input: Input): MetadataWriter = (row, ordinal, message) => {
    val map    = row.getMap(ordinal)
    val keys   = map.keyArray()
    val values = map.valueArray()
    val result = new JHashMap[String, String](2 * map.numElements())
    var i      = 0
    while (i < map.numElements()) {
      val name = input.text(keys.getUTF8String(i)).toString
      if (values.isNullAt(i)) throw input.refused(s"null for `$name`", "properties of messages have a text")
      result.put(name, input.text(values.getUTF8String(i)).toString)
      i += 1
    }
    message.properties = result
  }

  def replicationClusters(input: Input): MetadataWriter = (row, ordinal, message) => {
    val names  = row.getArray(ordinal)
    val result = new JArrayList[String](names.numElements())
    (0 until names.numElements()).foreach { i =>
      if (names.isNullAt(i)) throw input.refused("null", "clusters have names")
      result.add(names.getUTF8String(i).toString)
    }
    message.replicationClusters = result
  }
}
