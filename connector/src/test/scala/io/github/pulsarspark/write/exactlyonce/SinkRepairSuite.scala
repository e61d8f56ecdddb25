package io.github.pulsarspark.write.exactlyonce

import scala.concurrent.duration._
import scala.util.Using

import io.github.pulsarspark.cluster.WriteSuite
import io.github.pulsarspark.pulsar.PulsarConnection
import io.github.pulsarspark.pulsar.transactions.ControlAccess

/** Sinks by their ids on a scripted cluster, before anything of them is finished. */
class SinkRepairSuite extends WriteSuite {

  private val namespace = "public/default"

  private def log(sink: String, records: SinkRecord*): Unit = {
    val name = SinkTopics(namespace, sink).log
    store(name.stripPrefix(topic("")))
    Using.resource(PulsarConnection(client())) { connection =>
      val producer = connection.control(name).producer(ControlAccess.Shared)
      records.foreach(r => producer.append(SinkRecords.text(SinkIdentity(sink, s"query:$sink", "o"), r)))
      producer.close()
    }
    asked()
    ()
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
      val kept = cluster.writes.subscriptions.keys.map(_._1).toSet
      assertEquals(Seq(topics.log, topics.open, topics.mark).map(kept), Seq.fill(3)(!isLast))
    }
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
