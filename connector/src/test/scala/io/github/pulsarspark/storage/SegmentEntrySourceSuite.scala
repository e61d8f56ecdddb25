package io.github.pulsarspark.storage

import scala.collection.mutable

import io.github.pulsarspark.UnitSuite
import io.github.pulsarspark.errors.{LostRanges, PulsarError}
import io.github.pulsarspark.format.entry.EntrySource
import io.github.pulsarspark.format.{Tier, UndecidedTransaction}
import io.github.pulsarspark.options.ReadOptions
import io.github.pulsarspark.options.registry.{CheckedOptions, Scope}
import io.github.pulsarspark.position.{OffsetRange, Position}
import io.github.pulsarspark.storage.segment.{Segment, SegmentUnreadable, Slice}

/** Entries 0 to 9 of a ledger arrive once and in order, whatever its store does. */
class SegmentEntrySourceSuite extends UnitSuite {

  private val ledger = 7L
  private val range  = OffsetRange("persistent://public/default/t", Position(ledger, -1), Position(ledger, 9))

  private def direct(range: OffsetRange) = Slice.Direct(range, FakeStore.Place("store"), 100)

  private def unreadable(silent: String*) = new SegmentUnreadable("entry is damaged", null, silent)

  /** The entries of a segment, of which the one at `entry` cannot be read. */
  private def until(entry: Long, failure: => Throwable = unreadable())(segment: Segment): EntrySource =
    new FakeEntries(ledger, segment.first until entry, Some(failure))

  private def whole(segment: Segment): EntrySource = new FakeEntries(ledger, segment.first to segment.last)

  /** A reader of the range, its store, and what was requested of both, of the admin service and of the broker. */
  private final class Setup(level: String, pollTimeoutMs: Long = 60000, start: Slice = direct(range)) {
    val trace: mutable.Buffer[String] = mutable.Buffer.empty
    val store                         = new FakeStore("store", trace)
    private val options               = ReadOptions(CheckedOptions(
      Map("service.url" -> "pulsar://localhost:1", "admin.url" -> "http://localhost:1", "topic" -> "t",
        "readLevel"     -> level, "pollTimeoutMs"              -> pollTimeoutMs.toString),
      Scope.BatchRead,
      _ => Nil
    ))
    var located: OffsetRange => Seq[Slice] = rest =>
      Seq(direct(rest))

    val source = new SegmentEntrySource(start, options, new SegmentStores(Seq(store)), (range, _) => broker(range),
      (rest, _) => locate(rest))

    private def broker(range: OffsetRange): EntrySource = {
      trace += s"broker after ${range.startExclusive.entryId}"
      new FakeEntries(ledger, range.startExclusive.entryId + 1 to range.endInclusive.entryId)
    }

    private def locate(rest: OffsetRange): Seq[Slice] = {
      trace += s"locate after ${rest.startExclusive.entryId}"
      located(rest)
    }

    def read(): Seq[Long] = Iterator.continually(source.next()).takeWhile(identity).map(_ => source.entryId).toSeq
  }

  private val auto    = "auto"
  private val segment = "segment"

  /** Cases: name, read level, sources that the store opens one after the other, and the expected requests. */
  private val readCompletely = Seq(
    ("a store that responds is read", auto, Seq(whole _), Seq("store 0-9")),
    ("an unreadable entry: the rest is located again", auto, Seq(until(4) _, whole _),
      Seq("store 0-9", "store failed", "locate after 3", "store 4-9")),
    ("the same without the broker", segment, Seq(until(4) _, whole _),
      Seq("store 0-9", "store failed", "locate after 3", "store 4-9")),
    ("an entry that stays unreadable: after two look-ups the broker reads", auto, Seq(until(4) _),
      Seq("store 0-9", "store failed", "locate after 3", "store 4-9", "store failed", "locate after 3", "store 4-9",
        "store failed", "broker after 3")),
    ("look-ups are counted for the whole slice", auto, Seq(until(2) _, until(4) _, until(6) _, whole _),
      Seq("store 0-9", "store failed", "locate after 1", "store 2-9", "store failed", "locate after 3", "store 4-9",
        "store failed", "broker after 5")),
    ("a silent store: the broker reads at once", auto, Seq(until(4, unreadable("bookie-1")) _),
      Seq("store 0-9", "store failed bookie-1", "broker after 3")),
    ("a silent store without the broker: the rest is located again", segment,
      Seq(until(4, unreadable("bookie-1")) _, whole _),
      Seq("store 0-9", "store failed bookie-1", "locate after 3", "store 4-9")),
    ("a source that does not open is like one that fails", auto,
      Seq((_: Segment) => throw unreadable(), whole _),
      Seq("store 0-9", "store failed", "locate after -1", "store 0-9"))
  )

  for ((name, level, sources, requested) <- readCompletely) test(name) {
    val setup = new Setup(level)
    setup.store.sources = sources
    assertEquals(setup.read(), 0L to 9L)
    assertEquals(setup.trace.toSeq, requested)
  }

  test("an entry that stays unreadable without the broker is an error, which names the position before it") {
    for (silent <- Seq(Nil, Seq("bookie-1"))) {
      val setup = new Setup(segment)
      setup.store.sources = Seq(until(4, unreadable(silent: _*)) _)
      val error = intercept[RuntimeException with PulsarError](setup.read())
      assertEquals(error.condition, "PULSAR_SEGMENT_READ_FAILED")
      assertEquals(error.parameters("position"), "7:3")
      assertEquals(error.parameters("cause"), "entry is damaged")
      assertEquals(setup.trace.count(_.startsWith("locate")), 2)
    }
  }

