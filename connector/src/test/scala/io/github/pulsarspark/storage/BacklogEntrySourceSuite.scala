package io.github.pulsarspark.storage

import scala.collection.mutable

import io.netty.buffer.{ByteBuf, Unpooled}

import io.github.pulsarspark.UnitSuite
import io.github.pulsarspark.errors.LostRanges
import io.github.pulsarspark.format.UndecidedTransaction
import io.github.pulsarspark.options.ReadOptions
import io.github.pulsarspark.options.registry.{CheckedOptions, Scope}
import io.github.pulsarspark.position.{OffsetRange, Position}
import io.github.pulsarspark.pulsar.broker.GrowingEntrySource
import io.github.pulsarspark.storage.segment.{SegmentUnreadable, Slice}

/** The driver counts each entry once and in order, whoever delivers it. Ledgers have the ids 1, 2, ... and entries 0 to 4.
  */
class BacklogEntrySourceSuite extends UnitSuite {

  private val topic  = "persistent://public/default/t"
  private val Last   = 4L
  private val stored = 1L to 3L

  private def entries(ledgers: Seq[Long]) = ledgers.flatMap(l => (0L to Last).map(Position(l, _)))

  private final class Setup(start: Position = Position(1, -1), end: Position = Position(4, 2), atOnce: Int = 9) {
    val trace: mutable.Buffer[String] = mutable.Buffer.empty
    val store                         = new FakeStore("store", trace)
    var ledgers: Seq[Long]            = stored // that take no more entries
    private val options               = ReadOptions(CheckedOptions(
      Map("service.url" -> "pulsar://localhost:1", "admin.url" -> "http://localhost:1", "topic" -> "t"),
      Scope.BatchRead,
      _ => Nil
    ))
    private val stores = new SegmentStores(Seq(store))

    val source = new BacklogEntrySource(OffsetRange(topic, start, end), slices, open,
      range => (most, _) => { trace += s"aborted in $range"; most == 1 }, new FromBroker(_, trace), stores)

    private def slices(range: OffsetRange): Seq[Slice] = {
      trace += s"stored after ${range.startExclusive}"
      ledgers.filter(l =>
        l <= range.endInclusive.ledgerId && Position(l, Last) > range.startExclusive
      ).take(atOnce).map { l =>
        val from = Seq(range.startExclusive, Position(l, -1)).max
        val to   = Seq(range.endInclusive, Position(l, Last)).min
        Slice.Direct(OffsetRange(topic, from, to), FakeStore.Place("store"), 100)
      }
    }

    private def open(slice: Slice, moved: () => Unit) =
      new SegmentEntrySource(
        slice,
        options,
        stores,
        (range, _) => new FromBroker(range, trace),
        (rest, _) => {
          trace += s"located after ${rest.startExclusive}"
          moved()
          Seq(Slice.Direct(rest, FakeStore.Place("store"), 100))
        }
      )

    def read(): Seq[Position] =
      Iterator.continually(source.next()).takeWhile(identity)
        .map(_ => Position(source.ledgerId, source.entryId)).toSeq
  }

  /** Entries that a broker delivers. */
  private final class FromBroker(range: OffsetRange, trace: mutable.Buffer[String]) extends GrowingEntrySource {
    trace += s"broker after ${range.startExclusive}"
    private var until            = range.endInclusive
    private var last             = range.startExclusive
    override def next(): Boolean = entries(1L to 9L).find(p => p > last && p <= until).map(last = _).nonEmpty
    override def extendTo(position: Position): Unit = until = position
    override def release(): Unit                    = trace += s"release $last"
    override def ledgerId: Long                     = last.ledgerId
    override def entryId: Long                      = last.entryId
    override def entry: ByteBuf                     = Unpooled.EMPTY_BUFFER
    override def lost: LostRanges                   = LostRanges.none
    override def close(): Unit                      = trace += "broker closes"
  }

  private def upTo(end: Position) = entries(1L to 9L).takeWhile(_ <= end)

  test("ledgers are read where they are stored, the next one is prepared meanwhile; the broker delivers the rest") {
    val setup = new Setup
    assert(setup.source.next())
    assertEquals(setup.trace.toSeq, Seq("stored after 1:-1", "store 0-4", "store 0-4"))
    assertEquals(Position(1, 0) +: setup.read(), upTo(Position(4, 2)))
    assertEquals(setup.trace.drop(3).toSeq,
      Seq("store 0-4", "stored after 3:4", "stored after 3:4", "broker after 3:4"))
    setup.source.close()
    assertEquals(setup.trace.takeRight(2).toSeq, Seq("broker closes", "store closes"))
  }

