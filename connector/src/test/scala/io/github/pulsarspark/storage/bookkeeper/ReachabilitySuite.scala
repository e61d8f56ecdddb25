package io.github.pulsarspark.storage.bookkeeper

import java.net.InetAddress
import java.util.concurrent.CountDownLatch

import scala.util.Using

import io.github.pulsarspark.UnitSuite
import io.github.pulsarspark.options.BookKeeperOptions
import io.github.pulsarspark.storage.KilledTasks
import io.github.pulsarspark.storage.bookkeeper.bookies.HostNames
import io.github.pulsarspark.storage.bookkeeper.protocol.ScriptedBookie
import io.github.pulsarspark.storage.bookkeeper.protocol.ScriptedBookie.Reply
import io.github.pulsarspark.storage.segment.BookieLocation

class ReachabilitySuite extends UnitSuite {

  private val numbers = Iterator.from(1)

  /** Reachability in a cluster without known bookies. */
  private def reachability(names: HostNames = HostNames.ofThisJvm) =
    new Reachability(BookKeeperOptions(s"cluster ${numbers.next()}", None, Map.empty, Map.empty), names)

  private def ledger(copies: Int, bookies: String*) =
    BookieLocation(3, bookies.size, copies, 1, "CRC32C", Seq(0L -> bookies), None)

  /** No other test opens this port, unlike one that was open a moment before. */
  private val refused = "127.0.0.1:1"

  private def bookie(reply: Reply) = new ScriptedBookie(_ => reply)

  /** Less than a probe without an answer costs, which is 3 s. */
  private val AtOnce = 2.5

  private def seconds(work: => Any): Double = {
    val started = System.nanoTime()
    work
    (System.nanoTime() - started) / 1e9
  }

  test("a ledger can be read as long as each entry has a copy on a bookie that answers") {
    Using.resource(bookie(Reply.Code(1))) { good =>
      val here = reachability()
      assertEquals(here.obstacle(ledger(1, good.id)), None)
      assertEquals(here.obstacle(ledger(2, good.id, refused)), None)
      assertEquals(here.obstacle(ledger(1, refused)), Some(s"no connection to $refused"))
      assertEquals(here.obstacle(ledger(1, good.id, refused)), Some(s"no connection to $refused"))
      assertEquals(
        good.requests.map(r => (r.version, r.operation, r.flags, r.ledger)),
        Seq((2, 2, 0, Long.MaxValue)),
        "asked once, harmlessly"
      )
      KilledTasks.eventually("a connection stays")(good.open == 0)
    }
    assertEquals(reachability().obstacle(ledger(1, "bookie-7")), Some("no connection to bookie-7"))
  }

  test("a bookie that closes the connection is alive, one that says nothing is not") {
    Using.resources(bookie(Reply.Close), bookie(Reply.Silence)) { (closing, silent) =>
      val here = reachability()
      assertEquals(here.obstacle(ledger(2, closing.id, silent.id)), None)
      assertEquals(here.obstacle(ledger(1, silent.id)), Some(s"no answer from ${silent.id}"))
      assert(seconds(here.obstacle(ledger(1, silent.id))) < AtOnce, "it is waited for again")
    }
  }

  test("a bookie that let a reader wait is asked again") {
    @volatile var reply: Reply = Reply.Code(1)
    Using.resource(new ScriptedBookie(_ => reply)) { bookie =>
      val here = reachability()
      assertEquals(here.obstacle(ledger(1, bookie.id)), None)
      reply = Reply.Silence
      assertEquals(here.obstacle(ledger(1, bookie.id)), None)
      here.doubt(Seq(bookie.id))
      assertEquals(here.obstacle(ledger(1, bookie.id)), Some(s"no answer from ${bookie.id}"))
      here.doubt(Seq(bookie.id))
      assert(seconds(assert(here.obstacle(ledger(1, bookie.id)).nonEmpty)) < AtOnce, "what is known is forgotten")
    }
  }

  test("names that are not resolved cost one deadline together, and nothing the next time") {
    val never = new CountDownLatch(1)
    val here  = reachability(new HostNames(_ => { never.await(); InetAddress.getLoopbackAddress }))
    val names = (1 to 6).map(n => s"bookie-$n.example:3181")
    try {
      val first = seconds(
        assert(here.obstacle(ledger(6, names: _*)).exists(_.contains("no connection to bookie-6.example:3181")))
      )
      assert(first > AtOnce && first < 15, first) // six deadlines are 18 s
      assert(seconds(assert(here.obstacle(ledger(6, names: _*)).nonEmpty)) < AtOnce)
    } finally never.countDown()
  }
}
