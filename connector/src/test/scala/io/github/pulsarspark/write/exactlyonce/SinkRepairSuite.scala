package io.github.pulsarspark.write.exactlyonce

import scala.concurrent.duration._
import scala.util.Using

import io.github.pulsarspark.cluster.WriteSuite
import io.github.pulsarspark.pulsar.PulsarConnection
import io.github.pulsarspark.pulsar.transactions.{ControlAccess, TransactionId}

/** Sinks by their ids on a scripted cluster: what is found of them, and what a repair does to them. */
class SinkRepairSuite extends WriteSuite {

  private val namespace = "public/default"

  private def log(sink: String, records: SinkRecord*): Unit = {
    append(sink, SinkTopics(namespace, sink).log, records: _*)
    asked(): Unit
  }

  /** Makes a topic with these records; returns their ids. */
  private def append(sink: String, name: String, records: SinkRecord*): Seq[String] = {
    store(name.stripPrefix(topic("")))
    Using.resource(PulsarConnection(client())) { connection =>
      val producer = connection.control(name).producer(ControlAccess.Shared)
      val ids      = records.map(r => producer.append(SinkRecords.text(SinkIdentity(sink, s"query:$sink", "o"), r)))
      producer.close()
      ids
    }
  }

  private def repair(sink: String) = SinkRepair(RepairSettings(client(), namespace, sink, 1.minute, TornEpoch.Refuse))

  /** Requests since the last call. Producers close on threads of their own, at any time. */
  private def asked(): Seq[String] = requests().filterNot(_.startsWith("close"))

  test("an id that no sink has: an error, and nothing is made for it") {
    assertEquals(condition(repair("nobody")), "PULSAR_SINK_STATE")
    assertEquals(asked(), Nil)
  }

  test("a log without a record: nothing to finish, nobody is fenced, and nothing is removed") {
    log("empty")
    assertEquals(repair("empty"), RepairedSink(None, None, 0, isRemoved = false))
    assertEquals(asked(), Nil)
  }

  test("a sink that nothing will write to: its state is removed; of one that goes on it stays") {
    for (isLast <- Seq(true, false)) {
      val sink   = if (isLast) "last" else "lasting"
      val topics = SinkTopics(namespace, sink)
      log(sink, SinkRecord.Owner("t"))
      Seq(topics.open, topics.mark).foreach(name => store(name.stripPrefix(topic(""))))
      val settings = RepairSettings(client(), namespace, sink, 1.minute, TornEpoch.Refuse, isLast)
      assertEquals(SinkRepair(settings), RepairedSink(Some(s"query:$sink"), None, 0, isRemoved = isLast))
      assert(asked().contains(s"producer pulsar-spark-sink-$sink-log Exclusive"), "it fences no driver")
      val kept = cluster.writes.subscriptions.keys.map(_._1).toSet
      assertEquals(Seq(topics.log, topics.open, topics.mark).map(kept), Seq.fill(3)(!isLast))
    }
  }

  test("a recorded epoch that nobody finished: it is committed; one whose transactions were aborted is dropped") {
    for (isCommitted <- Seq(true, false)) {
      val sink   = if (isCommitted) "recorded" else "timed-out"
      val topics = SinkTopics(namespace, sink)
      val from   = append(sink, topics.mark, SinkRecord.Barrier("b")).head
      val ids    = Using.resource(PulsarConnection(client())) { connection =>
        Using.resource(connection.transactions()) { all =>
          val begun = Seq.fill(2)(all.begin(1.minute))
          if (!isCommitted) begun.foreach(id => all.isEnded(id, all.abort(id)))
          begun
        }
      }
      val sent = ids.zipWithIndex.map { case (id, i) => SinkTransaction(id, partition = i, attempt = i + 7L, rows = 5) }
      append(sink, topics.open, SinkRecord.Open(4, SinkTransaction(TransactionId(0, 4711), 0, 1), 60000, 0)): Unit
      log(sink, SinkRecord.Owner("*"), SinkRecord.Prepared(3, sent, from, "*"))
      val epoch = if (isCommitted) RepairedEpoch(3, "committed", Nil) else RepairedEpoch(3, "dropped", sent)
      assertEquals(repair(sink), RepairedSink(Some(s"query:$sink"), Some(epoch), aborted = 1, isRemoved = false))
      assertEquals(ids.map(id => cluster.writes.transactions((id.most, id.least))), Seq.fill(2)(Option(isCommitted)))
      assertEquals(repair(sink).epoch, None, "it is finished")
    }
  }

  test("the settings of a sink's writer by its log: its topic, if it has one, and the kind of its epochs") {
    def found(nonce: String, target: String) = {
      val owner = SinkRecords.text(SinkIdentity("s", nonce, "o"), SinkRecord.Owner(target))
      val set   = SinkSettings.ofLog(client(), namespace, "s", 1.minute, nonce, SinkLog.of(Seq("1:0" -> owner)))
      (set.topic, set.startsAtZero, set.isForever)
    }
    assertEquals(found(SinkSettings.nonce("q"), topic("t")), (Option(topic("t")), true, true))
    assertEquals(found("versions:q", "*"), (None, false, true))
    assertEquals(found("job", ""), (None, false, false))
  }

  test("the sinks of a namespace, each with what its log says") {
    log("b", SinkRecord.Owner("t"))
    log("a", SinkRecord.Owner("u"), SinkRecord.Done(4, 1, 2, 3, "u"))
    store("pulsar-spark-sink-c-open")
    store("another-log")
    val found = SinkRepair.logs(client(), namespace).filter(_._1.length == 1)
    assertEquals(found.map { case (id, log) => (id, log.nonce, log.target) },
      Seq(("a", Some("query:a"), "u"), ("b", Some("query:b"), "t")))
    assertEquals(found.map(_._2.done("u").map(_.epoch)), Seq(Some(4L), None))
  }
}
