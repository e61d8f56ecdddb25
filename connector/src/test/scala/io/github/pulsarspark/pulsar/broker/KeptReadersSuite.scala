package io.github.pulsarspark.pulsar.broker

import java.util.UUID

import io.github.pulsarspark.cluster.{LedgerHome, ReadSuite}
import io.github.pulsarspark.format.RangeGuard
import io.github.pulsarspark.format.entry.EntrySource
import io.github.pulsarspark.position.{OffsetRange, Position}
import io.github.pulsarspark.pulsar.BrokerEntries
import io.github.pulsarspark.storage.KilledTasks.eventually

/** Readers that tasks of a stream leave to each other, on a scripted cluster. */
class KeptReadersSuite extends ReadSuite {

  /** A run of a stream over a topic with so many entries. */
  private final class Run(name: String, ledger: Long, entries: Int) {
    private val run = UUID.randomUUID.toString
    stored(name, ledger -> entries)

    def open(after: Long, through: Long): EntrySource = {
      val range = OffsetRange(full(name), Position(ledger, after), Position(ledger, through))
      BrokerEntries.entries(range, options(), new RangeGuard(range), Some(run))
    }

    /** Reads a range as a task does, or its first entries, and closes its source. */
    def read(after: Long, through: Long, most: Int = Int.MaxValue): Seq[Long] = {
      val source = open(after, through)
      try Iterator.continually(source).take(most).takeWhile(_.next()).map(_.entryId).toList
      finally source.close()
    }

    def end(): Unit = BrokerEntries.ended(run)
  }

  private def consumers(count: Int): Unit =
    eventually(s"${cluster.consumers} consumers are open, not $count")(cluster.consumers == count)

  private def reading(name: String, ledger: Long, entries: Int)(test: Run => Unit): Unit = {
    val run = new Run(name, ledger, entries)
    try test(run)
    finally run.end()
    consumers(0)
  }

  test("a reader at the end of its range goes on in the next micro-batch, with what has arrived since") {
    reading("kept", 10, 3) { run =>
      assertEquals(run.read(-1, 2), Seq(0L, 1L, 2L))
      consumers(1)
      stored("kept", 10L -> 5)
      val next = run.open(2, 4)
      consumers(1)
      assertEquals((next.next(), next.entryId, next.reconnects), (true, 3L, 0L))
      next.close()
      consumers(0)
    }
  }

  test("a reader that is not at the end of its range is closed, and closing it again does no harm") {
    reading("cut", 20, 5) { run =>
      assertEquals(run.read(-1, 4, most = 2), Seq(0L, 1L))
      consumers(0)
      val source = run.open(-1, 4)
      Iterator.continually(source.next()).takeWhile(identity).foreach(_ => ())
      source.close()
      source.close()
      consumers(1)
      stored("cut", 20L -> 7)
      val both = Seq.fill(2)(run.open(4, 6))
      assertEquals(both.map(s => Iterator.continually(s).takeWhile(_.next()).map(_.entryId).toList),
        Seq.fill(2)(List(5L, 6L)), "it is left to one task")
      both.foreach(_.close())
    }
  }

  test("a range that begins elsewhere has a reader of its own") {
    reading("elsewhere", 30, 6) { run =>
      run.read(-1, 1)
      consumers(1)
      assertEquals(run.read(3, 5), Seq(4L, 5L))
      consumers(1)
      assertEquals(run.read(-1, 1), Seq(0L, 1L), "from the start again, as another run would")
    }
  }

  test("a loss is of the task that finds it, not of the next one with the same reader") {
    val run                                            = UUID.randomUUID.toString
    def read(after: Position, through: Position): Long = {
      val range  = OffsetRange(full("trimmed"), after, through)
      val source = BrokerEntries.entries(range, options("failOnDataLoss" -> "false"), new RangeGuard(range), Some(run))
      try Iterator.continually(source.next()).takeWhile(identity).foreach(_ => ())
      finally source.close()
      source.lost.count
    }
    stored("trimmed", 36L -> 3)
    try {
      assertEquals(read(Position(35, 1), Position(36, 2)), 1L)
      consumers(1)
      stored("trimmed", 36L -> 5)
      assertEquals(read(Position(36, 2), Position(36, 4)), 0L)
    } finally BrokerEntries.ended(run)
    consumers(0)
  }

  test("a stream that ends closes what its tasks left") {
    reading("ended", 40, 2) { run =>
      run.read(-1, 1)
      consumers(1)
      run.end()
      consumers(0)
    }
  }

  test("a stream that ends leaves the readers of another run alone") {
    val other = new Run("other", 45, 2)
    try reading("ends", 46, 2) { run =>
        other.read(-1, 1)
        run.read(-1, 1)
        consumers(2)
        run.end()
        consumers(1)
        stored("other", 45L -> 3)
        assertEquals(other.read(1, 2), Seq(2L))
        other.end()
      }
    finally other.end()
  }

  test("a batch leaves nothing") {
    store("batch", _ => LedgerHome.Bookie, 50L -> 2)
    val range  = OffsetRange(full("batch"), Position(50, -1), Position(50, 1))
    val source = BrokerEntries.entries(range, options(), new RangeGuard(range), None)
    Iterator.continually(source.next()).takeWhile(identity).foreach(_ => ())
    source.close()
    consumers(0)
  }
}
