package io.github.pulsarspark.storage

import scala.collection.mutable

import io.netty.buffer.ByteBuf
import munit.FunSuite

import io.github.pulsarspark.errors.LostRanges
import io.github.pulsarspark.format.{EntryIndex, Sent, StoredEntry}
import io.github.pulsarspark.format.entry.EntrySource
import io.github.pulsarspark.position.Position
import io.github.pulsarspark.storage.segment.{Segment, SegmentUnreadable}

class ClosedLedgersSuite extends FunSuite {

  /** An entry of two messages whose index is its id; closed sources are counted. */
  private final class Numbered(segment: Segment, trace: mutable.Buffer[String]) extends EntrySource {
    override val ledgerId: Long = segment.ledgerId
    override val entryId: Long  = segment.first
    override val entry: ByteBuf =
      StoredEntry(Seq(Sent.text("a"), Sent.text("b")), batched = true, brokerIndex = Some(entryId)).bytes
    override def next(): Boolean  = { trace += s"read $entryId"; segment.first == segment.last }
    override def lost: LostRanges = LostRanges.none
    override def close(): Unit    = { trace += "close"; entry.release(); () }
  }

  private final class Setup {
    val trace   = mutable.Buffer.empty[String]
    val store   = new FakeStore("bookies", trace)
    val segment = Segment(7, 0, 999, 100000, FakeStore.Place("bookies"))
    val ledgers = new ClosedLedgers.Stored(Seq(segment), new SegmentStores(Seq(store)), () => trace += "moved")
    store.sources = Seq(new Numbered(_, trace))

    def indexes(entries: Long*): Seq[Option[EntryIndex]] = ledgers.indexes(entries.map(Position(7, _)))
  }

  test("single entries are requested together, and closed") {
    val setup = new Setup
    assertEquals(setup.indexes(3, 900), Seq(Some(EntryIndex(3, 2)), Some(EntryIndex(900, 2))))
    assertEquals(setup.trace.toSeq,
      Seq("bookies 3-3", "bookies 900-900", "read 3", "read 900", "close", "close"))
    setup.trace.clear()
    val many = setup.indexes((0L until 40L): _*)
    assertEquals(many.flatten.map(_.last), 0L until 40L)
    assertEquals(setup.trace.take(16).toSeq, (0 until 16).map(n => s"bookies $n-$n"), "so many at a time")
  }

  test("an entry that cannot be read is a failure that the store knows of, and everything is closed") {
    val setup = new Setup
    setup.store.sources = Seq(
      new Numbered(_, setup.trace),
      s => new FakeEntries(s.ledgerId, Nil, Some(new SegmentUnreadable("gone", null, Seq("bookie 1"))))
    )
    val before = FakeEntries.closed
    val _      = intercept[SegmentUnreadable](setup.indexes(3, 900))
    assertEquals(setup.trace.toSeq,
      Seq("bookies 3-3", "bookies 900-900", "read 3", "bookies failed bookie 1", "moved", "close"))
    assertEquals(FakeEntries.closed - before, 1)
  }

  test("when one cannot be opened, those before it are closed") {
    val setup = new Setup
    setup.store.sources = Seq(new Numbered(_, setup.trace), _ => throw new SegmentUnreadable("gone", null))
    val _ = intercept[SegmentUnreadable](setup.indexes(3, 900))
    assertEquals(setup.trace.toSeq, Seq("bookies 3-3", "bookies 900-900", "bookies failed", "moved", "close"))
  }
}
