package io.github.pulsarspark.write.exactlyonce

import scala.concurrent.duration._
import scala.util.{Random, Try}

import io.github.pulsarspark.UnitSuite
import io.github.pulsarspark.errors.{Conditions, PulsarException}
import io.github.pulsarspark.pulsar.transactions.{CommitAnswer, TransactionId}

/** Tests how sinks end: torn epochs that a person accepts, jobs that fail, epochs that are nearly too late. */
class SinkEndingsSuite extends UnitSuite {

  private val nothing = Set.empty[TransactionId]

  private def coordinator(
      sink: FakeSink,
      onTorn: TornEpoch = TornEpoch.Refuse,
      settings: SinkSettings = FakeSink.settings(),
      nanos: () => Long = () => 0
  )(cluster: FakeCluster = new FakeCluster(sink, new Random(1), 0)): SinkCoordinator =
    new SinkCoordinator(settings, cluster, 100.millis, nanos, onTorn)

  private def records(sink: FakeSink): Seq[SinkRecord] = sink.log.toSeq.flatMap(r => SinkRecords.parse(r._2)).map(_._2)

  /** An epoch of three tasks, one of whose transactions timed out after the record. */
  private def torn(sink: FakeSink): Unit = {
    var doomed         = Option.empty[TransactionId]
    def expire(): Unit = records(sink).lastOption.collect { case _: SinkRecord.Prepared =>
      doomed.foreach(sink.end(_, sink.Aborted))
    }
    val first = coordinator(sink)(new FakeCluster(sink, new Random(1), 0, () => expire()))
    first.start()
    val sent = (0 until 3).map(sink.attempt(first.task, 0, _))
    doomed = sent.head.transaction.map(_.id)
    assertEquals(intercept[PulsarException](first.commit(0, sent)).condition, "PULSAR_SINK_EPOCH_TORN")
    first.close()
  }

  test("a torn epoch that is accepted without its lost rows counts as written") {
    val sink = new FakeSink
    torn(sink)
    val (prepared, outcome) = coordinator(sink, TornEpoch.AcceptLost(0))().start().get
    assertEquals(prepared.epoch, 0L)
    assertEquals(outcome, EpochOutcome.Torn(prepared.transactions.take(1)))
    assertEquals(records(sink).collect { case d: SinkRecord.Done => (d.rows, d.lost) }, Seq((3L, 1L)))
    val next = coordinator(sink)()
    assertEquals(next.start(), None)
    next.commit(0, Seq(SinkCommit(None, Nil, skipped = 3))) // Spark repeats the epoch, which has no effect
    next.commit(1, Seq(sink.attempt(next.task, 1, 0)))
    assertEquals(sink.committed.size, 3)
  }

  test("a torn epoch whose repetition is accepted is written again as a whole") {
    val sink = new FakeSink
    torn(sink)
    coordinator(sink, TornEpoch.AcceptRepeated(0))().start()
    val next = coordinator(sink)()
    assertEquals(next.start(), None)
    next.commit(0, (0 until 3).map(sink.attempt(next.task, 0, _)))
    assertEquals(sink.committed.size, 5)
  }

  test("who accepts another epoch accepts nothing") {
    for (other <- Seq(TornEpoch.AcceptLost(1), TornEpoch.AcceptRepeated(7))) {
      val sink = new FakeSink
      torn(sink)
      assertEquals(intercept[PulsarException](coordinator(sink, other)().start()).condition, "PULSAR_SINK_EPOCH_TORN")
    }
  }

  test("an error names twenty lost partitions and counts the others") {
    val all  = (1 to 30).map(n => SinkTransaction(TransactionId(0, n.toLong), n, 0, rows = 1))
    val sink = new FakeSink
    val ends =
      new EpochEndings(FakeSink.settings(), SinkIdentity("s", "n", "o"), new FakeCluster(sink, new Random(1), 0),
        1.second)
    val text = ends.torn(SinkRecord.Prepared(3, all, "1:1", "t"), all.take(25)).getMessage
    assert(text.contains("1 rows of partition 20, 5 more"), text)
  }

  /** A cluster whose commits end nowhere but where their markers are. */
  private def stuck(sink: FakeSink, terminates: Seq[String] => Seq[String]) =
    new FakeCluster(sink, new Random(1), 0) {
      override def commit(ids: Seq[TransactionId]) = super.commit(ids).map(_ => CommitAnswer.Uncertain("timeout"))
      override def ending(ids: Seq[TransactionId]) = ids
      override def terminated(topicPartitions: Seq[String]) = terminates(topicPartitions)
    }

