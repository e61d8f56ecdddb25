package io.github.pulsarspark.pulsar.schemas

import java.util.concurrent.atomic.AtomicInteger

import scala.util.Random

import io.github.pulsarspark.{TestSeed, UnitSuite}
import io.github.pulsarspark.options.ClientOptions
import io.github.pulsarspark.options.registry.{CheckedOptions, Scope}
import io.github.pulsarspark.schema.TopicSchema

class KnownSchemasSuite extends UnitSuite {

  private def client(url: String) =
    ClientOptions(CheckedOptions(Map("service.url" -> url, "topic" -> "t"), Scope.BatchRead, _ => Nil))
  private val here            = client("pulsar://here:1")
  private val topic           = "persistent://public/default/t"
  private def version(n: Int) = Array[Byte](0, 0, 0, 0, 0, 0, 0, n.toByte)

  private class Cluster(schema: Int => TopicSchema = n => TopicSchema("STRING", s"$n")) {
    val known   = new KnownSchemas(1L << 20)
    var fetched = 0

    def at(n: Int, ledger: Long, topic: String = topic, client: ClientOptions = here): String =
      known.at(client, topic, version(n), ledger) { fetched += 1; schema(n) }.definition
  }

  test(
    "a version is fetched once, for all partitions of a topic and for all ledgers up to the one it was fetched for"
  ) {
    val cluster = new Cluster
    for { _ <- 1 to 3; ledger <- Seq(9L, 3L, 0L); partition <- 0 to 2 }
      assertEquals(cluster.at(1, ledger, s"$topic-partition-$partition"), "1")
    assertEquals(cluster.fetched, 1)
  }

  test("versions, topics and clusters are kept apart") {
    val cluster = new Cluster
    Seq(
      () => cluster.at(1, 1),
      () => cluster.at(2, 1),
      () => cluster.at(1, 1, s"${topic}2"),
      () => cluster.at(1, 1, topic, client("pulsar://there:1"))
    )
      .foreach { ask => ask(); ask() }
    assertEquals(cluster.fetched, 4)
  }

  test("a version is fetched again for the higher ledgers of a recreated topic") {
    var incarnation = "old"
    val cluster     = new Cluster(_ => TopicSchema("STRING", incarnation))
    assertEquals(cluster.at(0, 5), "old")
    incarnation = "new"
    assertEquals(cluster.at(0, 5), "old")
    assertEquals(cluster.at(0, 8), "new")
    assertEquals(cluster.at(0, 7), "new")
    assertEquals(cluster.fetched, 2)
  }

  test("a request that fails, sent again the next time") {
    val cluster = new Cluster(_ => throw new IllegalStateException("no answer"))
    (1 to 2).foreach(_ => intercept[IllegalStateException](cluster.at(1, 1)))
    assertEquals((cluster.fetched, cluster.known.size), (2, 0))
  }

  test("more schemas than there is room for, the least recently used one is evicted") {
    val cluster = new Cluster(n => TopicSchema("AVRO", n.toString * (100 << 10)))
    (1 to 9).foreach(cluster.at(_, 1))
    cluster.at(1, 1)
    assertEquals((cluster.fetched, cluster.known.size), (9, 9))
    (10 to 12).foreach(cluster.at(_, 1))
    assert(cluster.known.size < 9, cluster.known.size)
    val fetched = cluster.fetched
    cluster.at(1, 1)
    assertEquals(cluster.fetched, fetched)
    cluster.at(2, 1)
    assertEquals(cluster.fetched, fetched + 1)
  }

  test("concurrent requests and failures return the right schema of each version") {
    val seed  = TestSeed.next()
    val known = new KnownSchemas(20000) // some forty entries
    val wrong = new AtomicInteger
    val tasks = (1 to 8).map { i =>
      new Thread(() => {
        val dice = new Random(seed + i)
        (1 to 5000).foreach { _ =>
          val (n, ledger) = (dice.nextInt(60), dice.nextInt(20).toLong)
          val result      =
            try known.at(here, topic, version(n), ledger)(if (dice.nextInt(5) == 0) sys.error("no answer")
              else TopicSchema("STRING", s"$n"))
                .definition
            catch { case _: RuntimeException => s"$n" }
          if (result != s"$n") wrong.incrementAndGet()
        }
      })
    }
    tasks.foreach(_.start())
    tasks.foreach(_.join())
    assertEquals(wrong.get, 0)
    assert(known.size <= 40, known.size)
  }
}
