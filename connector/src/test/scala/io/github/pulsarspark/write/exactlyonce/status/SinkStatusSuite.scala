package io.github.pulsarspark.write.exactlyonce.status

import java.time.{Duration, Instant}

import io.github.pulsarspark.UnitSuite
import io.github.pulsarspark.pulsar.transactions.TransactionId
import io.github.pulsarspark.write.exactlyonce.{DatedRecord, SinkIdentity, SinkRecord, SinkTransaction}

class SinkStatusSuite extends UnitSuite {
  import SinkRecord._

  private val now  = Instant.ofEpochMilli(1790000000000L)
  private val by   = SinkIdentity("trips", "query:6f1c", "a")
  private val next = SinkIdentity("trips", "query:6f1c", "b")

  private def transaction(number: Int) = SinkTransaction(TransactionId(0, number.toLong), number % 2, number.toLong, 10)

  private def dated(records: SinkRecord*)        = records.map(DatedRecord(by, _, now))
  private def opened(epoch: Long, numbers: Int*) = dated(numbers.map(n => Open(epoch, transaction(n), 9, 0)): _*)
  private def marked(numbers: Int*)              = dated(numbers.map(n => Marker(7, transaction(n))): _*)
  private def running(numbers: Int*)             =
    numbers.map(n => TransactionId(0, n.toLong) -> RunningTransaction(now.minusSeconds(5), Duration.ofMinutes(1))).toMap

  private val prepared = Prepared(7, Seq(transaction(0), transaction(1)), "1:1", "t")
  private val done     = Done(7, 2, 20, 100, "t")

  private def status(
      log: Seq[DatedRecord],
      open: Seq[DatedRecord] = Nil,
      marks: Seq[DatedRecord] = Nil,
      running: Option[Map[TransactionId, RunningTransaction]] = None
  ) = SinkStatus("public/default", log, open, marks, Some(Nil), running, now).facts

  /** Number and state of each transaction of a kind. */
  private def states(facts: Seq[SinkFact], record: String): Seq[(Long, String)] =
    facts.filter(_.record == record).map(f => f.least.get -> f.state.get)

  test("an empty log has no state") {
    assertEquals(status(Nil), Seq(SinkFact("sink", namespace = Some("public/default"))))
  }

  test("the last driver owns the sink") {
    val log = dated(Owner("t")) :+ DatedRecord(next, Owner("t"), now.plusMillis(1))
    assertEquals(
      status(log),
      Seq(SinkFact("sink", namespace = Some("public/default"), owner = Some("b"), time = Some(now.plusMillis(1)),
        detail = Some("query:6f1c")))
    )
  }

  test("a prepared epoch stays until it is done or dropped") {
    val open  = opened(7, 0, 1, 2)
    val shown = status(dated(Owner("t"), prepared), open, marked(0), Some(running(1, 2)))
    assertEquals(
      shown.find(_.record == "prepared"),
      Some(SinkFact("prepared", epoch = Some(7), owner = Some("a"), time = Some(now), transactions = Some(2),
        rows = Some(20)))
    )
    assertEquals(states(shown, "transaction"), Seq(0L -> "committed", 1L -> "open"))
    assertEquals(states(shown, "open"), Seq(2L -> "open"))
    val late = shown.filter(_.record == "open").head
    assertEquals((late.epoch, late.age, late.left), (Some(7L), Some(5000L), Some(55000L)))

    val finished = status(dated(Owner("t"), prepared, done), open, marked(0, 1), Some(running(2)))
    assertEquals(finished.map(_.record), Seq("sink", "done", "open"))
    assertEquals(
      finished(1),
      SinkFact("done", epoch = Some(7), owner = Some("a"), time = Some(now), transactions = Some(2), rows = Some(20),
        lost = Some(0))
    )
    assertEquals(status(dated(Owner("t"), prepared, Dropped(7)), open, Nil, Some(Map.empty)).map(_.record), Seq("sink"))
  }

  test("a transaction that ended without a marker is not called open") {
    assertEquals(
      states(status(dated(prepared), marks = marked(1), running = Some(Map.empty)), "transaction"),
      Seq(0L -> "ended", 1L -> "committed")
    )
  }

  test("a late attempt of a finished epoch is shown where open transactions are listed") {
    val log = dated(Owner("t"), prepared, done)
    assertEquals(states(status(log, opened(7, 0, 1, 2), marked(0, 1), Some(running(2))), "open"), Seq(2L -> "open"))
    assertEquals(states(status(log, opened(7, 0, 1, 2), marked(0, 1)), "open"), Nil)
    assertEquals(states(status(log, opened(8, 3)), "open"), Seq(3L -> "unknown"))
  }

  test("rows that somebody gave up are counted") {
    assertEquals(status(dated(prepared, done.copy(lost = 10))).find(_.record == "done").flatMap(_.lost), Some(10L))
  }

  test("drivers that are not known are not denied") {
    def drivers(found: Option[Seq[String]]) =
      SinkStatus("p/d", Nil, Nil, Nil, found, None, now).facts.filter(_.record == "driver").map(d =>
        d.state -> d.detail
      )
    assertEquals(drivers(None), Seq(Some("unknown") -> None))
    assertEquals(drivers(Some(Seq("x at 1"))), Seq(Some("connected") -> Some("x at 1")))
  }
}
