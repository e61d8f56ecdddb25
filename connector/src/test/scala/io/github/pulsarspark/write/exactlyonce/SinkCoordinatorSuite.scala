package io.github.pulsarspark.write.exactlyonce

import scala.concurrent.duration._
import scala.util.{Random, Try}

import munit.FunSuite

import io.github.pulsarspark.errors.{Conditions, PulsarException}
import io.github.pulsarspark.options.OnSinkMismatch
import io.github.pulsarspark.pulsar.transactions.{CommitAnswer, TransactionId}

class SinkCoordinatorSuite extends FunSuite {

  private val nothing = Set.empty[TransactionId]

  private def started(sink: FakeSink, settings: SinkSettings = FakeSink.settings()): SinkCoordinator =
    started(new FakeCluster(sink, new Random(1), 0), settings)

  private def started(cluster: SinkCluster, settings: SinkSettings): SinkCoordinator = {
    val result = new SinkCoordinator(settings, cluster, 100.millis)
    result.start()
    result
  }

  private def kinds(sink: FakeSink): Seq[String] =
    sink.log.toSeq.flatMap(r => SinkRecords.parse(r._2)).map(_._2.getClass.getSimpleName.stripSuffix("$"))

  test("an epoch is recorded, committed and recorded as done; an empty one only as done") {
    val sink        = new FakeSink
    val coordinator = started(sink)
    coordinator.commit(0, Seq(sink.attempt(coordinator.task, 0, 0), sink.attempt(coordinator.task, 0, 1)))
    coordinator.commit(1, Seq(SinkCommit(None, Nil)))
    assertEquals(kinds(sink), Seq("Owner", "Prepared", "Done", "Done"))
    assertEquals(sink.committed.size, 2)
    assertEquals(coordinator.task.done, Some(1L))
    assertEquals(coordinator.now.rows, 2L)
  }

  test("a second run of an epoch is aborted, as are attempts that lost") {
    val sink        = new FakeSink
    val coordinator = started(sink)
    val task        = coordinator.task
    sink.attempt(task, 0, 0)
    coordinator.commit(0, Seq(sink.attempt(task, 0, 0)))
    coordinator.commit(0, Seq(sink.attempt(task, 0, 0)))
    assertEquals(sink.committed.size, 1)
    assertEquals(sink.open, nothing)
    assertEquals(coordinator.now.aborted, 2L)
  }

  test("a failed epoch is aborted") {
    val sink        = new FakeSink
    val coordinator = started(sink)
    sink.attempt(coordinator.task, 0, 0)
    coordinator.abort(0)
    assertEquals((sink.committed, sink.open), (nothing, nothing))
  }

  test("a later driver keeps others away, and aborts what they sent") {
    val sink  = new FakeSink
    val first = started(sink)
    val sent  = sink.attempt(first.task, 0, 0)
    val later = started(sink)
    assertEquals(sink.open, nothing)
    val kept = sink.attempt(later.task, 0, 0)
    val e    = intercept[PulsarException](first.commit(0, Seq(sent)))
    assertEquals(e.condition, "PULSAR_SINK_FENCED")
    first.abort(0)
    first.close()
    later.commit(0, Seq(kept))
    assertEquals(sink.committed, kept.transaction.map(_.id).toSet)
  }

  test("the state of another checkpoint is refused, before anything is written") {
    val sink = new FakeSink
    started(sink)
    val e = intercept[PulsarException](started(sink, FakeSink.settings(nonce = "query:other")))
    assertEquals(e.condition, "PULSAR_SINK_STATE")
    assertEquals(kinds(sink), Seq("Owner"))
  }

  test("an empty log in the middle of a query is refused; the transactions are aborted") {
    val sink        = new FakeSink
    val coordinator = started(sink)
    val sent        = sink.attempt(coordinator.task, 7, 0)
    val e           = intercept[PulsarException](coordinator.commit(7, Seq(sent)))
    assertEquals(e.condition, "PULSAR_SINK_STATE")
    coordinator.abort(7)
    assertEquals((sink.committed, sink.open), (nothing, nothing))
  }

  test("a checkpoint that went back is refused, unless the stream is to be written again from it, or to skip") {
    val sink  = new FakeSink
    val first = started(sink)
    (0L to 3L).foreach(e => first.commit(e, Seq(sink.attempt(first.task, e, 0))))
    val refused = started(sink)
    val e       = intercept[PulsarException](refused.commit(2, Seq(SinkCommit(None, Nil, skipped = 1))))
    assertEquals(e.condition, "PULSAR_SINK_STATE")
    assert(e.getMessage.contains("onSinkMismatch"), e.getMessage)
    val skipping = started(sink, FakeSink.settings().copy(onMismatch = OnSinkMismatch.Skip))
    assertEquals(skipping.task.done, Some(3L))
    skipping.commit(2, Seq(SinkCommit(None, Nil, skipped = 5)))
    assertEquals(skipping.now.skipped, 5L)
    val writing = started(sink, FakeSink.settings().copy(onMismatch = OnSinkMismatch.Write))
    assertEquals(writing.task.done, None)
    writing.commit(2, Seq(sink.attempt(writing.task, 2, 0)))
    writing.commit(3, Seq(sink.attempt(writing.task, 3, 0)))
    assertEquals(writing.task.done, Some(3L))
    assertEquals(sink.committed.size, 6)
    val usual = started(sink)
    usual.commit(4, Seq(sink.attempt(usual.task, 4, 0)))
    assertEquals(sink.committed.size, 7)
  }

