package io.github.pulsarspark.storage.bookkeeper.client

import scala.jdk.CollectionConverters._

import io.github.pulsarspark.UnitSuite
import io.github.pulsarspark.storage.bookkeeper.bookies.BookieRanks
import org.apache.bookkeeper.client.RoundRobinDistributionSchedule
import org.apache.bookkeeper.net.BookieId

class RankedReplicasSuite extends UnitSuite {

  private val bookies = Seq("b0:3181", "b1:3181", "b2:3181", "b3:3181").map(BookieId.parse)

  private def ranks(isHere: String => Boolean = _ => false, nanos: () => Long = () => System.nanoTime()) =
    new BookieRanks(isHere, nanos)

  /** Order in which the replicas of an entry are read, which has three copies on four bookies. */
  private def order(policy: RankedReplicas, entryId: Long): Seq[Int] = {
    val replicas = new RoundRobinDistributionSchedule(3, 2, 4).getWriteSet(entryId)
    val ordered  = policy.reorderReadSequence(bookies.asJava, null, replicas)
    (0 until ordered.size).map(ordered.get(_))
  }

  test("replicas are asked in their own order as long as no bookie is slow") {
    assertEquals(order(new RankedReplicas(ranks()), 3), Seq(3, 0, 1))
  }

  test("a bookie that was slow is asked last, one that has no replica makes no difference") {
    val policy = new RankedReplicas(ranks())
    policy.registerSlowBookie(bookies(3), 8)
    assertEquals(order(policy, 3), Seq(0, 1, 3))
    assertEquals(order(policy, 0), Seq(0, 1, 2))
  }

  test("a bookie on this machine is asked first, unless it was slow") {
    val policy = new RankedReplicas(ranks(isHere = _ == bookies(1).getId))
    assertEquals(order(policy, 3), Seq(1, 3, 0))
    assertEquals(order(policy, 2), Seq(2, 3, 0))
    policy.registerSlowBookie(bookies(1), 8)
    assertEquals(order(policy, 3), Seq(3, 0, 1))
  }

  test("after a minute a bookie is given another chance") {
    var now    = 0L
    val policy = new RankedReplicas(ranks(nanos = () => now))
    policy.registerSlowBookie(bookies(3), 8)
    now = 59_999_999_999L
    assertEquals(order(policy, 3), Seq(0, 1, 3))
    now += 1
    assertEquals(order(policy, 3), Seq(3, 0, 1))
  }

  test("however many are slow, each replica is asked once") {
    val policy = new RankedReplicas(ranks())
    Seq(3, 0).foreach(n => policy.registerSlowBookie(bookies(n), 8))
    assertEquals(order(policy, 3).head, 1)
    assertEquals(order(policy, 3).sorted, Seq(0, 1, 3))
    bookies.foreach(policy.registerSlowBookie(_, 8))
    assertEquals(order(policy, 3).sorted, Seq(0, 1, 3))
  }
}
