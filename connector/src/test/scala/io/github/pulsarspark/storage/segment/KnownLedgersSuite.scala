package io.github.pulsarspark.storage.segment

import java.util.concurrent.CompletableFuture

import scala.collection.mutable
import scala.concurrent.duration._

import io.github.pulsarspark.UnitSuite
import io.github.pulsarspark.position.{Interval, OffsetRange, Position}

class KnownLedgersSuite extends UnitSuite {

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

    def answer(ids: Map[String, Interval], withMetadata: Boolean): Map[String, TopicStorage] = {
      if (ids.nonEmpty) requested += (if (withMetadata) "metadata" else "list")
      ids.map { case (name, wanted) =>
        val kept = sizes.filter(l => wanted.contains(l._1)).map { case (id, entries) =>
          val isOpen = id == sizes.last._1
          val home   =
            Option.when(withMetadata && !offloaded(id))(
              Right(BookieLocation(3, 1, 1, 1, "CRC32C", Seq(0L -> Seq(s"b:$now")), None))
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

  test("a stream requests the metadata once, and nothing while it follows the newest ledger") {
    val cluster = new Cluster
    cluster.locate(Position(30, 0), Position(30, 4))
    assertEquals(cluster.takeRequests(), Seq("metadata"))
    for (end <- 5L to 500L by 5L) {
      val storage = cluster.locate(Position(30, end - 1), Position(30, end + 4))
      assertEquals(storage.lastConfirmed, Position(30, end + 4))
      assertEquals(storage.lastEntry(storage.ledgers.last), Some(end + 4))
    }
    assertEquals(cluster.takeRequests(), Nil)
    assertEquals(cluster.known.entryBytes(topic), Some(10L))
    cluster.now = 10.minutes.toNanos
    assertEquals(cluster.known.entryBytes(topic), None)
  }

  test("a backlog of many closed ledgers costs one request, in however many micro-batches it is read") {
    val cluster = new Cluster
    cluster.sizes = (1L to 200L).map(n => n * 10 -> 100L) :+ (2010L -> 5L)
    val ends    = for (id <- 10L to 2000L by 10L; entry <- Seq(30L, 99L)) yield Position(id, entry)
    (Position(10, -1) +: ends).zip(ends).foreach { case (from, to) => cluster.locate(from, to) }
    assertEquals(cluster.takeRequests(), Seq("metadata"))
  }

  test("a ledger that is not known costs one request") {
    val cluster = new Cluster
    assertEquals(homes(cluster.locate(Position(10, -1), Position(30, 4))), Seq(10L, 20L, 30L))
    cluster.sizes = cluster.sizes.init ++ Seq(30L -> 90L, 40L -> 7L)
    val rolled = cluster.locate(Position(30, 4), Position(40, 6))
    assertEquals(cluster.takeRequests(), Seq("metadata", "metadata"))
    assertEquals(homes(rolled), Seq(30L, 40L))
    assertEquals(rolled.lastEntry(rolled.get(30).get), Some(89L))
    cluster.locate(Position(40, 6), Position(40, 1900), None)
    assertEquals(cluster.takeRequests(), Nil)
  }

  test("after ten minutes the list is requested again, which says what was offloaded; metadata is kept") {
    val cluster                           = new Cluster
    def bookies(s: TopicStorage, id: Int) = s.get(id.toLong).get.home.map(_.toOption.get.bookies)
    cluster.locate(Position(10, -1), Position(10, 9), None)
    cluster.now = 10.minutes.toNanos - 1
    cluster.locate(Position(10, 9), Position(10, 19), None)
    assertEquals(cluster.takeRequests(), Seq("metadata"))
    cluster.now += 1
    cluster.offloaded = Set(20L)
    val renewed = cluster.locate(Position(10, 19), Position(20, 9), None)
    assertEquals(cluster.takeRequests(), Seq("list"))
    assertEquals(bookies(renewed, 10), Some(Seq("b:0")))
    assert(renewed.get(20).get.isOffloaded)
    assertEquals(bookies(renewed, 20), None)
    cluster.locate(Position(20, 9), Position(20, 19), None)
    assertEquals(cluster.takeRequests(), Nil)
  }

  test("the metadata of ledgers that the list shows first is requested when it is needed") {
    val cluster = new Cluster
    cluster.locate(Position(30, 0), Position(30, 4), None)
    cluster.now = 10.minutes.toNanos
    cluster.sizes = cluster.sizes.init ++ Seq(30L -> 90L, 40L -> 7L)
    cluster.locate(Position(30, 4), Position(30, 9), None)
    assertEquals(cluster.takeRequests(), Seq("metadata", "list"))
    assertEquals(homes(cluster.locate(Position(30, 9), Position(40, 6))), Seq(30L))
    assertEquals(cluster.takeRequests(), Nil)
    assertEquals(homes(cluster.locate(Position(30, 9), Position(40, 6), None)), Seq(30L, 40L))
    assertEquals(cluster.takeRequests(), Seq("metadata"))
  }

  test("the metadata is requested again at once when a ledger moved, and in time when its bookies do not respond") {
    val cluster                  = new Cluster
    def bookies(s: TopicStorage) = s.ledgers.last.home.get.toOption.get.bookies
    cluster.locate(Position(30, 0), Position(30, 4), None)
    cluster.now = 1
    cluster.known.moved(topic)
    assertEquals(bookies(cluster.locate(Position(30, 4), Position(30, 9), None)), Seq("b:1"))
    cluster.now = 2
    cluster.known.doubt(topic)
    assertEquals(bookies(cluster.locate(Position(30, 9), Position(30, 14), None)), Seq("b:1"))
    cluster.now = 10.minutes.toNanos + 1
    assertEquals(bookies(cluster.locate(Position(30, 14), Position(30, 19), None)), Seq(s"b:${cluster.now}"))
    cluster.now += 10.minutes.toNanos
    cluster.locate(Position(30, 19), Position(30, 24), None)
    assertEquals(cluster.takeRequests(), Seq("metadata", "metadata", "metadata", "list"))
  }

  test("offloaded ledgers need no metadata of bookies") {
    val cluster = new Cluster
    cluster.offloaded = Set(10L, 20L)
    cluster.locate(Position(10, -1), Position(10, 9), None)
    cluster.locate(Position(10, 9), Position(20, 9), None)
    assertEquals(cluster.takeRequests(), Seq("metadata"))
  }

  test("a position that is in no known ledger is looked up") {
    val cluster = new Cluster
    cluster.locate(Position(30, 0), Position(30, 4))
    cluster.takeRequests()
    cluster.locate(Position(25, 0), Position(30, 4))
    assertEquals(cluster.takeRequests(), Seq("metadata"))
    cluster.locate(Position(30, 4), Position(35, 4))
    assertEquals(cluster.takeRequests(), Seq("metadata"))
  }

  test("a list for a limit of bytes is that of the micro-batch") {
    val cluster                              = new Cluster
    def listed(from: Position, to: Position) =
      cluster.known.listed(Seq(OffsetRange(topic, from, to)), 1000)(cluster.answer)(topic).closedFrom(
        from.ledgerId
      ).map(_.id)
    assertEquals(listed(Position(10, -1), Position(30, 4)), Seq(10L, 20L))
    cluster.locate(Position(10, -1), Position(20, 99), None)
    assertEquals(listed(Position(20, 99), Position(30, 4)), Seq(20L))
    cluster.locate(Position(20, 99), Position(30, 4), None)
    assertEquals(cluster.takeRequests(), Seq("metadata"))
    cluster.sizes = cluster.sizes.init ++ Seq(30L -> 90L, 40L -> 9L, 50L -> 7L)
    assertEquals(listed(Position(30, 4), Position(50, 6)), Seq(30L, 40L))
    cluster.locate(Position(30, 4), Position(50, 6), None)
    assertEquals(cluster.takeRequests(), Seq("metadata"))
  }

  test("a list for a range in the middle of a micro-batch still has what the tasks of the micro-batch need") {
    val cluster = new Cluster
    cluster.locate(Position(10, -1), Position(10, 50), None)
    cluster.sizes = cluster.sizes.init ++ Seq(30L -> 100L, 40L -> 9L)
    cluster.takeRequests()
    val whole = Seq(OffsetRange(topic, Position(20, 99), Position(40, 8)))
    assertEquals(cluster.known.listed(whole, Long.MaxValue)(cluster.answer)(topic).closedFrom(20L).map(_.id),
      Seq(20L, 30L))
    cluster.locate(Position(10, 50), Position(40, 4), None)
    assertEquals(cluster.takeRequests(), Seq("metadata"))
  }

  test("a list is requested again when ledgers are not where they were, and after 10 minutes") {
    val cluster  = new Cluster
    def listed() =
      cluster.known.listed(Seq(OffsetRange(topic, Position(10, -1), Position(30, 4))), Long.MaxValue)(cluster.answer)
    for (
      change <- Seq[() => Unit](() => (), () => cluster.known.moved(topic), () => cluster.now = 10.minutes.toNanos)
    ) {
      change()
      listed()
      listed()
      assertEquals(cluster.takeRequests(), Seq("metadata"))
    }
  }

  test("a list that lacks the bytes of a micro-batch before the end of the range is requested again") {
    val cluster                              = new Cluster
    def listed(from: Position, to: Position) =
      cluster.known.listed(Seq(OffsetRange(topic, from, to)), 1500)(cluster.answer)(topic).closedFrom(from.ledgerId)
        .map(_.id)
    listed(Position(10, -1), Position(30, 4))
    cluster.sizes = cluster.sizes.init ++ Seq(30L -> 100L, 40L -> 100L, 50L -> 7L)
    cluster.takeRequests()
    assertEquals(listed(Position(10, 99), Position(50, 6)), Seq(10L, 20L, 30L, 40L), "20 alone has 1000 bytes")
    assertEquals(listed(Position(10, 99), Position(50, 6)).size, 4)
    cluster.sizes = cluster.sizes.init ++ Seq(50L -> 100L, 60L -> 3L)
    assertEquals(listed(Position(20, 9), Position(60, 2)), Seq(20L, 30L, 40L), "these have 2000")
    assertEquals(cluster.takeRequests(), Seq("metadata"))
  }

  test("a range that begins in a ledger that was trimmed costs one request") {
    val cluster = new Cluster
    cluster.sizes = Seq(20L -> 100L, 30L -> 5L)
    val range = OffsetRange(topic, Position(10, 99), Position(30, 4))
    cluster.known.listed(Seq(range), 1000)(cluster.answer)
    assertEquals(homes(cluster.locate(range.startExclusive, Position(20, 99), None)), Seq(20L, 30L))
    assertEquals(cluster.takeRequests(), Seq("metadata"))
    cluster.locate(Position(20, 99), Position(30, 4), None)
    assertEquals(cluster.takeRequests(), Nil)
  }

  test("the entries of a range that are known to be before its last ledger") {
    val cluster                              = new Cluster
    def before(from: Position, to: Position) = cluster.known.entriesBefore(OffsetRange(topic, from, to))
    assertEquals(before(Position(10, 4), Position(30, 4)), 0L)
    cluster.locate(Position(10, -1), Position(10, 4))
    assertEquals(before(Position(10, 4), Position(30, 4)), 195L)
    assertEquals(before(Position(20, 99), Position(30, 4)), 0L)
    assertEquals(before(Position(30, 1), Position(40, 4)), 3L)
  }

  /** Requests the list of ledgers, without metadata, from this one on. */
  private def list(cluster: Cluster, from: Long, requests: Interval => Unit = _ => ()): Unit = {
    val _ = cluster.known.list(topic, from) { ids =>
      requests(ids)
      CompletableFuture.completedFuture(cluster.answer(Map(topic -> ids), withMetadata = false)(topic))
    }
  }

  test("numbers of entries are known from any list of ledgers, up to its newest") {
    val cluster                       = new Cluster
    def between(from: Long, to: Long) = cluster.known.entriesBetween(topic, from, to)
    assertEquals(between(10, 20), None)
    cluster.locate(Position(20, -1), Position(20, 4))
    assertEquals(between(20, 30), Some((100L, 0L)))
    assertEquals(between(10, 30), None, "the list begins later")
    assertEquals(between(20, 40), None, "the list ends before")
    list(cluster, 10)
    assertEquals(between(10, 30), Some((100L, 100L)))
    assertEquals(between(30, 30), Some((0L, 0L)))
    val trimmed = new Cluster
    trimmed.sizes = trimmed.sizes.tail
    list(trimmed, 10)
    assertEquals(trimmed.known.entriesBetween(topic, 10, 30), Some((0L, 100L)), "a deleted ledger has none")
  }

  test("a list without metadata leaves it to ranges to request that, and is forgotten when nobody needs it") {
    val cluster = new Cluster
    list(cluster, 10)
    cluster.takeRequests()
    assertEquals(homes(cluster.locate(Position(10, -1), Position(20, 4), None)), Seq(10L, 20L, 30L))
    cluster.known.keepLists(_ => false)
    assertEquals(cluster.known.entriesBetween(topic, 20, 30), Some((100L, 0L)), "ranges need it")
    assertEquals(cluster.takeRequests(), Seq("metadata"))
    val other = new Cluster
    list(other, 10)
    other.known.keepLists(_ == topic)
    assertEquals(other.known.entriesBetween(topic, 10, 20), Some((100L, 0L)))
    other.known.listed(Seq(OffsetRange(topic, Position(10, -1), Position(30, 4))), 1)(other.answer)
    assertEquals(other.takeRequests(), Seq("list", "metadata"), "limits need all that tasks need")
    val third = new Cluster
    list(third, 10)
    third.known.keepLists(_ => false)
    assertEquals(third.known.entriesBetween(topic, 10, 20), None)
  }

  test("a later list is added to what ranges need, from the ledger on that was open") {
    val cluster = new Cluster
    cluster.locate(Position(10, -1), Position(20, 9), None)
    cluster.sizes = cluster.sizes.init ++ Seq(30L -> 90L, 40L -> 100L, 50L -> 7L)
    cluster.takeRequests()
    list(cluster, 40, ids => assertEquals(ids, Interval(30)))
    assertEquals(cluster.known.entriesBetween(topic, 20, 50), Some((100L, 190L)))
    assertEquals(cluster.takeRequests(), Seq("list"))
    val closed = cluster.locate(Position(20, 9), Position(30, 89), None)
    assertEquals((homes(closed), closed.lastEntry(closed.get(30).get)), (Seq(20L, 30L), Some(89L)))
    assertEquals(cluster.takeRequests(), Nil)
    assertEquals(homes(cluster.locate(Position(30, 89), Position(40, 9), None)), Seq(30L, 40L, 50L))
    assertEquals(cluster.takeRequests(), Seq("metadata"))
  }

  test("a list that arrives late changes nothing") {
    val cluster = new Cluster
    val late    = new CompletableFuture[TopicStorage]
    cluster.known.list(topic, 10)(_ => late)
    val before = cluster.answer(Map(topic -> Interval.Always), withMetadata = false)(topic)
    cluster.sizes = cluster.sizes.init ++ Seq(30L -> 90L, 40L -> 7L)
    cluster.locate(Position(30, 4), Position(40, 6), None)
    late.complete(before)
    cluster.takeRequests()
    assertEquals(homes(cluster.locate(Position(40, 2), Position(40, 6), None)), Seq(40L))
    assertEquals(cluster.takeRequests(), Nil)
  }

  test("a range within the one before: nothing is requested where tasks follow, for they end anywhere") {
    def requested(isFollowed: Boolean): Seq[String] = {
      val cluster                = new Cluster
      def locate(from: Position) =
        cluster.known.locate(Seq(OffsetRange(topic, from, Position(30, 4))), None, isFollowed)(cluster.answer)
      locate(Position(10, -1))
      cluster.takeRequests()
      locate(Position(20, 7))
      cluster.takeRequests()
    }
    assertEquals(requested(isFollowed = true), Nil)
    assertEquals(requested(isFollowed = false), Seq("metadata"))
  }
}
