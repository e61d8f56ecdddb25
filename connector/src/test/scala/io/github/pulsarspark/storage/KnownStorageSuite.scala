package io.github.pulsarspark.storage

import scala.collection.mutable
import scala.concurrent.duration._

import io.github.pulsarspark.UnitSuite
import io.github.pulsarspark.position.{OffsetRange, Position}
import io.github.pulsarspark.storage.segment.{StoredLedger, TopicStorage}

class KnownStorageSuite extends UnitSuite {

  private val topic = "persistent://public/default/t"
  private val tail  = StreamTail(1000, Map.empty)
  private var now   = 0L

  private def range(from: Position, to: Position) = OffsetRange(topic, from, to)

  private def stored(offloaded: Boolean, ids: Long*): Map[String, TopicStorage] = Map(topic -> TopicStorage(
    ids.map(StoredLedger(_, 100, 1000, offloaded, None)).toIndexedSeq,
    Some((ids.head, ids.last)),
    Position(ids.last, 99),
    0,
    0
  ))

  test("a range is short by its entries within one ledger") {
    val known = new KnownStorage
    assert(known.isShort(range(Position(10, 0), Position(10, 1000)), tail))
    assert(!known.isShort(range(Position(10, 0), Position(10, 1001)), tail))
    val ends = StreamTail(1000, Map(topic -> Position(20, 0)))
    assert(!known.isShort(range(Position(10, 0), Position(10, 5)), ends), "the topic goes on in ledger 20")
  }

  test("a range into another ledger is short when its part there is and the range before was") {
    val known = new KnownStorage
    assert(!known.isShort(range(Position(10, 0), Position(20, 5)), tail), "nothing is known of ledger 10")
    assert(known.isShort(range(Position(20, 5), Position(20, 50)), tail))
    assert(known.isShort(range(Position(20, 50), Position(30, 5)), tail))
    assert(known.isShort(range(Position(30, 5), Position(40, 5)), tail))
    assert(!known.isShort(range(Position(40, 5), Position(50, 1000)), tail), "its part in ledger 50 is long")
    assert(!known.isShort(range(Position(50, 1000), Position(60, 5)), tail), "the range before was long")
    assert(known.isShort(range(Position(60, 5), Position(60, 6)), tail))
    assert(!known.isShort(range(Position(60, 5), Position(70, 6)), tail), "it does not follow the range before")
  }

  test("entries that are known to be before the rollover count") {
    val known    = new KnownStorage
    val ledgers  = stored(offloaded = false, 10, 20)(topic)
    val isLittle = StreamTail(5, Map.empty)
    known.ledgers.locate(Seq(range(Position(10, 0), Position(10, 3))), None)((ids, _) =>
      ids.map { case (t, _) =>
        t -> ledgers.copy(ledgers = ledgers.ledgers.map(_.copy(entries = 100, bytes = 100 * mb)))
      }
    )
    assert(known.isShort(range(Position(10, 93), Position(10, 94)), isLittle))
    assert(!known.isShort(range(Position(10, 94), Position(20, 0)), isLittle))
    assert(known.isShort(range(Position(10, 97), Position(10, 98)), isLittle))
    assert(known.isShort(range(Position(10, 98), Position(20, 0)), isLittle))
  }

  private val mb = 1L << 20

  /** Ledgers that were located, in order of the requests. */
  private final class Requests(answer: Long => Either[String, FakeStore.Place]) {
    val ledgers: mutable.Buffer[Seq[Long]] = mutable.Buffer.empty

    def locate(known: KnownStorage, stored: Map[String, TopicStorage]): Seq[Either[String, Any]] = {
      val locator = known.locate(stored) { unknown =>
        if (unknown(topic).nonEmpty) ledgers += unknown(topic).map(_.id)
        _ => ledger => answer(ledger.id)
      }
      stored(topic).ledgers.map(locator(topic))
    }
  }

  test("each offloaded ledger is located once, until a task does not find it") {
    val known    = new KnownStorage
    val requests = new Requests(id => Right(FakeStore.Place(s"store $id")))
    val first    = requests.locate(known, stored(offloaded = true, 10, 20))
    assertEquals(requests.locate(known, stored(offloaded = true, 10, 20)), first)
    requests.locate(known, stored(offloaded = true, 20, 30))
    assertEquals(requests.ledgers.toSeq, Seq(Seq(10L, 20L), Seq(30L)))
    known.moved(Seq(topic))
    requests.locate(known, stored(offloaded = true, 20, 30))
    assertEquals(requests.ledgers.last, Seq(20L, 30L))
  }

  test("partitions that are gone are forgotten, and others are not") {
    val known    = new KnownStorage
    val requests = new Requests(id => Right(FakeStore.Place(s"store $id")))
    requests.locate(known, stored(offloaded = true, 10))
    known.retain(_ == topic)
    requests.locate(known, stored(offloaded = true, 10))
    assertEquals(requests.ledgers.toSeq, Seq(Seq(10L)))
    known.retain(_ => false)
    requests.locate(known, stored(offloaded = true, 10))
    assertEquals(requests.ledgers.toSeq, Seq(Seq(10L), Seq(10L)))
  }

  test("a ledger that was on bookies is located when it is offloaded") {
    val known    = new KnownStorage
    val requests = new Requests(id => Right(FakeStore.Place(s"store $id")))
    requests.locate(known, stored(offloaded = false, 10))
    requests.locate(known, stored(offloaded = true, 10))
    requests.locate(known, stored(offloaded = true, 10))
    assertEquals(requests.ledgers.toSeq, Seq(Seq(10L), Seq(10L)))
  }

  test("an offloaded ledger that could not be located is tried again after a while") {
    val known    = new KnownStorage(() => now)
    val requests = new Requests(id => Left(s"no policies for $id"))
    assertEquals(requests.locate(known, stored(offloaded = true, 10)), Seq(Left("no policies for 10")))
    now = 10.minutes.toNanos - 1
    requests.locate(known, stored(offloaded = true, 10))
    assertEquals(requests.ledgers.size, 1)
    now += 1
    requests.locate(known, stored(offloaded = true, 10))
    assertEquals(requests.ledgers.size, 2)
  }
}
