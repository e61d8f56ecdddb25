package io.github.pulsarspark.write.exactlyonce

import scala.concurrent.duration._
import scala.util.{Random, Try}

import io.github.pulsarspark.UnitSuite
import io.github.pulsarspark.errors.{Conditions, PulsarException}
import io.github.pulsarspark.pulsar.transactions.{CommitAnswer, TransactionId}

/** Transactions that are lost, late, undecided, or of other credentials. */
class SinkTransactionsSuite extends UnitSuite {
  import FakeSink.{kinds, started}

  private val nothing = Set.empty[TransactionId]

  /** Coordinators that do not respond to the request for transactions that ended. */
  private def silent(sink: FakeSink): FakeCluster = new FakeCluster(sink, new Random(1), 0) {
    override def ended(ids: Seq[TransactionId]) = () => Nil
  }

  /** A transaction times out before its epoch is recorded, by the clock of brokers. */
  private def lateEpoch(seconds: Long, connect: FakeSink => FakeCluster): (FakeSink, Try[Unit]) = {
    var now         = 0L
    val sink        = new FakeSink
    val cluster     = connect(sink)
    val coordinator = new SinkCoordinator(FakeSink.settings(), cluster, 100.millis, () => now)
    coordinator.start()
    val sent = (0 until 3).map(sink.attempt(coordinator.task, 0, _))
    sink.end(sent.head.transaction.get.id, sink.Aborted)
    now = seconds * 1000000000L
    sink -> Try(coordinator.commit(0, sent))
  }

  for (
    (age, seconds, connect) <- Seq[(String, Long, FakeSink => FakeCluster)](
      ("at half of its time", 1801, silent),
      ("right after its begin", 1, new FakeCluster(_, new Random(1), 0))
    )
  )
    test(s"an epoch is not recorded when a transaction of it timed out $age") {
      val (sink, result) = lateEpoch(seconds, connect)
      assert(result.failed.toOption.exists(Conditions.SinkEpochDropped.is), result)
      assertEquals((kinds(sink), sink.committed, sink.open), (Seq("Owner", "Barrier"), nothing, nothing))
    }

  test("control: without the proof such an epoch is written in part") {
    val (_, result) = lateEpoch(seconds = 1, silent)
    assert(result.failed.toOption.exists(Conditions.SinkEpochTorn.is), result)
  }

  test("a transaction that other credentials must end keeps its sink from starting") {
    val sink = new FakeSink
    sink.attempt(started(sink).task, 0, 0)
    val other = new FakeCluster(sink, new Random(1), 0) {
      override def abort(ids: Seq[TransactionId]) =
        throw Conditions.TransactionNotOwned(transaction = "1", cause = "neither the owner").exception
    }
    val e = intercept[PulsarException](started(other, FakeSink.settings()))
    assertEquals(e.condition, "PULSAR_TRANSACTION_NOT_OWNED")
    assertEquals(sink.open.size, 1)
  }

  /** Transactions time out after their epoch is recorded. */
  private def expiring(lost: Int): (FakeSink, SinkCoordinator, Seq[SinkCommit]) = {
    val sink           = new FakeSink
    var expires        = Seq.empty[SinkCommit]
    def expire(): Unit = if (kinds(sink).lastOption.contains("Prepared"))
      expires.flatMap(_.transaction).foreach(t => sink.end(t.id, sink.Aborted))
    val coordinator = started(new FakeCluster(sink, new Random(1), 0, () => expire()), FakeSink.settings())
    val sent        = (0 until 3).map(sink.attempt(coordinator.task, 0, _))
    expires = sent.take(lost)
    (sink, coordinator, sent)
  }

  test("an epoch that is lost as a whole is dropped, and can be run again") {
    val (sink, coordinator, sent) = expiring(lost = 3)
    val e                         = intercept[PulsarException](coordinator.commit(0, sent))
    assertEquals(e.condition, "PULSAR_SINK_EPOCH_DROPPED")
    val later = started(sink)
    later.commit(0, (0 until 3).map(sink.attempt(later.task, 0, _)))
    assertEquals(sink.committed.size, 3)
  }