  test("more ledgers than a list has, listed in several turns") {
    val setup = new Setup(atOnce = 1)
    assertEquals(setup.read(), upTo(Position(4, 2)))
    assertEquals(setup.trace.filter(_.startsWith("stored")).toSeq,
      Seq("1:-1", "1:4", "2:4", "3:4", "3:4").map("stored after " + _))
  }

  test("a start inside a ledger, the entries after it") {
    val setup = new Setup(start = Position(2, 1))
    assertEquals(setup.read(), upTo(Position(4, 2)).filter(_ > Position(2, 1)))
    assertEquals(setup.trace.take(2).toSeq, Seq("stored after 2:1", "store 2-4"))
  }

  test("without a stored ledger the broker delivers everything, whatever is stored later") {
    val setup = new Setup
    setup.ledgers = Nil
    assertEquals(setup.read(), upTo(Position(4, 2)))
    setup.ledgers = 1L to 5L
    setup.source.extendTo(Position(6, 1))
    assertEquals(setup.read(), upTo(Position(6, 1)).filter(_ > Position(4, 2)))
    assertEquals(setup.trace.toSeq, Seq("stored after 1:-1", "broker after 1:-1"))
  }

  test("a range that ends with a ledger opens nothing else before its end moves") {
    val setup = new Setup(end = Position(2, Last))
    setup.ledgers = Seq(1L, 2L)
    assertEquals(setup.read(), upTo(Position(2, Last)))
    assert(!setup.source.next())
    val requested = setup.trace.size
    setup.ledgers = 1L to 4L
    setup.source.extendTo(Position(4, 0))
    assertEquals(setup.read(), Position(3, 0) +: upTo(Position(4, 0)).filter(_ > Position(3, 0)))
    assertEquals(setup.trace.drop(requested).head, "stored after 2:4")
  }

  test("a ledger that cannot be read is the broker's, and the next one is not") {
    val setup = new Setup
    setup.store.sources = Seq(
      s => new FakeEntries(s.ledgerId, Seq(0L, 1L), Some(new SegmentUnreadable("gone", null, Seq("bookie")))),
      s => new FakeEntries(s.ledgerId, s.first to s.last)
    )
    assertEquals(setup.read(), upTo(Position(4, 2)))
    assertEquals(setup.trace.filter(_.startsWith("broker after")).toSeq, Seq("broker after 1:1", "broker after 3:4"))
  }

  test("when a ledger is not where it was, those behind it are located again") {
    val setup = new Setup
    setup.store.sources = Seq(
      s => new FakeEntries(s.ledgerId, Seq(0L, 1L), Some(new SegmentUnreadable("gone", null))),
      s => new FakeEntries(s.ledgerId, s.first to s.last)
    )
    assertEquals(setup.read(), upTo(Position(4, 2)))
    assertEquals(
      setup.trace.toSeq.filterNot(_ == "store failed"),
      Seq(
        "stored after 1:-1",
        "store 0-4",
        "store 0-4",
        "located after 1:1",
        "store 2-4",
        "stored after 1:4",
        "store 0-4",
        "store 0-4",
        "stored after 3:4",
        "stored after 3:4",
        "broker after 3:4"
      )
    )
  }

  test("only entries that the broker does not deliver may be of aborted transactions") {
    val setup = new Setup
    assert(setup.source.next())
    assert(setup.source.isAborted(1, 0))
    assert(!setup.source.isAborted(2, 0))
    assertEquals(setup.trace.last, s"aborted in ${OffsetRange(topic, Position(1, -1), Position(4, 2))}")
    setup.source.leaveToBroker(new UndecidedTransaction("not known"))
    assertEquals(setup.read(), upTo(Position(4, 2)), "the entry is delivered again")
    assertEquals(setup.trace.filter(_.startsWith("broker after")).toSeq, Seq("broker after 1:-1", "broker after 3:4"))
    assert(!setup.source.isAborted(1, 0))
  }

  test("what is open is closed, whatever is read") {
    val setup  = new Setup
    val before = FakeEntries.closed
    assert(setup.source.next())
    setup.source.close()
    assertEquals(FakeEntries.closed - before, 2)
    assertEquals(setup.trace.last, "store closes")
  }
}
