package io.github.pulsarspark.read.stream.limits

import java.util.concurrent.{CountDownLatch, TimeUnit}

import scala.concurrent.duration._

import io.github.pulsarspark.{TestSeed, UnitSuite}
import io.github.pulsarspark.position.{OffsetRange, Position}

class BacklogWalkSuite extends UnitSuite {

  /** A stream over partitions in memory.
    *
    * @param sizes
    *   the entries of each partition, by their numbers of messages
    */
  private final class Reading(sizes: Map[String, Seq[Int]], patience: FiniteDuration = 1.minute) {
    var entries: Map[String, Seq[(Position, Int)]] = sizes.map { case (p, all) => p -> placed(all) }
    var clock                                      = 0L
    val fake                                       = new FakeEntries(entries)
    val backlog                                    = new BacklogWalk(fake.walk(_), patience, () => clock)
    var read: Map[String, Position]                = entries.map { case (p, _) => p -> Position(1, -1) }

    private def placed(all: Seq[Int]) = all.zipWithIndex.map { case (n, i) => Position(1, i.toLong) -> n }

    def add(partition: String, more: Int*): Unit =
      entries = entries.updated(partition, placed(entries(partition).map(_._2) ++ more))

    /** Rows of the next micro-batch by partition. */
    def trigger(budget: TriggerBudget): Map[String, Long] = {
      val ranges = entries.toSeq.map { case (p, all) =>
        OffsetRange(p, read(p), all.lastOption.fold(read(p))(_._1))
      }.filterNot(_.isEmpty)
      val ends   = backlog.ends(ranges, entries.keySet, budget)
      val counts = ends.map { case (p, end) => p -> (rowsUpTo(p, end) - rowsUpTo(p, read(p))) }.filter(_._2 > 0)
      read = read ++ ends
      counts
    }

    private def rowsUpTo(partition: String, end: Position): Long = entries(partition).map { case (p, n) =>
      if (p <= end) n.toLong else if (p == end.wholeEntry) end.batchIndex + 1L else 0L
    }.sum
  }

  private def rows(n: Long) = TriggerBudget(rows = Some(n))

  test("a limit of rows is used up, whatever the partitions have, and what one lacks goes to the others") {
    val reading = new Reading(Map("a" -> Seq(1000), "b" -> Seq(2, 1), "c" -> Seq.fill(300)(7), "d" -> Nil))
    val first   = reading.trigger(rows(100))
    assertEquals(first("b"), 3L)
    assertEquals(first.values.sum, 100L)
    assert(math.abs(first("a") - first("c")) <= 1, first)
    val rest = Iterator.continually(reading.trigger(rows(100)).values.sum).takeWhile(_ > 0).toSeq
    assert(rest.dropRight(1).forall(_ == 100), rest)
    assertEquals(rest.sum + 100, 1000L + 3 + 2100)
    assertEquals(reading.fake.opened.size, 3, "one walk for each partition with a backlog")
    assertEquals(reading.fake.read.size, 1 + 2 + 300, "each entry is read once")
    reading.backlog.close()
    assertEquals(reading.fake.closed.size, 3)
    assertEquals(reading.fake.leaked, 0)
  }

  test("no partition starves where the limit is smaller than their number") {
    val names   = (1 to 7).map(n => s"p$n")
    val reading = new Reading(names.map(_ -> Seq(100)).toMap)
    val batches = (1 to 4).map(_ => reading.trigger(rows(2)))
    assert(batches.forall(_.values.sum == 2), batches)
    assertEquals(batches.flatMap(_.keys).toSet, names.toSet)
  }

  test("bytes are exceeded by at most one entry of each partition") {
    val size    = FakeEntries.bytes(7)
    val reading = new Reading(Map("a" -> Seq.fill(100)(7), "b" -> Seq.fill(100)(7)))
    (1 to 5).foreach { _ =>
      val entries = reading.trigger(TriggerBudget(bytes = Some(10 * size + 1))).values.sum / 7
      assert(entries >= 11 && entries <= 12, entries)
    }
    assertEquals(reading.trigger(TriggerBudget(bytes = Some(1))).values.sum, 7L, "one entry at least")
  }

  test("the first limit that is reached ends a micro-batch") {
    val size    = FakeEntries.bytes(7)
    val reading = new Reading(Map("a" -> Seq.fill(100)(7)))
    assertEquals(reading.trigger(TriggerBudget(Some(10), Some(100 * size))), Map("a" -> 10L))
    assertEquals(reading.trigger(TriggerBudget(Some(1000), Some(3 * size))),
      Map("a" -> 18L)) // 4 of an entry that is cut
  }

  private val minimum = TriggerBudget(minimum = Some((10, 1000)))

  test("a trigger waits for the minimum, or for the time since the last micro-batch") {
    val reading = new Reading(Map("a" -> Seq(3), "b" -> Nil))
    assertEquals(reading.trigger(minimum), Map("a" -> 3L), "the first one does not wait")
    reading.clock += 1
    reading.add("a", 3, 3)
    assertEquals(reading.trigger(minimum), Map.empty[String, Long])
    reading.add("b", 3)
    assertEquals(reading.trigger(minimum), Map.empty[String, Long])
    reading.add("b", 50)
    assertEquals(reading.trigger(minimum), Map("a" -> 6L, "b" -> 53L), "then everything is read")
    reading.add("a", 2)
    reading.clock += 999999999
    assertEquals(reading.trigger(minimum), Map.empty[String, Long])
    reading.clock += 1
    assertEquals(reading.trigger(minimum), Map("a" -> 2L))
    reading.add("a", 1)
    reading.clock += 1
    assertEquals(reading.trigger(minimum), Map.empty[String, Long], "the time counts from the last micro-batch")
  }

