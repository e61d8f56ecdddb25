package io.github.pulsarspark.write.exactlyonce

import scala.util.Random

import io.github.pulsarspark.UnitSuite
import io.github.pulsarspark.errors.PulsarException
import io.github.pulsarspark.pulsar.transactions.TransactionId

/** A driver's ordinary life: it records epochs, commits them, and keeps other drivers away. */
class SinkCoordinatorSuite extends UnitSuite {
  import FakeSink.{kinds, started}

  private val nothing = Set.empty[TransactionId]

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

  test("what an attempt sends after its epoch is aborted when the driver ends") {
    val sink        = new FakeSink
    val coordinator = started(sink)
    coordinator.commit(0, Seq(sink.attempt(coordinator.task, 0, 0)))
    sink.attempt(coordinator.task.copy(done = None), 0, 0)
    coordinator.close()
    assertEquals((sink.committed.size, sink.open), (1, nothing))
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

  test("a log is released in lives of one epoch each") {
    val sink = new FakeSink
    (0L to 20L).foreach { version =>
      val batch = started(sink, FakeSink.settings("versions:q", startsAtZero = false))
      batch.commit(version, Seq(sink.attempt(batch.task, version, 0)))
    }
    assert(sink.log.size - sink.released < 10, s"${sink.released} of ${sink.log.size}")
  }

  test("a log is released in a life of epochs without rows") {
    val sink        = new FakeSink
    val coordinator = started(sink)
    (0L to 20L).foreach(epoch => coordinator.commit(epoch, Seq(SinkCommit(None, Nil))))
    assert(sink.log.size - sink.released < 10, s"${sink.released} of ${sink.log.size}")
  }

  test("the record of an epoch names the last marker of the epoch before, after which its own are looked for") {
    val sink        = new FakeSink
    val coordinator = started(sink)
    val first       = (0 until 12).map(sink.attempt(coordinator.task, 0, _))
    coordinator.commit(0, first.reverse)
    coordinator.commit(1, Seq(sink.attempt(coordinator.task, 1, 0)))
    val starts = sink.log.toSeq.flatMap(r => SinkRecords.parse(r._2)).collect { case (_, p: SinkRecord.Prepared) =>
      p.from
    }
    assertEquals(starts.drop(1), first.last.transaction.flatMap(_.marker).toSeq)
  }

  /** Ends a job; returns whether its state is ended, and whether its driver says so. */
  private def ended(aborts: Boolean = true, ends: Boolean = true): (Boolean, Boolean) = {
    val sink    = new FakeSink
    val cluster = new FakeCluster(sink, new Random(1), 0) {
      override def abort(ids: Seq[TransactionId]): Set[TransactionId] = if (aborts) super.abort(ids) else nothing
      override def end(): Unit = if (ends) super.end() else throw new FakeSink.Lost
    }
    val coordinator = started(cluster, FakeSink.settings(startsAtZero = false, isForever = false))
    coordinator.commit(0, Seq(sink.attempt(coordinator.task, 0, 0)))
    sink.attempt(coordinator.task.copy(done = None), 0, 0)
    assert(!coordinator.isRemoved)
    coordinator.close()
    (cluster.isEnded, coordinator.isRemoved)
  }

  test("the state of a job is ended with it, unless a transaction stays open; only what is ended counts as removed") {
    assertEquals(ended(), (true, true))
    assertEquals(ended(aborts = false), (false, false))
    assertEquals(ended(ends = false), (false, false))
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
}
