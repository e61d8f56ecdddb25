package io.github.pulsarspark.schema.columns

import java.nio.charset.StandardCharsets.UTF_8

import org.apache.pulsar.client.api.MessageId
import org.apache.pulsar.client.impl.{BatchMessageIdImpl, ChunkMessageIdImpl, MessageIdImpl}
import org.apache.spark.sql.types._
import org.scalacheck.{Arbitrary, Gen}
import org.scalacheck.Prop.forAll

import io.github.pulsarspark.PropertySuite
import io.github.pulsarspark.format.DecodeDepth
import io.github.pulsarspark.format.entry.MessageView
import io.github.pulsarspark.schema.TopicSchema
import io.github.pulsarspark.schema.rows.{Messages, Plain, RowDecoder}

/** Metadata columns of messages, by [[MetadataReader]]. */
class MetadataColumnsSuite extends PropertySuite {

  private val all = StructType(MetadataColumns.all.map(c => StructField(c.name, c.dataType)))

  private def read(m: MessageView, columns: StructType = all, partition: Int = 3): Map[String, Any] =
    Plain.ofRow(RowDecoder(Messages.topic, partition, columns, TopicSchema.Bytes, Messages.noOtherVersion).decode(m),
      columns)

  private def full: MessageView = {
    val m = Messages.of("v".getBytes, Messages.version(2))
    m.publishTime = 1700000000001L
    m.eventTime = 1700000000002L
    m.brokerPublishTime = 1700000000003L
    m.deliverAtTime = 1700000000004L
    m.index = 99
    m.sequenceId = 77
    m.producerName = "prodücer"
    m.replicatedFrom = "east"
    m.orderingKey = Array[Byte](1, -1)
    m.keyBytes = "..kéy..".getBytes(UTF_8)
    m.keyOffset = 2
    m.keyLength = 4
    m.propertyBytes = "ab12a3".getBytes(UTF_8)
    m.propertyCount = 3
    m.propertyRanges = Array(0, 1, 2, 1, 1, 1, 3, 1, 4, 1, 5, 1)
    m
  }

  test("every column is read from a message with all metadata") {
    val expected = Map[String, Any](
      "__key"               -> "kéy".getBytes(UTF_8).toVector,
      "__topic"             -> Messages.topic,
      "__messageId"         -> new BatchMessageIdImpl(12, 34, 3, 5, 10, null).toByteArray.toVector,
      "__publishTime"       -> 1700000000001000L,
      "__eventTime"         -> 1700000000002000L,
      "__messageProperties" -> Map("a" -> "3", "b" -> "2"),
      "__keyIsText"         -> true,
      "__position"          -> "12:34:5",
      "__partition"         -> 3,
      "__ledgerId"          -> 12L,
      "__entryId"           -> 34L,
      "__batchIndex"        -> 5,
      "__sequenceId"        -> 77L,
      "__producerName"      -> "prodücer",
      "__schemaVersion"     -> Vector[Byte](0, 0, 0, 0, 0, 0, 0, 2),
      "__orderingKey"       -> Vector[Byte](1, -1),
      "__replicatedFrom"    -> "east",
      "__brokerPublishTime" -> 1700000000003000L,
      "__index"             -> 99L,
      "__deliverAt"         -> 1700000000004000L
    )
    assertEquals(read(full), expected)
  }

  test("a column is null only when the list says so") {
    val m = new MessageView
    m.ledgerId = 1
    m.entryId = 2
    val row     = read(m, partition = -1)
    val present = Set(
      "__topic",
      "__messageId",
      "__publishTime",
      "__messageProperties",
      "__position",
      "__ledgerId",
      "__entryId",
      "__sequenceId",
      "__producerName"
    )
    assertEquals(row.collect { case (name, null) => name }.toSet, MetadataColumns.all.map(_.name).toSet -- present)
    assertEquals(MetadataColumns.all.filter(_.nullWhen.isEmpty).map(_.name).toSet, present)
    assertEquals[Any, Any](row("__messageProperties"), Map.empty)
    assertEquals[Any, Any](row("__position"), "1:2")
    assertEquals[Any, Any](row("__messageId"), new MessageIdImpl(1, 2, -1).toByteArray.toVector)
  }

