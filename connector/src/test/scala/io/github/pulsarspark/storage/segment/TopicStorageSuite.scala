package io.github.pulsarspark.storage.segment

import io.github.pulsarspark.UnitSuite
import io.github.pulsarspark.position.{Interval, Position}
import io.github.pulsarspark.storage.Texts

class TopicStorageSuite extends UnitSuite {

  private def read(ids: Interval, end: Seq[(String, Any)], ledgers: Seq[(String, Any)]*): TopicStorage = {
    val reader = new TopicStorage.Reader(ids)
    ledgers.foreach(l => reader.ledger(Texts(l: _*)))
    reader.end(Texts(end: _*))
  }

  test("an answer: ledgers in the order of their ids, the open one ends where the broker confirms") {
    val end     = Seq("currentLedgerEntries" -> 2, "currentLedgerSize" -> 120, "lastConfirmedEntry" -> "16:0")
    val open    = Seq("ledgerId" -> 16, "offloaded" -> false, "metadata" -> "m16")
    val closed  = Seq("ledgerId" -> 8, "entries" -> 6, "size" -> 358, "offloaded" -> true, "metadata" -> "")
    val storage = read(Interval.Always, end, open, closed)
    assertEquals(storage.ledgers.map(_.id).toList, List(8L, 16L))
    assertEquals(storage.lastConfirmed, Position(16, 0))
    assertEquals(storage.ledgers.flatMap(storage.lastEntry).toList, List(5L, 0L))
    assertEquals(storage.ledgers.map(storage.entryBytes).toList, List(59L, 60L))
    assertEquals(storage.ledgers.map(_.home.fold("none")(_.isRight.toString)).toList, List("none", "false"))
    assert(storage.get(8).get.isOffloaded)
    assertEquals(read(Interval(9, 99), end, open, closed).ledgers.map(_.id).toList, List(16L))
    assertEquals(read(Interval(9, 99), end, open, closed).listed, Some((8L, 16L)))
  }

  test("an answer about a topic without messages, and one with ledgers newer than the confirmed end") {
    val empty = read(Interval.Always, Seq("lastConfirmedEntry" -> "16:-1"), Seq("ledgerId" -> 16))
    assertEquals(empty.lastEntry(empty.ledgers.head), Some(-1L))
    val rolled = read(Interval.Always, Seq("lastConfirmedEntry" -> "16:3"), Seq("ledgerId" -> 16, "entries" -> 9),
      Seq("ledgerId" -> 17))
    assertEquals(rolled.ledgers.map(rolled.lastEntry).toList, List[Option[Long]](Some(3L), None))
    assertEquals(read(Interval.Always, Nil).lastConfirmed, Position(-1, -1))
  }
}