  test("an epoch that is lost in part fails, again after a restart, and says what is missing") {
    val (sink, coordinator, sent) = expiring(lost = 1)
    val e                         = intercept[PulsarException](coordinator.commit(0, sent))
    assertEquals(e.condition, "PULSAR_SINK_EPOCH_TORN")
    assert(e.getMessage.contains("lost are 1 rows of partition 0"), e.getMessage)
    coordinator.abort(0)
    coordinator.close()
    assertEquals(sink.committed.size, 2)
    assertEquals(intercept[PulsarException](started(sink)).condition, "PULSAR_SINK_EPOCH_TORN")
  }

  test("records of the marker topic that are gone prove nothing") {
    val (sink, coordinator, sent) = expiring(lost = 3)
    sink.marks.clear()
    val e = intercept[PulsarException](coordinator.commit(0, sent))
    assertEquals(e.condition, "PULSAR_SINK_TOPIC")
    assertEquals(kinds(sink).last, "Prepared")
  }

  test("transactions that stay undecided stop the query, and a later start commits them") {
    val sink  = new FakeSink
    val stuck = new FakeCluster(sink, new Random(1), 0) {
      override def commit(ids: Seq[TransactionId]) =
        ids.map(_ => CommitAnswer.Uncertain("timeout"))
    }
    val coordinator = started(stuck, FakeSink.settings(), 100.millis)
    val e           = intercept[PulsarException](coordinator.commit(0, Seq(sink.attempt(coordinator.task, 0, 0))))
    assertEquals(e.condition, "PULSAR_SINK_EPOCH_UNDECIDED")
    coordinator.abort(0)
    coordinator.close()
    assertEquals(sink.open.size, 1)
    assertEquals(started(sink).task.done, Some(0L))
    assertEquals(sink.committed.size, 1)
  }

  test("an attempt that begins while commits are uncertain does not hide their markers") {
    val sink     = new FakeSink
    var coming   = Option.empty[SinkTask]
    val answered = new FakeCluster(sink, new Random(1), 0) {
      override def commit(ids: Seq[TransactionId]): Seq[CommitAnswer] = {
        super.commit(ids)
        coming.foreach(sink.attempt(_, 0, 0)) // of a second attempt, before the barrier
        coming = None
        ids.map(_ => CommitAnswer.Uncertain("the answer is lost"))
      }
    }
    val coordinator = started(answered, FakeSink.settings())
    coming = Some(coordinator.task)
    coordinator.commit(0, Seq(sink.attempt(coordinator.task, 0, 0)))
    assertEquals(kinds(sink).last, "Done")
    assertEquals((sink.committed.size, sink.open), (1, nothing))
  }

  test("a marker that comes after its transaction timed out does not hide the others") {
    val sink        = new FakeSink
    val coordinator = started(silent(sink), FakeSink.settings())
    val commit      = sink.attempt(coordinator.task, 0, 0)
    commit.transaction.foreach { t =>
      sink.end(t.id, sink.Aborted)
      sink.late += t.id
    }
    val e = intercept[PulsarException](coordinator.commit(0, Seq(commit)))
    assertEquals(e.condition, "PULSAR_SINK_EPOCH_DROPPED")
  }

  test("a transaction of other credentials is named") {
    val sink  = new FakeSink
    val other = new FakeCluster(sink, new Random(1), 0) {
      override def commit(ids: Seq[TransactionId]) =
        ids.map(_ => CommitAnswer.NotOwner("neither the owner"))
    }
    val coordinator = started(other, FakeSink.settings())
    val e           = intercept[PulsarException](coordinator.commit(0, Seq(sink.attempt(coordinator.task, 0, 0))))
    assertEquals(e.condition, "PULSAR_TRANSACTION_NOT_OWNED")
  }
}