  property("message ids are those of the Java client, which reads them back") {
    val ids = Gen.zip(
      Gen.choose(0L, Long.MaxValue),
      Gen.choose(0L, Long.MaxValue),
      Gen.choose(-1, 1000),
      Gen.option(Gen.zip(Gen.choose(0, 9999), Gen.choose(1, 10000)))
    )
    forAll(ids) { case (ledger, entry, partition, batch) =>
      val expected = batch match {
        case Some((index, size)) => new BatchMessageIdImpl(ledger, entry, partition, index, size, null)
        case None                => new MessageIdImpl(ledger, entry, partition)
      }
      val bytes = new MessageIdBytes(partition)(ledger, entry, batch.fold(-1)(_._1), batch.fold(0)(_._2))
      assertEquals(bytes.toSeq, expected.toByteArray.toSeq)
      assertEquals(MessageId.fromByteArray(bytes), expected: MessageId)
    }
  }

  property("ids of messages in chunks are those of the Java client, which reads them back") {
    val number = Gen.choose(0L, Long.MaxValue)
    forAll(Gen.zip(number, number), Gen.zip(number, number), Gen.choose(-1, 1000)) { case (first, last, partition) =>
      val expected =
        new ChunkMessageIdImpl(new MessageIdImpl(first._1, first._2, partition),
          new MessageIdImpl(last._1, last._2, partition))
      val m = Messages.of("v".getBytes)
      m.firstLedgerId = first._1
      m.firstEntryId = first._2
      m.ledgerId = last._1
      m.entryId = last._2
      m.batchIndex = -1
      val row = read(m, StructType(all.filter(_.name == "__messageId")), partition)
      assertEquals[Any, Any](row("__messageId"), expected.toByteArray.toVector)
      assertEquals(MessageId.fromByteArray(expected.toByteArray), expected: MessageId)
    }
  }

  property("a repeated property has its last value, as in the Java client") {
    val entries =
      Gen.choose(0, 60).flatMap(
        Gen.listOfN(_, Gen.zip(Gen.choose(0, 40).map(n => s"k$n"), Arbitrary.arbitrary[Int].map(_.toString)))
      )
    forAll(entries) { properties =>
      val m     = new MessageView
      val parts = properties.flatMap(p => Seq(p._1, p._2)).map(_.getBytes(UTF_8))
      m.propertyBytes = parts.flatten.toArray
      m.propertyCount = properties.size
      m.propertyRanges =
        parts.scanLeft(0)(_ + _.length).zip(parts).flatMap { case (at, part) => Seq(at, part.length) }.toArray
      assertEquals[Any, Any](
        read(m, StructType(all.fields.filter(_.name == "__messageProperties")))("__messageProperties"),
        properties.toMap
      )
    }
  }

  test("entries are opened only as deep as the columns need") {
    def level(columns: String*) = {
      val value = StructField("value", BinaryType)
      val known = StructType(all.fields :+ value)
      RowDecoder(Messages.topic, 3, StructType(columns.map(known(_))), TopicSchema.Bytes, Messages.noOtherVersion).level
    }
    assertEquals[DecodeDepth, DecodeDepth](level(), DecodeDepth.Entry)
    assertEquals[DecodeDepth, DecodeDepth](
      level(
        "__topic",
        "__publishTime",
        "__partition",
        "__ledgerId",
        "__entryId",
        "__producerName",
        "__schemaVersion",
        "__replicatedFrom",
        "__brokerPublishTime"
      ),
      DecodeDepth.Entry
    )
    assertEquals[DecodeDepth, DecodeDepth](level("__topic", "__key"), DecodeDepth.Message)
    assertEquals[DecodeDepth, DecodeDepth](level("value"), DecodeDepth.Message)
  }

  test("a read of metadata alone uses neither payload nor schema") {
    val columns = StructType(all.fields.filter(_.name == "__key"))
    val decoder = RowDecoder(Messages.topic, 3, columns, TopicSchema("AVRO", "not a schema"), Messages.noOtherVersion)
    val m       = full
    m.bytes = null
    assertEquals(decoder.decode(m).getBinary(0).length, 4)
  }

  test("a time that no timestamp holds is an error only where it is selected") {
    val m = full
    m.eventTime = 1700000000000000000L
    val error = intercept[RuntimeException](read(m))
    assertEquals(
      error.getMessage,
      s"[PULSAR_TIME_OUT_OF_RANGE] Message 12:34:5 in topic ${Messages.topic} has a time of 1700000000000000000 ms since 1970, which is outside the range of timestamps. " +
        "What to do: Do not select __eventTime and the other times, or set onDecodeError to null, drop or dlq. The producer probably used another unit."
    )
    assertEquals[Any, Any](read(m, StructType(all.fields.filter(_.name == "__publishTime")))("__publishTime"),
      1700000000001000L)
  }
}
