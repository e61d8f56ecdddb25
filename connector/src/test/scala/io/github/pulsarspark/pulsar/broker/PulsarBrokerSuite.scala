package io.github.pulsarspark.pulsar.broker

import scala.util.Using

import org.apache.logging.log4j.Level
import org.apache.logging.log4j.core.config.Configurator
import org.apache.pulsar.client.api.{Schema => JSchema}

import io.github.pulsarspark.UnitSuite
import io.github.pulsarspark.cluster.{ScriptedCluster, StoredTopic, TopicEntry, TopicLedger}
import io.github.pulsarspark.errors.PulsarError
import io.github.pulsarspark.format.{Sent, StoredEntry}
import io.github.pulsarspark.options.{ClientOptions, ReadOptions}
import io.github.pulsarspark.options.registry.{CheckedOptions, Scope}
import io.github.pulsarspark.position.{PartitionBounds, Position}
import io.github.pulsarspark.pulsar.PulsarConnection
import io.github.pulsarspark.schema.TopicSchema
import io.github.pulsarspark.storage.KilledTasks.eventually

/** Requests to a scripted broker by the real client, of [[PositionProbes]] and
  * [[io.github.pulsarspark.pulsar.schemas.SchemaLookup]]: what each returns, and what it leaves open.
  */
class PulsarBrokerSuite extends UnitSuite {

  private val cluster = new ScriptedCluster

  override def beforeAll(): Unit = Configurator.setLevel("org.apache.pulsar", Level.OFF)
  override def afterAll(): Unit  =
    try cluster.close()
    finally Configurator.setLevel("org.apache.pulsar", Level.INFO)

  private def full(name: String) = s"persistent://public/default/$name"

  /** Stores ledgers with so many entries each, the n-th of them all published at 1000 * n; the last ones are markers.
    */
  private def store(name: String, markers: Int, ledgers: (Long, Int)*): StoredTopic = {
    val places  = ledgers.flatMap { case (id, entries) => (0 until entries).map(e => Position(id, e.toLong)) }
    val entries = places.zipWithIndex.map { case (at, i) =>
      val kind  = if (i < places.size - markers) TopicEntry.Messages() else TopicEntry.Marker
      val bytes = StoredEntry(Seq(Sent.text(s"$at")), batched = true).array
      TopicEntry(at, bytes, kind, publishTime = 1000L * (i + 1), messages = 1)
    }
    val topic = StoredTopic(full(name),
      ledgers.map { case (id, _) => TopicLedger(id, entries.filter(_.at.ledgerId == id).toVector) }.toVector)
    cluster.add(topic)
    topic
  }

  private def asking[A](test: BrokerApi => A, isCompacted: Boolean = false, url: String = cluster.serviceUrl): A = {
    val options = ClientOptions(CheckedOptions(Map("service.url" -> url, "topic" -> "t"), Scope.BatchRead, _ => Nil))
    val result  = Using.resource(PulsarConnection(options))(c => test(c.broker("suite", isCompacted)))
    eventually(s"${cluster.consumers} consumers are open")(cluster.consumers == 0)
    result
  }

  test("partitions of topics: their names, also of one without partitions, none of a missing one") {
    store("whole", 0, 10L             -> 1)
    store("parts-partition-0", 0, 20L -> 1)
    store("parts-partition-2", 0, 30L -> 1)
    asking(broker =>
      assertEquals(broker.partitions(Seq("whole", "parts", "missing")),
        Map(
          full("whole") -> Seq(full("whole")),
          full("parts") -> (0 to 2).map(i => full(s"parts-partition-$i"))
        ))
    )
  }

  test("bounds: before the first entry, at the last message, of partitions that exist") {
    store("b", 0, 40L     -> 2, 41L -> 3)
    store("empty", 0, 50L -> 0)
    asking { broker =>
      val expected = Map(
        full("b")     -> PartitionBounds(Position(40, -1), Position(41, 2)),
        full("empty") -> PartitionBounds(Position(50, -1), Position(50, -1))
      )
      val asked = Seq("b", "empty", "missing").map(full)
      assertEquals(broker.bounds(asked), expected)
      assertEquals(broker.confirmedBounds(asked), expected)
      store("b", 0, 40L -> 2, 41L -> 4)
      assertEquals(broker.bounds(Seq(full("b"))).map(_._2.last), Seq(Position(41, 3)), "by the same consumer")
    }
  }

  test("bounds end at a message where entries of the broker follow it, and begin at the end where all are such") {
    store("marked", 2, 60L  -> 5)
    store("markers", 3, 61L -> 3)
    asking { broker =>
      val found = broker.bounds(Seq(full("marked"), full("markers")))
      assertEquals(found(full("marked")), PartitionBounds(Position(60, -1), Position(60, 2)))
      assert(found(full("markers")).last <= found(full("markers")).first, found)
    }
  }

  test("the compacted view begins before everything that is stored, and knows where that begins") {
    store("c", 0, 70L -> 2)
    val found = asking(_.bounds(Seq(full("c"))), isCompacted = true)
    assertEquals(found,
      Map(full("c") ->
        PartitionBounds(Position.BeforeAll, Position(70, 1), compactedBefore = Some(Position(70, -1)))))
  }

