package io.github.pulsarspark.storage

import io.github.pulsarspark.UnitSuite
import io.github.pulsarspark.position.{OffsetRange, Position}
import io.github.pulsarspark.storage.segment.{StoredLedger, TopicStorage}

class StreamTailSuite extends UnitSuite {

  private val topic = "persistent://public/default/t"
  private val mb    = 1L << 20
  private val tail  = StreamTail(1000, Map.empty)

  /** Ledgers 10 and 20 of 100 entries each, and 30, which is being written. */
  private def storage(entryBytes: Long): TopicStorage = TopicStorage(
    IndexedSeq(10L, 20L, 30L).map(id =>
      if (id == 30) StoredLedger(id, 0, 0, false, None) else StoredLedger(id, 100, 100 * entryBytes, false, None)
    ),
    Some((10, 30)),
    Position(30, 99),
    100 * entryBytes,
    100
  )

  private def broker(entryBytes: Long, from: Position, to: Position, tail: StreamTail = tail): Seq[Long] = {
    val range  = OffsetRange(topic, from, to)
    val isTail = tail.ledgers(range, storage(entryBytes))
    storage(entryBytes).within(range).filter(isTail).map(_.id)
  }

  test("the broker reads a little range, and a little of the newest ledger") {
    assertEquals(broker(100, Position(10, -1), Position(30, 99)), Seq(10L, 20L, 30L))
    assertEquals(broker(mb, Position(20, 97), Position(30, 1)), Seq(20L, 30L))
    assertEquals(broker(mb, Position(20, 10), Position(30, 3)), Seq(30L))
    assertEquals(broker(mb, Position(20, 10), Position(30, 4)), Nil)
  }

  test("a range is backlog when the topic goes on in later ledgers") {
    def at(latest: Position) = StreamTail(1000, Map(topic -> latest))
    assertEquals(broker(100, Position(10, -1), Position(20, 9), at(Position(20, 99))), Seq(10L, 20L))
    assertEquals(broker(100, Position(10, -1), Position(20, 9), at(Position(30, 0))), Nil)
  }

  test("so many entries are little by their size, and by their number while that is unknown") {
    assert(tail.isLittle(1000, None))
    assert(!tail.isLittle(1001, None))
    assert(tail.isLittle(4 * mb, Some(1)))
    assert(!tail.isLittle(5, Some(mb)))
  }

  test("the newest ledger alone: a little of it, and nothing of others") {
    val newest = tail.copy(newestOnly = true)
    assertEquals(broker(100, Position(10, -1), Position(30, 99), newest), Seq(30L))
    assertEquals(broker(mb, Position(20, 10), Position(30, 3), newest), Seq(30L))
    assertEquals(broker(mb, Position(20, 10), Position(30, 4), newest), Nil)
  }
}
