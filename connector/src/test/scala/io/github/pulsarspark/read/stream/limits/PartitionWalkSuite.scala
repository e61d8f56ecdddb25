package io.github.pulsarspark.read.stream.limits

import org.scalacheck.Gen
import org.scalacheck.Prop._

import io.github.pulsarspark.PropertySuite
import io.github.pulsarspark.errors.LostRanges
import io.github.pulsarspark.format.{DecodeDepth, EntryDecoder, Sent, StoredEntry}
import io.github.pulsarspark.position.{Interval, OffsetRange, Position}
import io.github.pulsarspark.pulsar.broker.GrowingEntrySource

class PartitionWalkSuite extends PropertySuite {

  private val start = Position(1, -1)

  private def topic(sizes: Int*) = sizes.zipWithIndex.map { case (n, i) =>
    Position(1, i.toLong * 2) -> n
  } // markers between

  private def walk(entries: Seq[(Position, Int)], from: Position = start, until: Option[Position] = None) = {
    val fake = new FakeEntries(Map("t" -> entries))
    (fake, fake.walk(OffsetRange("t", from, until.getOrElse(entries.last._1))))
  }

  private val always = () => true

  /** The ends of micro-batches of so many rows, with their sizes. */
  private def ends(walk: PartitionWalk, rows: Long): Seq[(Position, Long)] = Iterator
    .continually {
      walk.advance(rows, Long.MaxValue, always)
      val result = walk.target -> walk.rows
      walk.admit()
      result
    }
    .takeWhile(_._2 > 0).toSeq

  test("a micro-batch ends inside a batch, at its end, or at an entry without a batch") {
    val (fake, counting) = walk(topic(1, 7, 0, 2))
    assertEquals(ends(counting, 3),
      Seq(Position(1, 2, 1) -> 3L, Position(1, 2, 4) -> 3L, Position(1, 4) -> 3L, Position(1, 6) -> 2L))
    assertEquals(fake.read.map(_._2).toSeq, Seq[Long](0, 2, 4, 6).map(Position(1, _)), "each entry is read once")
    assertEquals(fake.leaked, 0)
  }

  test("a walk starts after a message inside a batch") {
    val (_, counting) = walk(topic(5, 5), from = Position(1, 0, 2))
    assertEquals(ends(counting, 4), Seq(Position(1, 2, 1) -> 4L, Position(1, 2) -> 3L))
  }

  test("bytes end a micro-batch after the entry that exceeds them, and after one message at least") {
    val size          = FakeEntries.bytes(7)
    val (_, counting) = walk(topic(7, 7, 7, 7, 7))
    counting.advance(Long.MaxValue, 2 * size, always)
    assertEquals((counting.target, counting.rows, counting.bytes), (Position(1, 2), 14L, 2 * size))
    counting.admit()
    counting.advance(Long.MaxValue, 1, always)
    assertEquals((counting.target, counting.rows, counting.bytes), (Position(1, 4), 7L, size))
    counting.advance(3, Long.MaxValue, always)
    assertEquals((counting.target, counting.bytes), (Position(1, 6, 2), 2 * size))
    counting.advance(1, Long.MaxValue, always)
    assertEquals((counting.target, counting.bytes), (Position(1, 6, 3), 2 * size), "the same entry")
    counting.admit()
    counting.advance(1, Long.MaxValue, always)
    assertEquals((counting.target, counting.bytes), (Position(1, 6, 4), size), "a task reads the entry again")
  }

  test("the range moves on without a new source when its end was read, and not otherwise") {
    val (fake, counting) = walk(topic(2, 2, 2), until = Some(Position(1, 2)))
    assertEquals(ends(counting, 10).map(_._1), Seq(Position(1, 2)))
    assert(counting.continue(OffsetRange("t", Position(1, 2), Position(1, 4))))
    assertEquals(ends(counting, 10).map(_._1), Seq(Position(1, 4)))
    assertEquals(fake.opened.size, 1)
    assert(!counting.continue(OffsetRange("t", Position(1, 2), Position(1, 8))), "another start")
    assert(!counting.continue(OffsetRange("t", Position(1, 4), Position(1, 3))), "an end that moved back")
    val (_, early) = walk(topic(2, 2), until = Some(Position(1, 3)))
    assertEquals(ends(early, 10).map(_._1), Seq(Position(1, 3)), "the rest is gone: tasks notice")
    assert(!early.continue(OffsetRange("t", Position(1, 3), Position(1, 9))), "its end was not read")
  }

  test("a walk whose time is over has taken the messages of the entry it read") {
    val (_, counting) = walk(topic(2, 2, 2))
    counting.advance(10, Long.MaxValue, () => false)
    assertEquals((counting.target, counting.rows), (Position(1, 0), 2L))
    assert(!counting.isExhausted)
  }

  /** One entry, a compacted batch of which some messages are left. */
  private final class OneEntry(stored: StoredEntry) extends GrowingEntrySource {
    private var left                                = true
    private val buffer                              = stored.bytes
    override def next(): Boolean                    = { val more = left; left = false; more }
    override def ledgerId: Long                     = 1
    override def entryId: Long                      = 0
    override def entry: io.netty.buffer.ByteBuf     = buffer
    override def lost: LostRanges                   = LostRanges.none
    override def extendTo(position: Position): Unit = ()
    override def release(): Unit                    = ()
    override def close(): Unit                      = ()
  }

  private def single(stored: StoredEntry, level: DecodeDepth, times: Interval = Interval.Always) =
    new PartitionWalk(OffsetRange("t", start, Position(1, 0)), new OneEntry(stored), new EntryDecoder("t", level),
      times)

  test("messages that compaction removed do not count, and a micro-batch ends at none of them") {
    val batch = Seq(true, false, true, false, false, true).zipWithIndex.map { case (gone, n) =>
      Sent.text(s"m$n").copy(isCompactedOut = gone)
    }
    assertEquals(ends(single(StoredEntry(batch, batched = true), DecodeDepth.Message), 2),
      Seq(Position(1, 0, 3) -> 2L, Position(1, 0) -> 1L))
  }

  test("messages outside the times of the stream do not count") {
    val counting = single(StoredEntry(Seq(Sent.text("m")), batched = true), DecodeDepth.Entry, Interval(1800000000000L))
    counting.advance(10, Long.MaxValue, always)
    assertEquals((counting.target, counting.rows, counting.isExhausted), (Position(1, 0), 0L, true))
  }

  property("ends of any size cover all messages once, with as many as the limit but for the last") {
    forAll(Gen.nonEmptyListOf(Gen.oneOf(0, 1, 2, 7, 50)), Gen.choose(1L, 20L)) { (sizes, limit) =>
      val (fake, counting) = walk(topic(sizes: _*))
      val found            = ends(counting, limit)
      assertEquals(found.map(_._2).sum, sizes.map(math.max(1, _)).sum.toLong)
      assert(found.dropRight(1).forall(_._2 == limit), found)
      assertEquals(found.last._1, topic(sizes: _*).last._1)
      assertEquals(found.map(_._1), found.map(_._1).sorted)
      assertEquals(fake.leaked, 0)
      true
    }
  }
}
