package io.github.pulsarspark.read.stream

import scala.concurrent.duration._

import org.apache.spark.sql.types.StructType

import io.github.pulsarspark.UnitSuite
import io.github.pulsarspark.options.{SchemaMode, TopicSelection}
import io.github.pulsarspark.position.{OffsetRange, Position}
import io.github.pulsarspark.read.plan.{Discovery, FakeBroker, SourceColumns}
import io.github.pulsarspark.schema.TopicSchema
import io.github.pulsarspark.schema.columns.UserColumns

class ReaderSchemasSuite extends UnitSuite {

  private val version = Seq[Byte](0, 0, 0, 0, 0, 0, 0, 3)
  private val schema  = TopicSchema("STRING", version = version)

  private class Requests {
    var calls   = Seq.empty[Seq[String]]
    val schemas = new ReaderSchemas((topics, known) => {
      calls :+= topics.toSeq.sorted
      known ++ topics.map(_ -> schema)
    })

    /** Topics and the last ledger of each range; whether their version counts as known. */
    def certain(ranges: (String, Long)*): Seq[Boolean] = schemas
      .of(
        ranges.map { case (topic, ledger) =>
          OffsetRange(s"$topic-partition-0", Position(0, -1), Position(ledger, 5)) -> topic
        },
        ranges.groupMapReduce(_._1)(_._2)(math.max(_, _))
      )
      .map(_.version == version)
  }

  test("schemas are requested together, once; their versions hold for the ledgers known by then") {
    val requests = new Requests
    assertEquals(requests.certain("t" -> 5, "t" -> 3, "u" -> 4), Seq(true, true, true))
    assertEquals(requests.certain("t" -> 5, "t" -> 6, "u" -> 4, "u" -> 5), Seq(true, false, true, false))
    assertEquals(requests.certain("t" -> 5, "v" -> 9), Seq(true, true))
    assertEquals(requests.certain(), Nil)
    assertEquals(requests.calls, Seq(Seq("t", "u"), Seq("v")))
  }

  test("a schema requested before the first range holds for no ledger") {
    val requests = new Requests
    requests.schemas.add(Seq("t"))
    requests.schemas.add(Nil)
    assertEquals(requests.certain("t" -> 0, "u" -> 4), Seq(false, true))
    assertEquals(requests.calls, Seq(Seq("t"), Seq("u")))
  }

  private def record(n: Int) = TopicSchema(
    "AVRO",
    (0 until 20).map(i =>
      s"""{"name":"f$i","type":["null",{"type":"record","name":"R${n}_$i","fields":[{"name":"x","type":"int"}]}]}"""
    )
      .mkString(s"""{"type":"record","name":"R$n","fields":[""", ",", "]}")
  )

  /** Plans the first micro-batch of a stream as the driver does, and one more for a topic that appears later. */
  private def planning(topics: Seq[(String, TopicSchema)]): (FakeBroker, SourceColumns.Translated, FiniteDuration) = {
    val broker     = new FakeBroker(Map.empty, Map.empty, newest = topics.toMap)
    val discovery  = new Discovery(TopicSelection.Matching(".*"), false, SchemaMode.Auto, None, broker, "pulsar://h:1")
    val translated = new SourceColumns.Translated
    val schemas    = new ReaderSchemas((more, known) => {
      val all    = known ++ discovery.schemas(more)
      val values = SourceColumns.values(all.toSeq.sortBy(_._1), translated)
      UserColumns.check(new StructType, SourceColumns.all(values, errorColumns = false, isCaseSensitive = false))
      all
    })
    val ranges  = topics.map { case (topic, _) => OffsetRange(topic, Position(1, -1), Position(2, 5)) -> topic }
    val began   = System.nanoTime()
    val ledgers = topics.map(_._1 -> 2L).toMap
    assertEquals(schemas.of(ranges.init, ledgers).map(_.definition), topics.init.map(_._2.definition))
    assertEquals(schemas.of(ranges, ledgers).size, topics.size)
    (broker, translated, (System.nanoTime() - began).nanos)
  }

  private def name(n: Int) = f"persistent://public/default/t$n%04d"

  test("three thousand topics of one schema need one request and one translation") {
    val (broker, translated, took) = planning((1 to 3000).map(n => name(n) -> record(0)))
    println(s"3,000 topics of one schema: ${took.toMillis} ms")
    assertEquals(broker.requested.map(_.size), Seq(2999, 1))
    assertEquals(translated.size, 1)
    assert(took < 1.minute, took)
  }

  test("each different schema is translated once, also when more topics appear") {
    val (_, translated, _) = planning((1 to 100).map(n => name(n) -> record(n)))
    assertEquals(translated.size, 100)
  }
}
