package io.github.pulsarspark.storage.backlog

import java.util.UUID
import java.util.concurrent.atomic.AtomicInteger

import scala.collection.mutable

import io.netty.buffer.{ByteBuf, Unpooled}

import io.github.pulsarspark.cluster.{ReadSuite, StoredTopic}
import io.github.pulsarspark.errors.{Conditions, LostRanges}
import io.github.pulsarspark.format.{Tier, TieredEntrySource, TransactionView, UndecidedTransaction}
import io.github.pulsarspark.position.{OffsetRange, Position}
import io.github.pulsarspark.pulsar.BrokerEntries
import io.github.pulsarspark.storage.KilledTasks.eventually
import io.github.pulsarspark.storage.segment.Slice

/** A backlog that is read where it is stored, and the tail of a scripted broker behind it, as [[FollowedEntries]] joins
  * them.
  */
class FollowedEntriesSuite extends ReadSuite {

  /** Entries of a ledger where they are stored, each of which counts as one that connected again. */
  private final class Stored(topic: StoredTopic, range: OffsetRange) extends TieredEntrySource {
    private val rest    = topic.entries.iterator.filter(e => e.at > range.startExclusive && e.at <= range.endInclusive)
    private var current = topic.entries.head
    private var count   = 0L

    override def next(): Boolean = {
      val more = rest.hasNext
      if (more) { current = rest.next(); count += 1 }
      more
    }
    override def ledgerId: Long        = current.at.ledgerId
    override def entryId: Long         = current.at.entryId
    override def entry: ByteBuf        = Unpooled.wrappedBuffer(current.bytes)
    override def level: Tier           = Tier.Bookies
    override def lost: LostRanges      = LostRanges.none + Conditions.DataLossTrimmed("t", "1:0", "1:1", "gone")
    override def reconnects: Long      = count
    override def rejectedEntries: Long = 7
    override def leaveToBroker(undecided: UndecidedTransaction): Unit = throw undecided
    override def close(): Unit                                        = ()
  }

  private final class NoStorage extends RuntimeException

  /** A topic whose ledgers have so many entries, and the readers of one stream.
    *
    * @param ledgers
    *   the last one is open
    */
  private final class Case(name: String, ledgers: (Long, Int)*) {
    private val topic                 = stored(name, ledgers: _*)
    private val stream                = UUID.randomUUID.toString
    val tails: mutable.Buffer[String] = mutable.Buffer.empty // where they were opened
    val calls                         = new AtomicInteger
    @volatile var isStorageOpen       = false

    /** Reads from a position on. The backlog is up to another one. */
    def open(after: Position, backlog: Option[Position]): FollowedEntries = {
      val range  = OffsetRange(topic.name, after, Position.AfterAll)
      val source = new FollowedEntries(
        range,
        topic.lastMessage,
        backlog.map { to =>
          isStorageOpen = true
          new EntriesAhead(
            new SliceEntries(Seq(Slice.ByBroker(range.copy(endInclusive = to))), s => new Stored(topic, s.range),
              TransactionView.NothingAborted, () => isStorageOpen = false),
            1L << 20,
            work => work()
          )
        },
        from => {
          tails += from.toString
          BrokerEntries.tail(range.copy(startExclusive = from), options(), stream)
        }
      )
      source.begin { () => calls.incrementAndGet(); () }
      source
    }

    /** Reads so many entries; returns them with the level that each comes from. */
    def read(source: FollowedEntries, count: Int): Seq[String] = (1 to count).map { _ =>
      eventually(s"no entry after ${source.level.name}")(source.next())
      val (at, bytes) = (Position(source.ledgerId, source.entryId), new Array[Byte](source.entry.readableBytes))
      source.entry.getBytes(source.entry.readerIndex, bytes)
      assertEquals(bytes.toSeq, topic.entries.find(_.at == at).get.bytes.toSeq, at)
      s"$at ${source.level.name}"
    }

    /** Opens the entries as a task does, with a slice up to each of these positions and a storage that fails. */
    def ofTask(after: Position, known: Position, ends: Position*): FollowedEntries = {
      val range  = OffsetRange(topic.name, after, Position.AfterAll)
      val slices = ends.map(end => Slice.ByBroker(range.copy(endInclusive = end)))
      FollowedEntries(range, known, slices, options(), stream, _ => throw new NoStorage)
    }

    def leave(source: FollowedEntries, position: Position): Unit = source.leave(stream, position)

    def end(): Unit = BrokerEntries.ended(stream)
  }