  test("after pollTimeoutMs nothing is located again") {
    val setup                           = new Setup(auto, pollTimeoutMs = 1)
    def slowly(s: Segment): EntrySource = {
      val deadline = System.nanoTime() + 5000000
      while (System.nanoTime() < deadline) Thread.onSpinWait()
      until(0)(s)
    }
    setup.store.sources = Seq(slowly _)
    assertEquals(setup.read(), 0L to 9L)
    assertEquals(setup.trace.toSeq, Seq("store 0-9", "store failed", "broker after -1"))
  }

  test("a defect in a store, no fallback hides it") {
    val setup = new Setup(auto)
    setup.store.sources = Seq(until(4, new IllegalStateException("defect")) _)
    assertEquals(intercept[IllegalStateException](setup.read()).getMessage, "defect")
  }

  test("a store with an obstacle is not read where the broker may") {
    val byBroker = new Setup(auto)
    byBroker.store.obstacle = Some("no connection")
    assertEquals(byBroker.read(), 0L to 9L)
    assertEquals(byBroker.trace.toSeq, Seq("broker after -1"))
    val direct = new Setup(segment)
    direct.store.obstacle = Some("no connection")
    assertEquals(direct.read(), 0L to 9L)
    assertEquals(direct.trace.toSeq, Seq("store 0-9"))
  }

  test("a prepared read is the one that is read, unless its store has an obstacle by then") {
    val prepared = new Setup(auto)
    prepared.source.prepare()
    assertEquals(prepared.read(), 0L to 9L)
    assertEquals(prepared.trace.toSeq, Seq("store 0-9"))
    val late = new Setup(auto)
    late.source.prepare()
    late.store.obstacle = Some("no connection")
    assertEquals(late.read(), 0L to 9L)
    assertEquals(late.trace.toSeq, Seq("store 0-9", "broker after -1"))
  }

  test("what fails to be prepared is tried again when it is read") {
    val setup = new Setup(auto)
    setup.store.sources = Seq((_: Segment) => throw unreadable("bookie-1"), whole _)
    setup.source.prepare()
    assertEquals(setup.read(), 0L to 9L)
    assertEquals(setup.trace.toSeq, Seq("store 0-9", "store 0-9"))
  }

  test("a slice that the broker reads, nothing is prepared") {
    val setup = new Setup(auto, start = Slice.ByBroker(range, "readLevel is broker"))
    setup.source.prepare()
    assertEquals(setup.trace.toSeq, Nil)
    assertEquals(setup.read(), 0L to 9L)
    assertEquals(setup.trace.toSeq, Seq("broker after -1"))
  }

  test("what is located again may be in several places") {
    val setup = new Setup(auto)
    setup.store.sources = Seq(until(4) _, whole _)
    setup.located = rest =>
      Seq(
        direct(OffsetRange(rest.topic, rest.startExclusive, Position(ledger, 6))),
        Slice.ByBroker(OffsetRange(rest.topic, Position(ledger, 6), rest.endInclusive),
          "its metadata is not understood")
      )
    val levels = Iterator.continually(setup.source.next()).takeWhile(identity).map(_ => setup.source.level).toSeq
    assertEquals(levels, Seq.fill(7)(Tier.Tiered) ++ Seq.fill(3)(Tier.Broker))
    assertEquals(setup.trace.toSeq,
      Seq("store 0-9", "store failed", "locate after 3", "store 4-6", "broker after 6"))
  }

  test("entries out of order or outside the range are rejected and counted") {
    val setup = new Setup(auto)
    setup.store.sources = Seq(_ => new FakeEntries(ledger, Seq(0L, 1L, 1L, 0L, 2L) ++ (3L to 11L)))
    assertEquals(setup.read(), 0L to 9L)
    assertEquals(setup.source.rejectedEntries, 4L)
  }

  test("an undecided transaction: the broker delivers the current entry and the rest") {
    val setup = new Setup(auto)
    (0 to 4).foreach(_ => assert(setup.source.next()))
    setup.source.leaveToBroker(new UndecidedTransaction("not known"))
    assertEquals(setup.read(), 4L to 9L)
    assertEquals(setup.trace.toSeq, Seq("store 0-9", "broker after 3"))
  }

  test("an undecided transaction without the broker is an error") {
    val setup = new Setup(segment)
    (0 to 4).foreach(_ => assert(setup.source.next()))
    val error = intercept[RuntimeException with PulsarError](
      setup.source.leaveToBroker(new UndecidedTransaction("not known"))
    )
    assertEquals(error.condition, "PULSAR_SEGMENT_READ_FAILED")
    assertEquals(error.parameters("position"), "7:3")
  }

  test("every source is closed, and its lost ranges still count") {
    val setup  = new Setup(auto)
    val before = FakeEntries.closed
    setup.store.sources =
      Seq(s => new FakeEntries(ledger, s.first until 4, Some(unreadable()), lost = LostRanges(2, Nil)), whole _)
    assertEquals(setup.read(), 0L to 9L)
    setup.source.close()
    assertEquals(FakeEntries.closed - before, 2)
    assertEquals(setup.source.lost.count, 2L)
  }
}