  test("what was counted while a trigger waits is not read again, and a maximum holds") {
    val reading = new Reading(Map("a" -> Seq(1)))
    val both    = minimum.copy(rows = Some(12))
    reading.trigger(both)
    reading.clock += 1
    (1 to 3).foreach { _ =>
      reading.add("a", 3)
      assertEquals(reading.trigger(both), Map.empty[String, Long])
    }
    reading.add("a", 9)
    assertEquals(reading.trigger(both), Map("a" -> 12L))
    assertEquals(reading.fake.read.size, 5)
    assertEquals(reading.fake.opened.size, 1)
  }

  test("bytes that are used up end the wait for a minimum") {
    val reading = new Reading(Map("a" -> Seq(1)))
    val both    = TriggerBudget(bytes = Some(1), minimum = Some((10, 1000)))
    reading.trigger(both)
    reading.clock += 1
    reading.add("a", 3, 3)
    assertEquals(reading.trigger(both), Map("a" -> 3L))
  }

  test("a walk whose time is over is a smaller micro-batch, never an empty one") {
    val reading = new Reading(Map("a" -> Seq(5, 5, 5), "b" -> Seq(5)), patience = 0.seconds)
    val sizes   = Iterator.continually(reading.trigger(rows(100)).values.sum).takeWhile(_ > 0).toSeq
    assertEquals(sizes.sum, 20L)
  }

  test("a failure of one walk is the failure of the trigger, and all begin anew after it") {
    val reading = new Reading(Map("a" -> Seq(5, 5, 5), "b" -> Seq(5, 5)))
    assertEquals(reading.trigger(rows(4)).values.sum, 4L)
    reading.fake.failing = Set(Position(1, 1))
    intercept[IllegalStateException](reading.trigger(rows(100)))
    assertEquals(reading.fake.closed.size, 2)
    reading.fake.failing = Set.empty
    assertEquals(reading.trigger(rows(100)).values.sum, 21L)
    assertEquals(reading.fake.opened.map(_.startExclusive).distinct.size, 2)
    reading.backlog.close()
    assertEquals(reading.fake.closed.size, reading.fake.opened.size)
  }

  test("walks of partitions that are gone, or that a restart reads from elsewhere, are closed") {
    val reading = new Reading(Map("a" -> Seq(5, 5), "b" -> Seq(5, 5)))
    reading.trigger(rows(4))
    reading.read = reading.read.updated("a", Position(1, -1))
    reading.entries -= "b"
    assertEquals(reading.trigger(rows(100)), Map("a" -> 10L))
    assertEquals(reading.fake.closed.map(_.topic).toSet, Set("a", "b"))
  }

  test("consumers that stay open are limited in number") {
    val many    = (1 to BacklogWalk.MaxOpen + 50).map(n => f"p$n%04d" -> Seq(2)).toMap
    val reading = new Reading(many)
    assertEquals(reading.trigger(rows(many.size.toLong)).size, many.size)
    assertEquals(reading.fake.closed.size, 50)
    assertEquals(reading.trigger(rows(10000)).size, many.size)
    reading.backlog.close()
    assertEquals(reading.fake.closed.size, reading.fake.opened.size)
  }

  test("random triggers read every message once, within their limits") {
    val seed   = TestSeed.next()
    val random = new scala.util.Random(seed)
    (1 to 100).foreach { run =>
      val names   = (1 to 1 + random.nextInt(4)).map(n => s"p$n")
      def batch() = 1 + random.nextInt(20)
      val reading = new Reading(names.map(_ -> Seq.fill(random.nextInt(30))(batch())).toMap)
      var total   = 0L
      def all     = reading.entries.values.flatten.map(_._2.toLong).sum
      def step()  = {
        val limit = 1L + random.nextInt(60)
        val read  = reading.trigger(rows(limit)).values.sum
        assert(read <= limit, s"run $run: $read of $limit")
        total += read
        read
      }
      (1 to 20).foreach { _ =>
        if (random.nextBoolean())
          reading.add(names(random.nextInt(names.size)), Seq.fill(random.nextInt(5))(batch()): _*)
        val left = all - total
        val read = step()
        assert(left == 0 || read > 0, s"run $run: nothing of $left")
      }
      while (total < all) step()
      reading.backlog.close()
      assertEquals(reading.fake.closed.size, reading.fake.opened.size, s"run $run")
    }
  }

  test("an interrupt ends the walks that are under way") {
    val reading = new Reading(Map("a" -> Seq(5), "b" -> Seq(5)))
    val blocked = new CountDownLatch(1)
    val begun   = new CountDownLatch(2)
    val backlog = new BacklogWalk(
      range => {
        begun.countDown()
        new FakeEntries({ blocked.await(); reading.entries }).walk(range)
      },
      1.minute
    )
    @volatile var failure: Option[Throwable] = None
    val thread                               = new Thread(() =>
      try {
        backlog.ends(reading.entries.keys.toSeq.map(OffsetRange(_, Position(1, -1), Position(1, 0))),
          reading.entries.keySet, rows(10))
        ()
      } catch { case e: Throwable => failure = Some(e) }
    )
    thread.start()
    assert(begun.await(60, TimeUnit.SECONDS), "the walks do not begin")
    thread.interrupt()
    thread.join(60000)
    assert(failure.exists(_.isInstanceOf[InterruptedException]), failure)
    backlog.close()
  }
}
