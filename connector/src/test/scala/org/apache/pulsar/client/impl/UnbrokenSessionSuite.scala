package org.apache.pulsar.client.impl

import io.github.pulsarspark.UnitSuite
import io.github.pulsarspark.pulsar.feed.PartitionFeed.{Bounds, Place}

/** Sessions of a consumer that waits after 5:9. */
class UnbrokenSessionSuite extends UnitSuite {

  private val waiting = new Place(5, 9)

  private def cursor(ledger: Long, entry: Long) = new Bounds(9, 9, ledger, entry)

  private def begun(): UnbrokenSession = {
    val session = new UnbrokenSession
    session.begin(waiting)
    session
  }

  test("the cursor is at the place or before it: proven; behind it or not named: not proven") {
    Seq((5L, 8L) -> true, (5L, 9L) -> true, (5L, 10L) -> false, (7L, -1L) -> false, (-1L, -1L) -> false).foreach {
      case ((ledger, entry), isProven) =>
        val session = begun()
        session.answered(cursor(ledger, entry), 1)
        assertEquals(session.isProven, isProven, s"$ledger:$entry")
    }
  }

  test("another session begins: proven anew, not by a response to the one before") {
    val session = begun()
    session.answered(cursor(5, 8), 1)
    assertEquals(session.begin(waiting), 2)
    assert(!session.isProven)
    session.answered(cursor(5, 8), 1)
    assert(!session.isProven)
    session.answered(cursor(5, 8), 2)
    assert(session.isProven)
  }

  test("entries that arrived since the session began: the cursor must not be behind the place of its begin") {
    val session = begun()
    session.begin(waiting)
    session.answered(cursor(7, -1), 2) // what arrives now begins with 7:0
    assert(!session.isProven)
  }

  test("an entry that arrived in this session: it proves what follows; one of an earlier session does not") {
    val session = begun()
    session.waitAfter(new Place(7, 0), 1)
    assert(session.isProven)
    session.begin(new Place(7, 0))
    session.waitAfter(new Place(7, 0), 1)
    assert(!session.isProven)
  }

  test("no session or no place: not proven") {
    assert(!new UnbrokenSession().isProven)
    val session = new UnbrokenSession
    session.begin(null)
    session.answered(cursor(5, 8), 1)
    assert(!session.isProven)
  }
}
