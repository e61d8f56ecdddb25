package io.github.pulsarspark.storage.backlog

import java.util.concurrent.{Semaphore, TimeUnit}

import scala.collection.mutable

import io.netty.buffer.ByteBuf
import org.apache.pulsar.common.api.proto.MessageMetadata

import io.github.pulsarspark.UnitSuite
import io.github.pulsarspark.common.BlockingParallel
import io.github.pulsarspark.errors.{Conditions, LostRanges}
import io.github.pulsarspark.format.{Sent, StoredEntry, Tier, TieredEntrySource, TransactionView, UndecidedTransaction}
import io.github.pulsarspark.position.{OffsetRange, Position}
import io.github.pulsarspark.storage.backlog.EntriesAhead.Step
import io.github.pulsarspark.storage.segment.Slice

/** Entries of slices that are read in the background, which a test does when it says so. */
class EntriesAheadSuite extends UnitSuite {

  private val ids = 0L to 4L

  private def entry(transaction: Option[Long]): ByteBuf = StoredEntry(Seq(Sent.text("x" * 100)), batched = false,
    metadata = (m: MessageMetadata) =>
      transaction.foreach(id => m.setTxnidMostBits(id).setTxnidLeastBits(0)))
    .bytes

  /** Entries 0 to 4 of a ledger, and what becomes of them. */
  private final class Entries(
      override val ledgerId: Long,
      trace: mutable.Buffer[String],
      failsAt: Option[Long],
      transaction: Option[Long],
      buffer: Option[ByteBuf] = None
  ) extends TieredEntrySource {
    private var at               = -1L
    private var tier: Tier       = Tier.Bookies
    override def next(): Boolean = {
      at += 1
      if (failsAt.contains(at)) throw new IllegalStateException(s"at $ledgerId:$at")
      ids.contains(at)
    }
    override def entryId: Long  = at
    override def entry: ByteBuf =
      buffer.getOrElse(EntriesAheadSuite.this.entry(transaction.filter(_ => at % 2 == 1)))
    override def level: Tier      = tier
    override def lost: LostRanges =
      if (at >= 2) LostRanges.none + Conditions.DataLossTrimmed("t", "1:0", "1:1", "gone") else LostRanges.none
    override def reconnects: Long                                     = math.max(0L, at)
    override def rejectedEntries: Long                                = 0
    override def prepare(): Unit                                      = trace += s"prepare $ledgerId"
    override def leaveToBroker(undecided: UndecidedTransaction): Unit = {
      trace += s"broker at $ledgerId:$at"
      tier = Tier.Broker
      at -= 1
    }
    override def close(): Unit = trace += s"close $ledgerId"
  }

  private final class Case(
      ledgers: Seq[Long],
      most: Long = 1L << 20,
      failsAt: Option[Long] = None,
      transaction: Option[Long] = None,
      view: TransactionView = TransactionView.NothingAborted
  ) {
    val trace: mutable.Buffer[String] = mutable.Buffer.empty
    var calls                         = 0
    private val waiting               = mutable.Queue.empty[() => Unit]
    private val slices = ledgers.map(l => Slice.ByBroker(OffsetRange("t", Position(l, -1), Position(l, 4))))
    val ahead          = new EntriesAhead(
      new SliceEntries(slices, s => new Entries(s.range.endInclusive.ledgerId, trace, failsAt, transaction), view,
        () => { trace += "close storage"; () }),
      most,
      work => { waiting += work; () }
    )
    ahead.begin(() => calls += 1)

    def work(): Unit = waiting.removeAll().foreach(_())

    def next(): Step = ahead.next()

    /** Entries until there is none for now, and what came then. */
    def drain(): (Seq[String], Step) = {
      val found = mutable.Buffer.empty[String]
      var step  = next()
      while (step == Step.Entry) {
        found += s"${ahead.current.ledgerId}:${ahead.current.entryId}"
        step = next()
      }
      (found.toSeq, step)
    }
  }

  private def all(ledgers: Long*) = ledgers.flatMap(l => ids.map(e => s"$l:$e"))

