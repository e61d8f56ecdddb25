package io.github.pulsarspark.storage.ledgers

import scala.collection.mutable
import scala.concurrent.duration._

import munit.FunSuite

import io.github.pulsarspark.position.{Interval, OffsetRange, Position}
import io.github.pulsarspark.storage.Texts

class KnownLedgersSuite extends FunSuite {

  private val topic = "persistent://public/default/t"

  /** An admin service, and what was requested of it. */
  private final class Cluster {
    var now                      = 0L
    var sizes: Seq[(Long, Long)] =
      Seq(10L -> 100L, 20L -> 100L, 30L -> 5L) // ids and numbers of entries; the last is open
    var offloaded                              = Set.empty[Long]
    val requested: mutable.ArrayBuffer[String] = mutable.ArrayBuffer.empty
    val known                                  = new KnownLedgers(() => now)

    def locate(
        from: Position,
        to: Position,
        tail: Option[KnownLedgers.Tail] = Some((_, s) => l => s.isNewest(l.id))
    ): TopicStorage =
      known.locate(Seq(OffsetRange(topic, from, to)), tail)(answer)(topic)

    private def answer(ids: Map[String, Interval], withMetadata: Boolean): Map[String, TopicStorage] = {
      if (ids.nonEmpty) requested += (if (withMetadata) "metadata" else "list")
      ids.map { case (name, wanted) =>
        val kept = sizes.filter(l => wanted.contains(l._1)).map { case (id, entries) =>
          val isOpen = id == sizes.last._1
          val home   =
            Option.when(withMetadata && !offloaded(id))(
              Right(BookieLedger(id, 3, 1, 1, 1, "CRC32C", Seq(0L -> Seq(s"b:$now")), None))
            )
          StoredLedger(id, if (isOpen) 0 else entries, if (isOpen) 0 else entries * 10, offloaded(id), home)
        }
        val (last, open) = sizes.last
        name -> TopicStorage(kept.toIndexedSeq, Some((sizes.head._1, last)), Position(last, open - 1), open * 10, open)
      }
    }

    def takeRequests(): Seq[String] = {
      val found = requested.toSeq
      requested.clear()
      found
    }
  }

  private def homes(storage: TopicStorage): Seq[Long] = storage.ledgers.filter(_.home.nonEmpty).map(_.id)

  test("a stream that follows its newest ledger requests nothing but a list, once") {
    val cluster = new Cluster
    cluster.locate(Position(30, 0), Position(30, 4))
    assertEquals(cluster.takeRequests(), Seq("list"))
    for (end <- 5L to 500L by 5L) {
      val storage = cluster.locate(Position(30, end - 1), Position(30, end + 4))
      assertEquals(storage.lastConfirmed, Position(30, end + 4))
      assertEquals(storage.lastEntry(storage.ledgers.last), Some(end + 4))
    }
    assertEquals(cluster.takeRequests(), Nil)
    assertEquals(cluster.known.entryBytes(topic), Some(10L))
  }

  test(
    "a new ledger costs a list, or the metadata where it is needed; what is known of the ones before is not requested again"
  ) {
    val cluster = new Cluster
    assertEquals(homes(cluster.locate(Position(10, -1), Position(30, 4))), Seq(10L, 20L, 30L))
    assertEquals(cluster.takeRequests(), Seq("list", "metadata"))
    cluster.sizes = cluster.sizes.init ++ Seq(30L -> 90L, 40L -> 7L)
    val rolled = cluster.locate(Position(30, 4), Position(40, 6))
    assertEquals(cluster.takeRequests(), Seq("list"))
    assertEquals(homes(rolled), Seq(30L))
    assertEquals(rolled.lastEntry(rolled.get(30).get), Some(89L))
    val large = cluster.locate(Position(40, 6), Position(40, 900), Some((_, _) => _ => false))
    assertEquals(cluster.takeRequests(), Seq("metadata"))
    assertEquals(homes(large), Seq(40L))
    cluster.locate(Position(40, 900), Position(40, 1900), Some((_, _) => _ => false))
    assertEquals(cluster.takeRequests(), Nil)
  }

  test("where the broker reads nothing, the metadata is requested at once") {
    val cluster = new Cluster
    assertEquals(homes(cluster.locate(Position(30, 0), Position(30, 4), None)), Seq(30L))
    cluster.locate(Position(30, 4), Position(30, 9), None)
    assertEquals(cluster.takeRequests(), Seq("metadata"))
  }

