package io.github.pulsarspark.read.stream.lag

import java.util.concurrent.CompletableFuture

import io.github.pulsarspark.UnitSuite
import io.github.pulsarspark.position.Position

class LedgerEntriesLookupSuite extends UnitSuite {

  private def behind(partitions: String*) =
    Backlog(partitions.map(p => PartitionBacklog(p, Position(2, 4), None)))

  private final class Admin {
    val answer                   = new CompletableFuture[Unit]
    var requests                 = Seq.empty[(String, Long)]
    private var now              = 0L
    val lookup                   = new LedgerEntriesLookup(request, () => now, _.run())
    def pass(seconds: Int): Unit = now += seconds * 1000000000L
    def requested: Seq[String]   = requests.map(_._1)

    private def request(partition: String, from: Long) = {
      requests :+= ((partition, from))
      answer
    }
  }

  test("a list is requested from the ledger of the position on, and no call waits for it") {
    val admin = new Admin
    admin.lookup.update(behind("p"))
    assertEquals(admin.requests, Seq(("p", 2L)))
  }

  test("a partition is requested once in ten seconds, after a failure too, and only when its size is not known") {
    val admin = new Admin
    admin.answer.completeExceptionally(new IllegalStateException("refused"))
    admin.lookup.update(behind("p"))
    admin.pass(9)
    admin.lookup.update(behind("p"))
    admin.pass(2)
    admin.lookup.update(Backlog(Seq(PartitionBacklog("p", Position(2, 4), Some(3)))))
    assertEquals(admin.requested, Seq("p"))
    admin.lookup.update(behind("p"))
    assertEquals(admin.requested, Seq("p", "p"))
  }

  test("few requests are under way at the same time") {
    val admin = new Admin
    admin.lookup.update(behind((1 to 100).map(_.toString): _*))
    admin.lookup.update(behind((101 to 200).map(_.toString): _*))
    assertEquals(admin.requested.size, 16)
    admin.answer.complete(())
    admin.lookup.update(behind((101 to 200).map(_.toString): _*))
    assertEquals(admin.requested.size, 32)
  }
}
