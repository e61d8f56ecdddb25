package io.github.pulsarspark.write.exactlyonce

import scala.concurrent.duration._
import scala.util.Random

import io.github.pulsarspark.UnitSuite
import io.github.pulsarspark.errors.PulsarException
import io.github.pulsarspark.options.OnSinkMismatch
import io.github.pulsarspark.pulsar.transactions.{CommitAnswer, TransactionId}

/** Checkpoints that went back or ahead, other queries and several targets of one sink. */
class SinkCheckpointsSuite extends UnitSuite {
  import FakeSink.{kinds, started}

  private val nothing = Set.empty[TransactionId]

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

  test("the option that takes a stream on does not repeat an epoch when it is left on") {
    val sink  = new FakeSink
    val first = started(sink)
    (0L to 3L).foreach(e => first.commit(e, Seq(sink.attempt(first.task, e, 0))))
    val left                = FakeSink.settings().copy(onMismatch = OnSinkMismatch.Write)
    def life(epochs: Long*) = {
      val coordinator = started(sink, left)
      epochs.foreach(e => coordinator.commit(e, Seq(sink.attempt(coordinator.task, e, 0))))
      (sink.committed.size, coordinator.now.skipped, sink.open)
    }
    assertEquals(life(3), (5, 0L, nothing), "epoch 3 was written before the option was set")
    assertEquals(life(3, 4), (6, 1L, nothing), "the driver was killed before Spark's own log had it")
    assertEquals(life(5), (7, 0L, nothing))
    assertEquals(life(2, 3), (9, 0L, nothing), "the checkpoint went back again")
  }

  test("a stream that is to be written again is so too where the start finishes an earlier driver's epoch") {
    val sink  = new FakeSink
    val first = started(sink)
    (0L to 2L).foreach(e => first.commit(e, Seq(sink.attempt(first.task, e, 0))))
    val stuck = new FakeCluster(sink, new Random(1), 0) {
      override def commit(ids: Seq[TransactionId]) = ids.map(_ => CommitAnswer.Uncertain("timeout"))
    }
    val killed = started(stuck, FakeSink.settings(), 100.millis)
    intercept[PulsarException](killed.commit(3, Seq(sink.attempt(killed.task, 3, 0))))
    val writing = started(sink, FakeSink.settings().copy(onMismatch = OnSinkMismatch.Write))
    assertEquals(writing.task.done, None)
    writing.commit(1, Seq(sink.attempt(writing.task, 1, 0)))
    assertEquals((sink.committed.size, writing.now.skipped), (5, 0L))
    assertEquals(writing.task.done, Some(1L))
  }

  test(
    "an attempt of an earlier driver hides no marker, though the checkpoint went back and its epoch is a later one"
  ) {
    val sink  = new FakeSink
    val first = started(sink)
    (0L to 2L).foreach(e => first.commit(e, Seq(sink.attempt(first.task, e, 0))))
    val unsure = new FakeCluster(sink, new Random(1), 0) {
      override def commit(ids: Seq[TransactionId]) = super.commit(ids).map(_ => CommitAnswer.Uncertain("lost"))
    }
    val writing = started(unsure, FakeSink.settings().copy(onMismatch = OnSinkMismatch.Write))
    sink.attempt(first.task, 3, 0)
    writing.commit(1, Seq(sink.attempt(writing.task, 1, 0)))
    assertEquals((kinds(sink).last, sink.committed.size, sink.open), ("Done", 4, nothing))
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

  test("a driver of another query is refused before it takes the sink over") {
    val sink    = new FakeSink
    val running = started(sink)
    intercept[PulsarException](started(sink, FakeSink.settings(nonce = "query:other")))
    running.commit(0, Seq(sink.attempt(running.task, 0, 0)))
    assertEquals(sink.committed.size, 1)
  }

  test("epochs of batches may begin anywhere") {
    val sink        = new FakeSink
    val coordinator = started(sink, FakeSink.settings(startsAtZero = false))
    coordinator.commit(7, Seq(sink.attempt(coordinator.task, 7, 0)))
    assertEquals(sink.committed.size, 1)
  }
}
