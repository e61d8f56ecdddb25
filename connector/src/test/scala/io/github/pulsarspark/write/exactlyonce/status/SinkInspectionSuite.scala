package io.github.pulsarspark.write.exactlyonce.status

import scala.util.Using

import io.github.pulsarspark.cluster.{ScriptedHttp, WriteSuite}
import io.github.pulsarspark.pulsar.PulsarConnection
import io.github.pulsarspark.pulsar.transactions.{ControlAccess, TransactionId}
import io.github.pulsarspark.write.exactlyonce.{SinkIdentity, SinkRecord, SinkRecords, SinkTopics, SinkTransaction}

/** Requests of [[SinkInspection]] to a cluster and to its admin service, and what their answers mean. */
class SinkInspectionSuite extends WriteSuite {
  import SinkRecord._

  private val namespace = "public/default"

  private def transaction(n: Long) = SinkTransaction(TransactionId(3, n), n.toInt, n, rows = 10 * n, bytes = 8)

  private def append(sink: String, topic: String, records: SinkRecord*): Unit = {
    store(topic.stripPrefix(this.topic("")))
    Using.resource(PulsarConnection(client())) { connection =>
      val producer = connection.control(topic).producer(ControlAccess.Shared)
      records.foreach(r => producer.append(SinkRecords.text(SinkIdentity(sink, "query:q", "o"), r)))
      producer.close()
    }
  }

  /** A sink with epoch 4 done and transactions 5 to 7 of the next one; the marker of 5 is there. */
  private def sink(id: String): Unit = {
    val topics = SinkTopics(namespace, id)
    append(id, topics.log, Owner("t"), Done(4, 2, 30, 300, "t"))
    append(id, topics.open, Seq(5L, 6L, 7L).map(n => Open(5, transaction(n), 60000, 0)): _*)
    append(id, topics.mark, Marker(5, transaction(5)))
    requests(): Unit
  }

  /** Facts of a sink, without the times, by what the admin service answers. */
  private def facts(id: String, answers: PartialFunction[String, (Int, String)]): (Seq[SinkFact], Seq[String]) =
    Using.resource(new ScriptedHttp(answers.applyOrElse(_, (_: String) => (404, """{"reason":"not there"}""")))) {
      http =>
        SinkInspection(client("admin.url" -> http.url), namespace, id) -> http.take()
    }

  private val slow = "GET /admin/v3/transactions/slowTransactions/0"

  private def statistics(id: String) =
    s"GET /admin/v2/persistent/public/default/pulsar-spark-sink-$id-log/stats?getPreciseBacklog=true"

  private def open(facts: Seq[SinkFact]) = facts.filter(_.record == "open").map(f => f.least.get -> f.state.get)

  private def driver(facts: Seq[SinkFact]) = facts.filter(_.record == "driver").map(f => f.state.get -> f.detail)

  test("a sink that does not exist: an error that names its topic, and nothing is made for it") {
    assertEquals(condition(SinkInspection(client(), namespace, "nobody")), "PULSAR_SINK_STATE")
    assertEquals(requests(), Nil)
  }

  test("without an admin service: the records alone; drivers and open transactions are not known") {
    sink("alone")
    val found = SinkInspection(client(), namespace, "alone")
    assertEquals(found.map(_.record), Seq("sink", "driver", "done", "open", "open"))
    assertEquals((found.head.detail, found.head.namespace, found.head.owner),
      (Some("query:q"), Some(namespace), Some("o")))
    assertEquals(driver(found), Seq("unknown" -> None))
    assertEquals(open(found), Seq(6L -> "unknown", 7L -> "unknown"), "5 has its marker")
    assert(!requests().exists(r => r.startsWith("producer") || r.startsWith("send")), "it changes nothing")
  }

  test("with an admin service: who is connected, and the transactions that are open, in both forms of their ids") {
    sink("asked")
    val (found, asked) = facts(
      "asked",
      {
        case `slow` => (200, """{"(3,6)": {"status": "OPEN", "openTimestamp": 1000, "timeoutAt": 60000},
          "x": {"txnId": "(3, 5)", "status": "OPEN", "openTimestamp": 1, "timeoutAt": 1},
          "(3,7)": {"status": "COMMITTING", "openTimestamp": 1, "timeoutAt": 1}, "y": {"status": "OPEN"}}""")
        case r if r == statistics("asked") =>
          (200, """{"publishers": [{"producerName": "p", "address": "/10.0.0.1:5"}]}""")
      }
    )
    assertEquals(asked, Seq(slow, statistics("asked")))
    assertEquals(driver(found), Seq("connected" -> Some("p at /10.0.0.1:5")))
    assertEquals(open(found), Seq(6L -> "open"))
    val one = found.find(_.record == "open").get
    assertEquals((one.most, one.rows, one.partition, one.attempt, one.left), (Some(3L), Some(60L), Some(6), Some(6L),
        Some(0L)))
    assert(one.age.exists(_ > 1000000), one.age)
  }

  test("an admin service that the role may not ask: as without one; another failure is an error") {
    sink("denied")
    val (found, _) = facts("denied", { case _ => (403, """{"reason":"no"}""") })
    assertEquals((driver(found), open(found)), (Seq("unknown" -> None), Seq(6L -> "unknown", 7L -> "unknown")))
    assertEquals(condition(facts("denied", { case _ => (500, """{"reason":"broken"}""") })), "PULSAR_REQUEST_FAILED")
  }

  test("a topic of tasks that is not there yet: no open transaction") {
    append("young", SinkTopics(namespace, "young").log, Owner("t"))
    assertEquals(SinkInspection(client(), namespace, "young").map(_.record), Seq("sink", "driver"))
  }

  test("a record that this version cannot read: an error that names its topic") {
    sink("later")
    Using.resource(PulsarConnection(client())) { connection =>
      val producer = connection.control(SinkTopics(namespace, "later").mark).producer(ControlAccess.Shared)
      producer.append("""{"version": 2}""")
      producer.close()
    }
    val e = intercept[RuntimeException](SinkInspection(client(), namespace, "later"))
    assert(e.getMessage.contains("of its topic -mark"), e.getMessage)
  }
}
