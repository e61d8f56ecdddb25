package io.github.pulsarspark.schema.columns

import org.apache.spark.sql.catalyst.InternalRow
import org.apache.spark.sql.catalyst.util.{ArrayBasedMapData, GenericArrayData}
import org.apache.spark.sql.types._
import org.apache.spark.unsafe.types.UTF8String

import io.github.pulsarspark.UnitSuite

/** Metadata columns of one row onto one message: conversions, and values that no message can have. */
class MetadataWriterSuite extends UnitSuite {

  private final class Refused(value: String, why: String) extends RuntimeException(s"$value: $why")
  private val notUtf8 = UTF8String.fromBytes(Array[Byte](-1))

  private def input(kind: DataType)                         = new MetadataWriter.Input(kind, new Refused(_, _))
  private def text(s: String)                               = UTF8String.fromString(s)
  private def refused(expected: String)(body: => Any): Unit =
    assertEquals(intercept[Refused](body).getMessage, expected)
  private def written(writer: MetadataWriter, value: Any)        = set(new OutgoingMessage, writer, value)
  private def set(m: OutgoingMessage, w: MetadataWriter, v: Any) = { w.set(InternalRow(v), 0, m); m }

  test("a key of text or of bytes, and bytes that are said to be text") {
    val asText  = written(MetadataWriter.key(input(StringType)), text("k"))
    val asBytes = written(MetadataWriter.key(input(BinaryType)), "k".getBytes)
    assertEquals((new String(asText.key), asText.keyIsBytes, asBytes.keyIsBytes), ("k", false, true))
    val isText = MetadataWriter.keyIsText(input(BooleanType))
    assert(set(asBytes, isText, false).keyIsBytes)
    assert(!set(asBytes, isText, true).keyIsBytes)
    assertEquals(written(isText, true).key, null, "no key, nothing to say of it")
    refused("bytes that are not UTF-8: a BINARY would hold them")(
      written(MetadataWriter.key(input(StringType)), notUtf8)
    )
    val bytes = written(MetadataWriter.key(input(BinaryType)), Array[Byte](-1))
    refused("true beside a `__key` that is not UTF-8: without this column it is a key of bytes")(
      set(bytes, isText, true)
    )
  }

  test("a partition is not negative, and has 32 bits") {
    val partition = MetadataWriter.partition(input(LongType))
    assertEquals(written(partition, 7L).partition, 7)
    refused("-1: it cannot be negative")(written(partition, -1L))
    refused(s"4294967296: it is not within ${Int.MinValue} and ${Int.MaxValue}")(written(partition, 1L << 32))
    val other = intercept[IllegalStateException](MetadataWriter.partition(input(DateType)))
    assertEquals(other.getMessage, "DateType is no type of numbers")
  }

  test("an event time, of Spark or in milliseconds, after 1970") {
    val (time, number) = (MetadataWriter.eventTime(input(TimestampType)), MetadataWriter.eventTime(input(IntegerType)))
    assertEquals((written(time, 1999L).eventTime, written(number, 5).eventTime), (1L, 5L))
    val why = "Pulsar keeps times after 1970-01-01 00:00:00 UTC only"
    refused(s"0 ms since 1970: $why")(written(time, 999L))
    refused(s"-1 ms since 1970: $why")(written(time, -1L))
    refused(s"0 ms since 1970: $why")(written(number, 0))
  }

  test("ids of a task ascend, which a broker would drop without an error if they did not") {
    val ids = MetadataWriter.sequenceId(input(LongType))
    assertEquals(Seq(0L, 1L, 7L).map(written(ids, _).sequenceId), Seq(0L, 1L, 7L))
    refused("7 after 7: the ids of a task must ascend for each topic: sort the rows, or drop the column")(
      written(ids, 7L)
    )
    refused("-1: it cannot be negative")(written(ids, -1L))
    assertEquals(written(MetadataWriter.sequenceId(input(LongType)), 3L).sequenceId, 3L, "of another topic")
  }

  test("a delay is rounded up, so that nothing is early; a message has one or a time") {
    val after = MetadataWriter.deliverAfter(input(DayTimeIntervalType()))
    assertEquals(Seq(0L, 1L, 1000L, 1001L).map(written(after, _).deliverAfter), Seq(0L, 1L, 1L, 2L))
    refused("-1: it cannot be negative")(written(after, -1000L))
    val timed = new OutgoingMessage
    timed.deliverAt = 9
    assertEquals(set(timed, after, 0L).deliverAfter, 0L)
    refused("a delay: the row has a time in `__deliverAt`, too")(set(timed, after, 1L))
  }

  private def map(entries: (UTF8String, UTF8String)*) = new ArrayBasedMapData(
    new GenericArrayData(entries.map(_._1).toArray[Any]),
    new GenericArrayData(entries.map(_._2).toArray[Any])
  )

  test("properties are texts") {
    val properties = MetadataWriter.properties(input(MapType(StringType, StringType)))
    val found      = written(properties, map(text("a") -> text("1"), text("b") -> text(""))).properties
    assertEquals((found.get("a"), found.get("b"), found.size), ("1", "", 2))
    refused("null for `a`: properties of messages have a text")(written(properties, map(text("a") -> null)))
    refused("bytes that are not UTF-8: a BINARY would hold them")(written(properties, map(notUtf8 -> text("1"))))
    refused("bytes that are not UTF-8: a BINARY would hold them")(written(properties, map(text("a") -> notUtf8)))
  }

  test("clusters have names") {
    val clusters = MetadataWriter.replicationClusters(input(ArrayType(StringType)))
    assertEquals(
      written(clusters, new GenericArrayData(Array[Any](text("eu"), text("us")))).replicationClusters.toString,
      "[eu, us]"
    )
    refused("null: clusters have names")(written(clusters, new GenericArrayData(Array[Any](null))))
  }

  test("an ordering key of text or of bytes") {
    val of = MetadataWriter.orderingKey _
    assertEquals(new String(written(of(input(StringType)), text("k")).orderingKey), "k")
    assertEquals(new String(written(of(input(BinaryType)), "b".getBytes).orderingKey), "b")
  }
}