  test("an epoch that cannot be committed to a terminated topic fails at each start, unless its loss is accepted") {
    val sink  = new FakeSink
    val byRow = FakeSink.settings().copy(topic = None)
    val first = coordinator(sink, settings = byRow)(stuck(sink, identity))
    first.start()
    val failure = intercept[PulsarException](first.commit(0, Seq(sink.attempt(first.task, 0, 7))))
    assertEquals(failure.condition, "PULSAR_SINK_TOPIC_TERMINATED")
    assert(failure.getMessage.contains("topic-partition-7"), failure.getMessage)
    val again = intercept[PulsarException](coordinator(sink, settings = byRow)(stuck(sink, identity)).start())
    assert(again.getMessage.contains("topic-partition-7"), "the record names the topics of rows")
    coordinator(sink, TornEpoch.AcceptLost(0), byRow)(stuck(sink, identity)).start()
    assertEquals(records(sink).collect { case d: SinkRecord.Done => d.epoch }, Seq(0L))
  }

  test("an epoch whose commit is slow is written") {
    val sink    = new FakeSink
    val running = coordinator(sink)(stuck(sink, _ => Nil))
    running.start()
    running.commit(0, Seq(sink.attempt(running.task, 0, 0)))
    assertEquals(running.now.resolved, 1L)
  }

  private val job = FakeSink.settings("job", startsAtZero = false, isForever = false)

  test("the state of a job that fails is removed, unless a record of it may be stored") {
    def removed(fails: String => Boolean, isRecorded: Boolean): (Boolean, Set[TransactionId]) = {
      val sink    = new FakeSink
      val cluster = new FakeCluster(sink, new Random(1), 0) {
        override def append(record: String) =
          if (fails(record)) throw Conditions.MessageTooLarge(topic = "log", cause = "it is").exception
          else if (!isRecorded && record.contains("prepared")) throw new FakeSink.Lost
          else super.append(record)
      }
      val running = coordinator(sink, settings = job)(cluster)
      running.start()
      assert(Try(running.commit(0, Seq(sink.attempt(running.task, 0, 0)))).isFailure)
      running.abort(0)
      running.close()
      (cluster.isEnded, sink.open)
    }
    assertEquals(removed(_.contains("prepared"), isRecorded = true), (true, nothing), "too large: it is not stored")
    val (isEnded, open) = removed(_ => false, isRecorded = false)
    assertEquals((isEnded, open.size), (false, 1), "the answer is lost")
  }

  test("the state of a job whose start fails is removed") {
    val sink    = new FakeSink
    val cluster = new FakeCluster(sink, new Random(1), 0) {
      override def barrier(record: String) = throw new FakeSink.Lost
    }
    val running = coordinator(sink, settings = job)(cluster)
    assert(Try(running.start()).isFailure)
    running.close()
    assert(cluster.isEnded)
  }

  /** An epoch whose transactions are all open, after so many seconds of an hour, by the clocks of driver and task. */
  private def late(driver: Long, task: Long): Try[Unit] = {
    var now     = 0L
    val sink    = new FakeSink
    val running = coordinator(sink, nanos = () => now)()
    running.start()
    val sent       = sink.attempt(running.task, 0, 0)
    val opened     = SinkRecord.Open(0, sent.transaction.get, 1000, System.currentTimeMillis() - task * 1000)
    val (id, text) = sink.opens.last
    sink.opens(sink.opens.size - 1) = id -> SinkRecords.text(SinkRecords.parse(text).get._1, opened)
    now = driver * 1000000000L
    Try(running.commit(0, Seq(sent)))
  }

  test("an epoch that has too little time left is not recorded") {
    assert(late(driver = 3600, task = 3600).failed.toOption.exists(Conditions.SinkEpochDropped.is))
    assert(late(driver = 3540, task = 3540).isSuccess)
    assert(late(driver = 7200, task = 60).isSuccess, "the job is long, its transactions are not")
    assert(late(driver = 1900, task = 86400).isSuccess, "the clock of the task is a day behind")
  }

  test("late transactions of finished epochs are aborted while no epoch runs") {
    val sink    = new FakeSink
    val running = coordinator(sink)()
    running.start()
    val task = running.task
    running.commit(0, Seq(sink.attempt(task, 0, 0)))
    sink.attempt(task, 0, 1) // a copy of a task that nobody stopped
    val next = sink.attempt(running.task, 1, 0)
    running.tidy()
    assertEquals(sink.open, next.transaction.map(_.id).toSet)
    assertEquals(running.now.open, 1L)
  }
}
