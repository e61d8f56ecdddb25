package io.github.pulsarspark.write.exactlyonce

import scala.concurrent.duration.Duration
import scala.util.Random

import io.github.pulsarspark.UnitSuite
import io.github.pulsarspark.pulsar.transactions.TransactionId

class EpochDecisionSuite extends UnitSuite {
  private def transaction(n: Int) = SinkTransaction(TransactionId(0, n.toLong), n, n.toLong)

  private def done(epoch: Long, rows: Long = 0, target: String = "t") = SinkRecord.Done(epoch, 0, rows, 0, target)

  private def written(epoch: Long, rows: Long = 0) = WrittenEpoch(epoch, Some(rows))

  private def decided(epoch: Long, last: Option[WrittenEpoch], skipped: Long = 0, isSequence: Boolean = true) =
    EpochDecision(None, last, epoch, Seq(transaction(0)), skipped, isSequence)

  test("an epoch is prepared once, in order, and never beside another") {
    val random = new Random(1)
    (1 to 4000).foreach { _ =>
      val epoch    = random.nextInt(5).toLong
      val last     = Option.when(random.nextBoolean())(written(random.nextInt(5).toLong, random.nextInt(2).toLong))
      val prepared = Option.when(random.nextInt(3) == 0)(random.nextInt(5).toLong)
      val all      = Seq.tabulate(random.nextInt(3))(transaction)
      val skipped  = random.nextInt(2).toLong
      val sequence = random.nextBoolean()
      val follows  = last.fold(epoch == 0)(_.epoch + 1 == epoch)
      EpochDecision(prepared, last, epoch, all, skipped, sequence) match {
        case d @ (EpochDecision.Prepare | EpochDecision.Advance) =>
          assert(prepared.isEmpty && last.forall(_.epoch < epoch))
          assert(!sequence || follows)
          assertEquals(d == EpochDecision.Prepare, all.nonEmpty)
        case EpochDecision.Discard(known) =>
          assert(prepared.isEmpty && last.contains(known) && known.epoch >= epoch)
          assert(!sequence || known == written(epoch, skipped))
        case _: EpochDecision.Refuse =>
          val repeats = last.contains(written(epoch, skipped))
          assert(prepared.isDefined || sequence && !follows && !repeats)
      }
    }
  }

  test("a checkpoint that went back, by one or by more, is refused with ways out") {
    for (
      (epoch, skipped, reason) <- Seq((4L, 0L, "those up to 9"), (9L, 7L, "9 was written with 5 rows and has 7"),
        (11L, 0L, "the last one that the sink has is 9"))
    )
      decided(epoch, Some(written(9, rows = 5)), skipped) match {
        case EpochDecision.Refuse(problem, action) =>
          assert(problem.contains(reason), problem)
          assert(action.contains("onSinkMismatch"), action)
        case other => fail(s"epoch $epoch: $other")
      }
    assertEquals(decided(9, Some(written(9, rows = 5)), skipped = 5), EpochDecision.Discard(written(9, rows = 5)))
    assertEquals(decided(10, Some(written(9))), EpochDecision.Prepare)
  }

  test("the last epoch is not repeated where it went to another target") {
    decided(9, Some(written(9).copy(elsewhere = Some("b")))) match {
      case EpochDecision.Refuse(problem, _) => assert(problem.contains("was written to b"), problem)
      case other                            => fail(other.toString)
    }
    assertEquals(decided(10, Some(written(9).copy(elsewhere = Some("b")))), EpochDecision.Prepare)
  }

  test("numbers of batches may begin anywhere and have gaps; those up to the last one have no effect") {
    assertEquals(decided(7, None, isSequence = false), EpochDecision.Prepare)
    assertEquals(decided(7, Some(written(3)), isSequence = false), EpochDecision.Prepare)
    assertEquals(decided(2, Some(written(3)), skipped = 4, isSequence = false), EpochDecision.Discard(written(3)))
  }

  test("what is aborted is of this driver and an epoch that is over, or of an earlier one, and not recorded") {
    val random = new Random(2)
    (1 to 500).foreach { _ =>
      val open = Seq.tabulate(6)(n =>
        OpenTransaction(TransactionId(0, n.toLong), Seq("a", "b", "c")(random.nextInt(3)), random.nextInt(4).toLong, 0,
          Duration.Zero)
      )
      val kept    = Set(TransactionId(0, random.nextInt(6).toLong))
      val orphans = EpochDecision.orphans(open, "b", Set("a"), 2, kept)
      assertEquals(
        orphans.toSet,
        open.filter(o => (o.owner == "a" || o.owner == "b" && o.epoch <= 2) && !kept(o.id)).toSet
      )
    }
  }

  test("the first transaction of each coordinator is the oldest one") {
    def of(ids: (Int, Int)*) = ids.map { case (most, least) =>
      transaction(0).copy(id = TransactionId(most.toLong, least.toLong))
    }
    val all = of((3, 9), (0, 5), (3, 7), (0, 6), (1, 1))
    assertEquals(EpochDecision.oldest(all).toSet, of((3, 7), (0, 5), (1, 1)).map(_.id).toSet)
    assertEquals(EpochDecision.oldest(Nil), Nil)
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

  private def read(nonce: String, records: SinkRecord*): SinkLog =
    records.map(SinkIdentity("s", nonce, "o") -> _).foldLeft(SinkLog())(_ + _)

  test("the log is a fold: the last epoch that is done, and what is prepared after it") {
    import SinkRecord._
    val who   = SinkIdentity("s", "n", "o")
    val state = read("n", Owner("t"), Prepared(0, Nil, "1:0", "t"), done(0), Prepared(1, Nil, "1:0", "t"))
    assertEquals((state.last, state.prepared.map(_.epoch), state.nonce), (Some(done(0)), Some(1L), Some("n")))
    assertEquals((state + (who -> Dropped(1))).prepared, None)
    assertEquals((state + (who -> done(1))).last, Some(done(1)))
    assertEquals((state + (who -> Other("new"))).prepared.map(_.epoch), Some(1L))
  }

  test("each target has its last epoch; a record that names none is of all") {
    val old   = done(8, target = "")
    val state = read("n", old, done(9, target = "a").copy(others = old.targets))
    assertEquals(Seq("a", "b").map(state.done(_).map(_.epoch)), Seq(Some(9L), Some(8L)))
    assertEquals(read("n", done(9, target = "a")).done("b"), None)
  }

  test("a log belongs to one query, and one without its id to the first that has one") {
    assert(SinkLog().belongsTo("versions:q"))
    assert(read("versions", done(1, target = "")).belongsTo("versions:q"))
    assert(!read("versions", done(1)).belongsTo("versions:q"), "of a job without a query")
    assert(!read("versions", SinkRecord.Owner("t")).belongsTo("versions:q"), "of one that finished nothing")
    assert(!read("versions:p", done(1)).belongsTo("versions:q"))
    assert(!read("versions:p", done(1)).belongsTo("versions"))
    assert(!read("query:p", done(1)).belongsTo("query:p:q"))
  }
}
