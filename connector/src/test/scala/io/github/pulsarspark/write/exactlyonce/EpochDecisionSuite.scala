package io.github.pulsarspark.write.exactlyonce

import scala.util.Random

import munit.FunSuite

import io.github.pulsarspark.pulsar.transactions.TransactionId

class EpochDecisionSuite extends FunSuite {
  private def transaction(n: Int) = SinkTransaction(TransactionId(0, n.toLong), n, n.toLong)

  test("an epoch is prepared once, in order, and never beside another") {
    val random = new Random(1)
    (1 to 2000).foreach { _ =>
      val epoch    = random.nextInt(5).toLong
      val done     = Option.when(random.nextBoolean())(random.nextInt(5).toLong)
      val prepared =
        Option.when(random.nextInt(3) == 0)(SinkRecord.Prepared(random.nextInt(5).toLong, Seq(transaction(1)), "1:0"))
      val all     = Seq.tabulate(random.nextInt(3))(transaction)
      val atZero  = random.nextBoolean()
      val decided = EpochDecision(SinkLog(Some("n"), Set("o"), prepared, done), epoch, all, atZero)
      decided match {
        case EpochDecision.Prepare | EpochDecision.Advance =>
          assert(prepared.isEmpty && done.forall(_ < epoch))
          assert(!atZero || done.isDefined || epoch == 0)
          assertEquals(decided == EpochDecision.Prepare, all.nonEmpty)
        case EpochDecision.Discard   => assert(prepared.isEmpty && done.exists(_ >= epoch))
        case _: EpochDecision.Refuse => assert(prepared.isDefined || (atZero && done.isEmpty && epoch > 0))
      }
    }
  }

  test("what is aborted is of this driver or an earlier one, of an epoch that is over, and not recorded") {
    val random = new Random(2)
    (1 to 500).foreach { _ =>
      val open = Seq.tabulate(6)(n =>
        OpenTransaction(TransactionId(0, n.toLong), Seq("a", "b", "c")(random.nextInt(3)), random.nextInt(4).toLong, 0)
      )
      val kept    = Set(TransactionId(0, random.nextInt(6).toLong))
      val orphans = EpochDecision.orphans(open, Set("a", "b"), 2, kept)
      assertEquals(orphans.toSet, open.filter(o => o.owner != "c" && o.epoch <= 2 && !kept(o.id)).toSet)
    }
  }

  test("an epoch is committed, dropped, or torn") {
    val all = Seq(1, 2, 3).map(transaction)
    all.toSet.subsets().foreach { committed =>
      val expected = committed.size match {
        case 3 => EpochOutcome.Committed
        case 0 => EpochOutcome.Dropped
        case _ => EpochOutcome.Torn(all.filterNot(committed))
      }
      assertEquals(EpochDecision.outcome(all, committed.map(_.id)), expected)
    }
  }

  test("the log is a fold: the last epoch that is done, and what is prepared after it") {
    import SinkRecord._
    val who     = SinkIdentity("s", "n", "o")
    val records = Seq(Owner, Prepared(0, Nil, "1:0"), Done(0, 0, 0, 0), Prepared(1, Nil, "1:0"))
    val state   = records.map(who -> _).foldLeft(SinkLog())(_ + _)
    assertEquals((state.done, state.prepared.map(_.epoch), state.nonce), (Some(0L), Some(1L), Some("n")))
    assertEquals((state + (who -> Dropped(1))).prepared, None)
    assertEquals((state + (who -> Done(1, 0, 0, 0))).done, Some(1L))
    assertEquals((state + (who -> Other("new"))).prepared.map(_.epoch), Some(1L))
  }
}