  test("a stream that is to be written again is so too where the start finishes an earlier driver's epoch") {
    val sink  = new FakeSink
    val first = started(sink)
    (0L to 2L).foreach(e => first.commit(e, Seq(sink.attempt(first.task, e, 0))))
    val stuck = new FakeCluster(sink, new Random(1), 0) {
      override def commit(ids: Seq[TransactionId]) = ids.map(_ => CommitAnswer.Uncertain("timeout"))
    }
    val killed = started(stuck, FakeSink.settings())
    intercept[PulsarException](killed.commit(3, Seq(sink.attempt(killed.task, 3, 0))))
    val writing = started(sink, FakeSink.settings().copy(onMismatch = OnSinkMismatch.Write))
    assertEquals(writing.task.done, None)
    writing.commit(1, Seq(sink.attempt(writing.task, 1, 0)))
    assertEquals((sink.committed.size, writing.now.skipped), (5, 0L))
    assertEquals(writing.task.done, Some(1L))
  }

  test("one id for two targets: each has its own last number") {
    val sink = new FakeSink
    for (version <- 0L to 2L; topic <- Seq("a", "b")) {
      val batch = started(sink, FakeSink.settings("versions:q", startsAtZero = false).copy(topic = Some(topic)))
      assertEquals(batch.task.done, Option.when(version > 0)(version - 1))
      batch.commit(version, Seq(sink.attempt(batch.task, version, 0)))
      batch.commit(version, Seq(sink.attempt(batch.task, version, 0))) // has no effect
      assertEquals(batch.now.skipped, 1L)
    }
    assertEquals(sink.committed.size, 6)
    sink.log.remove(0, sink.released) // the broker deletes what is needed no more
    val batch = started(sink, FakeSink.settings("versions:q", startsAtZero = false).copy(topic = Some("a")))
    assertEquals(batch.task.done, Some(2L))
  }

  test("a log is released in lives of one epoch each") {
    val sink = new FakeSink
    (0L to 20L).foreach { version =>
      val batch = started(sink, FakeSink.settings("versions:q", startsAtZero = false))
      batch.commit(version, Seq(sink.attempt(batch.task, version, 0)))
    }
    assert(sink.log.size - sink.released < 10, s"${sink.released} of ${sink.log.size}")
  }

  test("a driver of another query is refused before it takes the sink over") {
    val sink    = new FakeSink
    val running = started(sink)
    intercept[PulsarException](started(sink, FakeSink.settings(nonce = "query:other")))
    running.commit(0, Seq(sink.attempt(running.task, 0, 0)))
    assertEquals(sink.committed.size, 1)
  }

  /** A transaction times out before its epoch is recorded. */
  private def lateEpoch(seconds: Long): (FakeSink, Try[Unit]) = {
    var now         = 0L
    val sink        = new FakeSink
    val cluster     = new FakeCluster(sink, new Random(1), 0)
    val coordinator = new SinkCoordinator(FakeSink.settings(), cluster, 100.millis, () => now)
    coordinator.start()
    val sent = (0 until 3).map(sink.attempt(coordinator.task, 0, _))
    sink.end(sent.head.transaction.get.id, sink.Aborted)
    now = seconds * 1000000000L
    sink -> Try(coordinator.commit(0, sent))
  }

  test("an epoch is not recorded when a transaction of it timed out before") {
    val (sink, result) = lateEpoch(seconds = 1801)
    assert(result.failed.toOption.exists(Conditions.SinkEpochDropped.is), result)
    assertEquals((kinds(sink), sink.committed, sink.open), (Seq("Owner"), nothing, nothing))
  }