  test("all slices: in order, the next one is prepared, each is closed; the reader is called and never waits") {
    val c = new Case(Seq(1, 2, 3))
    assertEquals(c.next(), Step.Silence)
    assertEquals(c.calls, 0)
    c.work()
    assert(c.calls >= 15)
    assertEquals(c.drain(), (all(1, 2, 3), Step.End))
    c.work()
    assertEquals(c.trace.toSeq, Seq("prepare 1", "prepare 2", "close 1", "prepare 3", "close 2", "close 3"))
    c.ahead.close()
    assertEquals(c.trace.last, "close storage")
  }

  test("a queue that is full: nothing more is read until half of it is free") {
    val c     = new Case(Seq(1, 2), most = 1000)
    val bytes = entry(None).readableBytes + 128
    c.work()
    val first = (1 to 15).takeWhile(_ => c.ahead.next() == Step.Entry).size
    assert(first > 1000 / bytes && first <= 1000 / bytes + 1, first)
    c.work()
    assert(c.drain()._1.nonEmpty)
  }

  test("a reader that sleeps when it finds nothing, beside the thread that reads: always called again") {
    val pool   = new BlockingParallel("entries-ahead-test", threads = 1)
    val called = new Semaphore(0)
    val slices = (1L to 4000L).map(l => Slice.ByBroker(OffsetRange("t", Position(l, -1), Position(l, 4))))
    val source = new SliceEntries(
      slices,
      s => new Entries(s.range.endInclusive.ledgerId, mutable.Buffer.empty, None, None, Some(entry(None))),
      TransactionView.NothingAborted,
      () => ()
    )
    val ahead = new EntriesAhead(source, most = 1, work => { pool.start(work); () })
    var read  = 0
    var step  = Step.Silence: Step
    ahead.begin(() => called.release())
    while (step != Step.End) {
      step = ahead.next()
      if (step == Step.Entry) read += 1
      else if (step == Step.Silence) {
        assert(called.tryAcquire(60, TimeUnit.SECONDS), s"asleep after $read")
        called.drainPermits()
      }
    }
    assertEquals(read, 20000)
    ahead.close()
    assert(pool.stop(60000))
  }

  test("a failure: raised after all entries before it, once") {
    val c = new Case(Seq(1), failsAt = Some(3))
    c.work()
    val found = Seq.fill(3)(c.next())
    assertEquals(found, Seq.fill(3)(Step.Entry))
    assertEquals(intercept[IllegalStateException](c.next()).getMessage, "at 1:3")
  }

  test("counts: up to the entry that the reader has, whatever was read ahead") {
    val c = new Case(Seq(1, 2))
    c.work()
    assertEquals(c.ahead.counts, SourceCounts.none)
    Seq(0, 1, 2, 3, 4).foreach { id =>
      c.next()
      assertEquals(c.ahead.counts.lost.count, if (id >= 2) 1L else 0L)
      assertEquals(c.ahead.counts.reconnects, id.toLong)
    }
    c.drain()
    assertEquals((c.ahead.counts.lost.count, c.ahead.counts.reconnects), (2L, 10L))
  }

  test("aborted transactions: their entries are left out") {
    val aborted = new Case(Seq(1), transaction = Some(7), view = (most, _) => most == 7)
    aborted.work()
    assertEquals(aborted.drain()._1, Seq("1:0", "1:2", "1:4"))
    val committed = new Case(Seq(1), transaction = Some(7))
    committed.work()
    assertEquals(committed.drain()._1, all(1))
  }

  test("an undecided transaction: the broker delivers that entry again, and is not doubted") {
    val c = new Case(Seq(1, 2), transaction = Some(7), view = (_, _) => throw new UndecidedTransaction("not known"))
    c.work()
    assertEquals(c.drain()._1, all(1, 2))
    assertEquals(c.trace.filter(_.startsWith("broker")).toSeq, Seq("broker at 1:1", "broker at 2:1"))
  }

  test("closed while work is under way: closed after it, once") {
    val c = new Case(Seq(1, 2))
    c.ahead.close()
    assertEquals(c.trace.toSeq, Nil)
    c.work()
    assertEquals(c.trace.toSeq, Seq("close storage"))
    c.ahead.close()
    assertEquals(c.trace.size, 1)
  }

  test("closed in the middle: what is open is closed") {
    val c = new Case(Seq(1, 2, 3), most = 1)
    c.work()
    assertEquals(c.next(), Step.Entry)
    c.ahead.close()
    c.work()
    assertEquals(c.trace.toSeq.filter(_.startsWith("close")).sorted, Seq("close 1", "close 2", "close storage"))
  }
}