  private def following[A](name: String, ledgers: (Long, Int)*)(test: Case => A): Unit = {
    val c = new Case(name, ledgers: _*)
    try test(c)
    finally c.end()
    eventually(s"${cluster.consumers} consumers are open")(cluster.consumers == 0)
  }

  test("the backlog comes first, then the tail from the last of its entries on: each entry once, and its counts stay") {
    following("joined", 10L -> 3, 11L -> 2) { c =>
      val source = c.open(Position(10, -1), backlog = Some(Position(10, 2)))
      assertEquals(c.read(source, 3), Seq("10:0 bookies", "10:1 bookies", "10:2 bookies"))
      assert(source.isBehind && c.calls.get >= 3, c.calls)
      assertEquals(c.tails.toSeq, Nil)
      assertEquals((source.lost.count, source.rejectedEntries, source.reconnects), (1L, 7L, 3L))
      assertEquals(c.read(source, 2), Seq("11:0 broker", "11:1 broker"))
      assert(!source.isBehind && !c.isStorageOpen)
      assertEquals(c.tails.toSeq, Seq("10:2"))
      assertEquals((source.lost.count, source.rejectedEntries, source.reconnects), (1L, 7L, 3L))
      assert(!source.next(), "nothing has arrived")
      val before = c.calls.get
      stored("joined", 10L -> 3, 11L -> 3)
      eventually("the reader is not called")(c.calls.get > before)
      source.close()
    }
  }

  test("without a backlog the tail begins at the start; with one that has no entries, too") {
    following("tail", 20L -> 3) { c =>
      val source = c.open(Position(20, 0), backlog = None)
      assert(!source.isBehind)
      assertEquals(c.read(source, 2), Seq("20:1 broker", "20:2 broker"))
      source.close()
      val empty = c.open(Position(20, 1), backlog = Some(Position(20, 1)))
      assertEquals(c.read(empty, 1), Seq("20:2 broker"))
      assertEquals(c.tails.toSeq, Seq("20:0", "20:1"))
      empty.close()
    }
  }

  test("a tail is left to the next batch, which has the entry of which messages are left once more") {
    following("left", 30L -> 3) { c =>
      val first = c.open(Position(30, -1), backlog = None)
      c.read(first, 2)
      c.leave(first, Position(30, 1, 0))
      val within = c.open(Position(30, 1, 0), backlog = None)
      assertEquals(cluster.consumers, 1)
      assertEquals(c.read(within, 1), Seq("30:1 broker"))
      c.leave(within, Position(30, 1))
      val behind = c.open(Position(30, 1), backlog = None)
      assertEquals(c.read(behind, 1), Seq("30:2 broker"))
      behind.close()
    }
  }

  test("a tail that was left goes on if the backlog is in the newest ledger; else the storage has what follows") {
    following("newest", 60L -> 1, 61L -> 3) { c =>
      val first = c.open(Position(61, -1), backlog = None)
      c.read(first, 1)
      c.leave(first, Position(61, 0))
      val next = c.ofTask(Position(61, 0), known = Position(61, 2), Position(61, 1), Position(61, 2))
      next.begin(() => ())
      assertEquals(c.read(next, 2), Seq("61:1 broker", "61:2 broker"))
      c.leave(next, Position(61, 2))
      assertEquals(cluster.consumers, 1)
      intercept[NoStorage](c.ofTask(Position(61, 2), known = Position(62, 0), Position(61, 2), Position(62, 0)))
      eventually("the tail that was left is open")(cluster.consumers == 0)
    }
  }

  test("a batch that ends within its backlog leaves nothing, and closing it closes the storage") {
    following("behind", 40L -> 3, 41L -> 1) { c =>
      for (isLeft <- Seq(true, false)) {
        val source = c.open(Position(40, -1), backlog = Some(Position(40, 2)))
        assertEquals(c.read(source, 1), Seq("40:0 bookies"))
        assert(c.isStorageOpen)
        if (isLeft) c.leave(source, Position(40, 0)) else source.close()
        assert(!c.isStorageOpen)
      }
      assertEquals((c.tails.toSeq, cluster.consumers), (Nil, 0))
    }
  }

  test("aborted transactions are left out before, so that one that is undecided here is an error") {
    following("undecided", 50L -> 1) { c =>
      val source = c.open(Position(50, -1), backlog = Some(Position(50, 0)))
      assert(source.hidesAborted)
      intercept[UndecidedTransaction](source.leaveToBroker(new UndecidedTransaction("unknown")))
      source.close()
    }
  }
}