  test("control: without the proof such an epoch is written in part") {
    val (_, result) = lateEpoch(seconds = 1)
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

  test("epochs of batches may begin anywhere") {
    val sink        = new FakeSink
    val coordinator = started(sink, FakeSink.settings(startsAtZero = false))
    coordinator.commit(7, Seq(sink.attempt(coordinator.task, 7, 0)))
    assertEquals(sink.committed.size, 1)
  }

  test("the state of a job is ended with it") {
    val sink        = new FakeSink
    val cluster     = new FakeCluster(sink, new Random(1), 0)
    val coordinator = started(cluster, FakeSink.settings(startsAtZero = false, isForever = false))
    coordinator.commit(0, Seq(sink.attempt(coordinator.task, 0, 0)))
    coordinator.close()
    assert(cluster.isEnded)
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
    val coordinator = started(stuck, FakeSink.settings())
    val e           = intercept[PulsarException](coordinator.commit(0, Seq(sink.attempt(coordinator.task, 0, 0))))
    assertEquals(e.condition, "PULSAR_SINK_EPOCH_UNDECIDED")
    coordinator.abort(0)
    coordinator.close()
    assertEquals(sink.open.size, 1)
    assertEquals(started(sink).task.done, Some(0L))
    assertEquals(sink.committed.size, 1)
  }

  test("records that this version cannot read are not passed over") {
    for (topic <- Seq("log", "open")) {
      val sink   = new FakeSink
      val record = sink.place() -> """{"version":2,"kind":"done"}"""
      if (topic == "log") sink.log += record else sink.opens += record
      val e = intercept[PulsarException](started(sink))
      assertEquals(e.condition, "PULSAR_SINK_STATE")
      assert(e.getMessage.contains(s"-$topic"), e.getMessage)
    }
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
    val coordinator = started(new FakeCluster(sink, new Random(1), 0), FakeSink.settings())
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

  /** A stream of some epochs whose driver fails at any call, with drivers that do not know that they are replaced. */
  private def history(seed: Long): (FakeSink, Map[Long, Seq[SinkTransaction]]) = {
    val random  = new Random(seed)
    val sink    = new FakeSink
    val epochs  = 4L
    var sent    = Map.empty[Long, Seq[SinkTransaction]].withDefaultValue(Nil)
    var zombies = Seq.empty[() => Unit]
    var depth   = 0

    def elsewhere(): Unit = if (depth == 0 && zombies.nonEmpty && random.nextInt(5) == 0) {
      depth += 1
      val _ = Try(zombies(random.nextInt(zombies.size))())
      depth -= 1
    }

    /** Returns the first epoch that Spark runs again. */
    def life(from: Long, mean: Int): Long = {
      val coordinator = new SinkCoordinator(FakeSink.settings(),
        new FakeCluster(sink, random, mean, () => elsewhere()), 2.millis)
      var next = from
      var late = Seq.empty[() => Unit]
      try {
        coordinator.start()
        while (next < epochs) {
          val task     = coordinator.task
          val attempts = (0L to (seed + next) % 3).map(_.toInt).map {
            p =>                                                      // the rows of an epoch are the same each time
              if (random.nextInt(4) == 0) sink.attempt(task, next, p) // one that is tried again
              sink.attempt(task, next, p)
          }
          sent += next -> (sent(next) ++ attempts.flatMap(_.transaction))
          val epoch = next
          late ++= Seq(
            () => coordinator.commit(epoch, attempts),
            () => coordinator.abort(epoch),
            () => coordinator.close()
          ).filter(_ => random.nextInt(8) == 0)
          if (random.nextInt(6) == 0) { coordinator.abort(next); return next } // the job failed
          coordinator.commit(next, attempts)
          if (random.nextInt(6) == 0) return next // killed before Spark's own log has it
          next += 1
        }
        coordinator.close()
        next
      } catch {
        case e: Exception =>
          if (Conditions.SinkEpochTorn.is(e)) throw e
          if (random.nextBoolean()) Try(coordinator.abort(next))
          if (random.nextBoolean()) Try(coordinator.close())
          next
      } finally zombies ++= late
    }

    var next = 0L
    (1 to 12).foreach(_ => next = life(next, mean = 12))
    zombies = Nil
    while (next < epochs) next = life(next, mean = 0)
    life(next, mean = 0) // one that starts and ends without a fault
    (sink, sent)
  }

  test("whatever fails, and whoever does not notice: each epoch is committed once, as one driver recorded it") {
    (1L to 1000L).foreach { seed =>
      val (sink, sent) = history(seed)
      val records      = sink.log.toSeq.flatMap(r => SinkRecords.parse(r._2)).map(_._2)
      val prepared     = records.collect { case p: SinkRecord.Prepared => p.epoch -> p.transactions.map(_.id).toSet }
      val dropped      = records.collect { case SinkRecord.Dropped(epoch) => epoch }
      (0L until 4L).foreach { epoch =>
        val committed = sent(epoch).map(_.id).toSet & sink.committed
        val decided   = prepared.filter(_._1 == epoch).map(_._2).lastOption.getOrElse(nothing)
        assertEquals(committed, decided, s"seed $seed epoch $epoch dropped $dropped")
        assert(committed.nonEmpty, s"seed $seed epoch $epoch")
      }
      assertEquals(sink.committed -- sent.values.flatten.map(_.id), nothing, s"seed $seed: attempts that lost")
      assertEquals(sink.open, nothing, s"seed $seed: left open")
    }
  }
}
