package io.github.pulsarspark.position

import java.nio.file.{Files, Path}

import scala.collection.immutable.SortedMap

import org.apache.hadoop.conf.Configuration
import org.apache.pulsar.client.api.MessageId
import org.apache.pulsar.client.impl.{BatchMessageIdImpl, MessageIdImpl}

import io.github.pulsarspark.UnitSuite
import io.github.pulsarspark.errors.PulsarError
import io.github.pulsarspark.read.stream.InitialOffsetLog

/** Texts as streamnative/pulsar-spark writes them into a checkpoint: the client's bytes of a message id by partition.
  */
final class IncumbentOffsetSuite extends UnitSuite {

  private val t  = "persistent://public/default/t"
  private val p0 = s"$t-partition-0"
  private val p1 = s"$t-partition-1"

  private def text(ids: (String, MessageId)*): String =
    ids.map { case (topic, id) => s""""$topic":${id.toByteArray.mkString("[", ",", "]")}""" }.mkString("{", ",", "}")

  private def condition(parse: => PulsarOffset) = {
    val e = intercept[RuntimeException with PulsarError](parse)
    assert(e.getMessage.contains("the checkpoint c"), e.getMessage)
    e.condition -> e.getMessage
  }

  test("an end has read the whole entry of its id, of a batch of any size") {
    val batched = s"""{"$p0":[8,12,16,34,24,0,32,6,48,7]}"""
    assertEquals(text(p0 -> new BatchMessageIdImpl(12, 34, 0, 6, 7, null)), batched)
    val single = s"""{"$t":[8,-56,1,16,34,48,0]}"""
    assertEquals(text(t -> new MessageIdImpl(200, 34, -1)), single)
    assertEquals(PulsarOffset.parse(batched, "here"), PulsarOffset.of(Seq(p0 -> Position(12, 34))))
    assertEquals(PulsarOffset.parse(single, "here"), PulsarOffset.of(Seq(t -> Position(200, 34))))
  }

  test("a partition without messages has no position, so that it is read from its first message") {
    val empty = text(p0 -> MessageId.earliest, p1 -> new MessageIdImpl(7, 0, 1))
    assertEquals(PulsarOffset.parse(empty, "here"), PulsarOffset.of(Seq(p1 -> Position(7, 0))))
    assertEquals(PulsarOffset.parse(text(p0 -> MessageId.earliest), "here"), PulsarOffset.of(Nil))
  }

  test("a batch that was planned there reads partitions that join from their first message") {
    val from    = PulsarOffset.parse(text(p0 -> MessageId.earliest, t -> new MessageIdImpl(3, 4, -1)), "here")
    val planned =
      Seq(p0 -> new MessageIdImpl(5, 9, 0), p1 -> new MessageIdImpl(6, 2, 1), t -> new MessageIdImpl(3, 8, -1))
    val to = PulsarOffset.parse(text(planned: _*), "here")
    assertEquals(RangePlanner.joining(from, to), Seq(p0, p1))
    val started = from.copy(positions = from.positions ++ SortedMap(p0 -> Position(5, -1), p1 -> Position(6, -1)))
    assertEquals(
      RangePlanner.between(started, to),
      Seq(
        OffsetRange(t, Position(3, 4), Position(3, 8)),
        OffsetRange(p0, Position(5, -1), Position(5, 9)),
        OffsetRange(p1, Position(6, -1), Position(6, 2))
      )
    )
    assertEquals(RangePlanner.joining(started, to), Nil)
  }

  test("the start of a stream is taken over once: the first message of the entry is read") {
    val folder = Files.createTempDirectory("checkpoint")
    val ids    = text(p0 -> new MessageIdImpl(12, 34, 0), p1 -> MessageId.earliest)
    Files.writeString(folder.resolve("0"), s"v1\n$ids")
    val start = StreamStart(PulsarOffset.of(Seq(p0 -> Position(12, 33))))
    assertEquals(log(folder).getOrWrite(fail("resolved anew")), start)
    assertEquals(Files.readString(folder.resolve("initial-offset.json")),
      start.json)
    Files.delete(folder.resolve("0"))
    assertEquals(log(folder).getOrWrite(fail("resolved anew")), start)
  }

  test("the offsets of other sources are an error that names the kind of source") {
    Seq(
      """{"topic":{"0":23,"1":-2}}"""                                  -> "a source such as kafka",
      "41"                                                             -> "a source that counts, such as rate",
      """{"logOffset":0}"""                                            -> "a source of files",
      """{"path":"file:///a","timestamp":1700000000000,"batchId":0}""" -> "a source of files"
    ).foreach { case (offset, source) =>
      val (name, message) = condition(PulsarOffset.parse(offset, "the checkpoint c"))
      assertEquals(name, "PULSAR_CHECKPOINT_FOREIGN", offset)
      assert(message.contains(s"belongs to $source, not to Pulsar: $offset"), message)
      assertEquals(condition(PulsarOffset.parseIncumbentStart(offset, "the checkpoint c"))._1, name)
    }
  }

  test("the start of another source is an error, and nothing is written") {
    val folder = Files.createTempDirectory("checkpoint")
    Files.write(folder.resolve("0"), "\u0000v1\n{\"topic\":{\"0\":23}}".getBytes)
    val e = intercept[RuntimeException with PulsarError](log(folder).getOrWrite(fail("resolved anew")))
    assertEquals(e.condition, "PULSAR_CHECKPOINT_FOREIGN")
    assert(!Files.exists(folder.resolve("initial-offset.json")))
  }

  test("an offset with damaged ids, PULSAR_CHECKPOINT_MALFORMED") {
    Seq(s"""{"$p0":[8,12]}""", s"""{"$p0":[8,12,16,34],"$p1":"1:2"}""", text(p0 -> MessageId.latest)).foreach {
      offset =>
        assertEquals(condition(PulsarOffset.parse(offset, "the checkpoint c"))._1, "PULSAR_CHECKPOINT_MALFORMED",
          offset)
    }
  }

  private def log(folder: Path) = new InitialOffsetLog(folder.toString, new Configuration())
}