  test("ledgers in storage need no metadata") {
    val cluster = new Cluster
    cluster.offloaded = Set(10L, 20L)
    cluster.locate(Position(10, -1), Position(30, 4))
    assertEquals(cluster.takeRequests(), Seq("list"))
  }

  test("what is known does not hold for ever") {
    val cluster                  = new Cluster
    def bookies(s: TopicStorage) = s.ledgers.last.home.get.toOption.get.bookies
    cluster.locate(Position(30, 0), Position(30, 4), None)
    cluster.now = 10.minutes.toNanos - 1
    assertEquals(bookies(cluster.locate(Position(30, 4), Position(30, 9), None)), Seq("b:0"))
    cluster.now += 1
    assertEquals(bookies(cluster.locate(Position(30, 9), Position(30, 14), None)), Seq(s"b:${cluster.now}"))
    assertEquals(cluster.takeRequests(), Seq("metadata", "metadata"))
  }

  test("a list renews nothing but itself") {
    val cluster = new Cluster
    cluster.locate(Position(10, -1), Position(30, 4))
    cluster.now = 9.minutes.toNanos
    cluster.sizes = cluster.sizes.init ++ Seq(30L -> 90L, 40L -> 7L)
    assertEquals(homes(cluster.locate(Position(30, 4), Position(40, 6))), Seq(30L))
    cluster.now = 10.minutes.toNanos
    assertEquals(homes(cluster.locate(Position(30, 4), Position(40, 6))), Seq(30L, 40L))
    assertEquals(cluster.takeRequests(), Seq("list", "metadata", "list", "list", "metadata"))
  }

  test("a position that is in no known ledger is looked up") {
    val cluster = new Cluster
    cluster.locate(Position(30, 0), Position(30, 4))
    cluster.takeRequests()
    cluster.locate(Position(25, 0), Position(30, 4))
    assertEquals(cluster.takeRequests(), Seq("list"))
    cluster.locate(Position(30, 4), Position(35, 4))
    assertEquals(cluster.takeRequests(), Seq("list"))
  }

  private def read(ids: Interval, end: Seq[(String, Any)], ledgers: Seq[(String, Any)]*): TopicStorage = {
    val reader = new TopicStorage.Reader(ids)
    ledgers.foreach(l => reader.ledger(Texts(l: _*)))
    reader.end(Texts(end: _*))
  }

  test("an answer: ledgers in the order of their ids, the open one ends where the broker confirms") {
    val end     = Seq("currentLedgerEntries" -> 2, "currentLedgerSize" -> 120, "lastConfirmedEntry" -> "16:0")
    val open    = Seq("ledgerId" -> 16, "offloaded" -> false, "metadata" -> "m16")
    val closed  = Seq("ledgerId" -> 8, "entries" -> 6, "size" -> 358, "offloaded" -> true, "metadata" -> "")
    val storage = read(Interval.Always, end, open, closed)
    assertEquals(storage.ledgers.map(_.id).toList, List(8L, 16L))
    assertEquals(storage.lastConfirmed, Position(16, 0))
    assertEquals(storage.ledgers.flatMap(storage.lastEntry).toList, List(5L, 0L))
    assertEquals(storage.ledgers.map(storage.entryBytes).toList, List(59L, 60L))
    assertEquals(storage.ledgers.map(_.home.fold("none")(_.isRight.toString)).toList, List("none", "false"))
    assert(storage.get(8).get.isOffloaded)
    assertEquals(read(Interval(9, 99), end, open, closed).ledgers.map(_.id).toList, List(16L))
    assertEquals(read(Interval(9, 99), end, open, closed).listed, Some((8L, 16L)))
  }

  test("an answer about a topic without messages, and one with ledgers newer than the confirmed end") {
    val empty = read(Interval.Always, Seq("lastConfirmedEntry" -> "16:-1"), Seq("ledgerId" -> 16))
    assertEquals(empty.lastEntry(empty.ledgers.head), Some(-1L))
    val rolled = read(Interval.Always, Seq("lastConfirmedEntry" -> "16:3"), Seq("ledgerId" -> 16, "entries" -> 9),
      Seq("ledgerId" -> 17))
    assertEquals(rolled.ledgers.map(rolled.lastEntry).toList, List[Option[Long]](Some(3L), None))
    assertEquals(read(Interval.Always, Nil).lastConfirmed, Position(-1, -1))
  }
}