  test("a partition that is deleted and made again is asked anew") {
    val before = store("again", 0, 80L -> 2)
    asking { broker =>
      broker.bounds(Seq(before.name))
      cluster.remove(before)
      eventually("the consumer of the deleted topic is still there")(broker.bounds(Seq(before.name)).isEmpty)
      store("again", 0, 81L -> 1)
      assertEquals(broker.bounds(Seq(before.name)),
        Map(before.name -> PartitionBounds(Position(81, -1), Position(81, 0))))
    }
  }

  test("the position before a time, of the first message that was published then or later") {
    store("times", 0, 90L -> 2, 91L -> 2)
    def before(millis: Long) = asking(_.positionsBefore(Map(full("times") -> millis)))(full("times"))
    assertEquals(Seq(-5L, 1000L, 1001L, 3000L, 9000L).map(before),
      Seq("90:-1", "90:-1", "90:0", "90:1", "91:1").map(p => Position.parse(p).get))
    asking { broker =>
      assertEquals(condition(broker.positionsBefore(Map(full("missing") -> 1))), "PULSAR_REQUEST_FAILED")
    }
  }

  private def preceding(broker: BrokerApi, name: String) = {
    val set = Map("service.url" -> cluster.serviceUrl, "topic" -> name, "publishTimeSkewMs" -> "1500")
    new BrokerPrecedingEntries(full(name), ReadOptions(CheckedOptions(set, Scope.BatchRead, _ => Nil)), broker)
  }

  test("places before a time, from where its first message is looked for: by that time, then by clocks that differ") {
    store("before", 0, 95L -> 4)
    asking(broker =>
      assertEquals(preceding(broker, "before").placesBefore(4000).toList, List(Position(95, 2), Position(95, 1)))
    )
  }

  test("entries before a range: those that there are, and no loss of others") {
    store("trimmed", 0, 97L -> 2)
    asking { broker =>
      Using.resource(preceding(broker, "trimmed").open(Position(96, 0), Position(97, 1))) { source =>
        val found = Iterator.continually(source).takeWhile(_.next()).map(s => Position(s.ledgerId, s.entryId)).toList
        assertEquals(found, List(Position(97, 0), Position(97, 1)))
      }
    }
  }

  test("a reader stands before the entry that it starts at, or before what is left of the topic") {
    store("readers", 0, 100L -> 3, 102L -> 2)
    def after(position: String) =
      asking(_.readersAfter(Map(full("readers") -> Position.parse(position).get, full("missing") -> Position(1, 1))))
    assertEquals(after("100:1"), Map(full("readers") -> Position(100, 0)))
    assertEquals(after("101:3"), Map(full("readers") -> Position(100, 2)), "a ledger that is gone")
    assertEquals(after("102:7"), Map(full("readers") -> Position(102, 1)))
  }

  test("partitions that end before a position, as several consumers confirm") {
    store("short", 0, 110L -> 3)
    store("long", 0, 120L  -> 9)
    asking { broker =>
      val read = Map("short" -> Position(110, 5), "long" -> Position(120, 5)).map { case (n, p) => full(n) -> p }
      assertEquals(broker.endingBefore(read), Set(full("short")))
      assertEquals(broker.endingBefore(read.map { case (p, at) => p -> at.copy(entryId = 2) }), Set.empty[String])
    }
  }

  test("the bounds of a stream forget partitions that it does not read any more") {
    store("s0", 0, 130L -> 1)
    store("s1", 0, 131L -> 1)
    asking { broker =>
      assertEquals(broker.streamBounds(Seq("s0", "s1").map(full)).keySet, Set("s0", "s1").map(full))
      eventually(s"${cluster.consumers} consumers")(cluster.consumers == 2)
      assertEquals(broker.streamBounds(Seq(full("s0"))).keySet, Set(full("s0")))
      eventually(s"${cluster.consumers} consumers")(cluster.consumers == 1)
    }
  }

  test("a topic without a schema has none, and no version of one") {
    asking { broker =>
      assertEquals(broker.schemas(Seq(full("whole"))), Map.empty[String, TopicSchema])
      assertEquals(broker.schema(full("whole")), None)
      assertEquals(condition(broker.schemaAt(full("whole"), Array[Byte](0, 0, 0, 0, 0, 0, 0, 1))),
        "PULSAR_SCHEMA_VERSION_MISSING")
    }
  }

  test("a version that a broker has not heard of yet is requested from the broker that serves the topic") {
    val topic            = full("evolves")
    val known            = Seq(JSchema.STRING, JSchema.INT32).map(_.getSchemaInfo)
    def at(version: Int) = Array[Byte](0, 0, 0, 0, 0, 0, 0, version.toByte)
    Using.resource(new ScriptedCluster(elsewhere = Some(cluster.serviceUrl))) { late =>
      late.writes.schemas = Map(topic -> known.take(1))
      cluster.writes.schemas = Map(topic -> known)
      asking(
        { broker =>
          assertEquals(broker.schema(topic).map(_.schemaType), Some("STRING"))
          assertEquals(broker.schemaAt(topic, at(0)).schemaType, "STRING")
          val newer = broker.schemaAt(topic, at(1))
          assertEquals((newer.schemaType, newer.version), ("INT32", at(1).toSeq))
          assertEquals(condition(broker.schemaAt(topic, at(2))), "PULSAR_SCHEMA_VERSION_MISSING")
        },
        url = late.serviceUrl
      )
    }
  }

  private def condition(body: => Any): String = intercept[RuntimeException with PulsarError](body).condition
}
