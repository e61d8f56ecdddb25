package io.github.pulsarspark.write.exactlyonce

import scala.concurrent.duration._
import scala.util.Using

import org.apache.pulsar.common.api.proto.ServerError

import io.github.pulsarspark.cluster.WriteSuite
import io.github.pulsarspark.pulsar.PulsarConnection
import io.github.pulsarspark.pulsar.transactions.{CommitAnswer, ControlAccess, TransactionId}
import io.github.pulsarspark.storage.KilledTasks.eventually

/** The topics and transactions of a sink, on a scripted cluster: the order of requests, and what answers mean. */
class PulsarSinkClusterSuite extends WriteSuite {

  private def settings(sink: String, topic: Option[String]) =
    SinkSettings(client(), topic, "public/default", sink, "n", startsAtZero = true, isForever = true, 1.minute)

  /** A cluster with the topics of a sink. */
  private def using[A](sink: String, topic: Option[String] = None, access: ControlAccess = ControlAccess.Fencing)(
      test: (PulsarSinkCluster, SinkTopics) => A
  ): A = {
    val set = settings(sink, topic)
    Seq(set.topics.log, set.topics.open, set.topics.mark).foreach(n => store(n.stripPrefix(this.topic(""))))
    asked()
    Using.resource(new PulsarSinkCluster(set, access))(test(_, set.topics))
  }

  private def append(topic: String, records: String*): Unit =
    Using.resource(PulsarConnection(client())) { connection =>
      val producer = connection.control(topic).producer(ControlAccess.Shared)
      records.foreach(producer.append)
      producer.close()
    }

  /** Requests since the last call. Producers close on threads of their own, at any time. */
  private def asked(): Seq[String] = requests().filterNot(_.startsWith("close"))

  test("a cluster with transactions: one is begun and aborted, and no topic is touched") {
    using("checked") { (cluster, _) =>
      cluster.check()
      assertEquals(asked(), Seq("begin", "abort"))
    }
  }

  test("taking over: the log is kept, read and admitted before any other driver is fenced, then the other topics") {
    using("taken") { (cluster, topics) =>
      val (log, open, mark)   = (topics.log, topics.open, topics.mark)
      def short(name: String) = name.stripPrefix(topic(""))
      append(log, "one", "two")
      asked()
      var admitted = Seq.empty[(String, Seq[String])]
      val records  = cluster.takeOver(found => admitted = found.map(_._2).map(_ -> asked()))
      assertEquals(records.map(_._2), Seq("one", "two"))
      assertEquals(admitted, Seq("one" -> Seq(s"subscribe ${short(log)}"), "two" -> Nil))
      assertEquals(
        asked(),
        Seq(s"producer ${short(log)} ExclusiveWithFencing", s"subscribe ${short(open)}",
          s"subscribe ${short(mark)}", s"producer ${short(mark)} Shared")
      )
    }
  }

  test("what another driver records before it is fenced is read as well, after what was admitted") {
    using("raced") { (cluster, topics) =>
      append(topics.log, "one")
      assertEquals(cluster.takeOver(_ => append(topics.log, "two")).map(_._2), Seq("one", "two"))
    }
  }

  test("a log that is not admitted: no other driver is fenced") {
    using("refused") { (cluster, topics) =>
      append(topics.log, "of another query")
      asked()
      intercept[IllegalStateException](cluster.takeOver(_ => throw new IllegalStateException("not ours")))
      assertEquals(asked().filter(_.startsWith("producer")), Nil)
      assertEquals(condition(cluster.append("x")), "PULSAR_INTERNAL")
    }
  }

  test("a repair asks for the log alone, so that it fails beside a driver in place of fencing it") {
    using("alone", access = ControlAccess.Alone) { (cluster, _) =>
      cluster.takeOver(_ => ())
      assertEquals(asked().filter(_.endsWith("Exclusive")).size, 1)
    }
  }

  test("a repair beside a driver: an error that says so; of a driver, or by another failure, that failure") {
    val busy = ServerError.ProducerBusy
    for (
      (access, error, expected) <- Seq(
        (ControlAccess.Alone, busy, "PULSAR_SINK_STATE"),
        (ControlAccess.Fencing, busy, "PULSAR_SINK_TOPIC"),
        (ControlAccess.Alone, ServerError.TopicTerminatedError, "PULSAR_SINK_TOPIC")
      )
    )
      using(s"beside-$access-$error", access = access) { (cluster, topics) =>
        this.cluster.writes.closed = Map(topics.log -> error)
        try assertEquals(condition(cluster.takeOver(_ => ())), expected, access)
        finally this.cluster.writes.closed = Map.empty
      }
  }

  test("records that are needed no more: each topic keeps what follows its own") {
    using("released") { (cluster, topics) =>
      cluster.takeOver(_ => ())
      append(topics.open, "a", "b")
      val ids             = Seq(cluster.append("r"), cluster.opened().head._1, cluster.barrier("m"))
      def kept(n: String) =
        this.cluster.writes.subscriptions.get((n, "pulsar-spark-sink")).map(p => s"${p.ledgerId}:${p.entryId}")
      val all    = Seq(topics.log, topics.open, topics.mark)
      val before = all.map(kept)
      for (i <- all.indices) {
        def only(n: Int) = Option.when(n == i)(ids(n))
        cluster.release(only(0), only(1), only(2))
        val expected = ids.take(i + 1).map(Option(_)) ++ before.drop(i + 1)
        eventually(s"${all.map(kept)}")(all.map(kept) == expected)
      }
    }
  }

  test("the end of a sink: none of its topics is kept") {
    using("over") { (cluster, topics) =>
      cluster.takeOver(_ => ())
      def kept = this.cluster.writes.subscriptions.keys.map(_._1).toSet & Set(topics.log, topics.open, topics.mark)
      assertEquals(kept.size, 3)
      cluster.end()
      assertEquals(kept, Set.empty[String])
    }
  }

  test("terminated topic partitions, of the write and of others; none of a topic that is deleted") {
    val names = Seq("ended-partition-0", "ended-partition-1", "by-row")
    names.foreach(store)
    using("ends", topic = Some(topic("ended"))) { (cluster, _) =>
      this.cluster.writes.closed =
        Map(
          topic(names(1))  -> ServerError.TopicTerminatedError,
          topic(names(2))  -> ServerError.TopicTerminatedError,
          topic("deleted") -> ServerError.TopicTerminatedError
        )
      try
        assertEquals(cluster.terminated(Seq(topic("by-row"), topic("deleted"))), Seq(topic("by-row"), topic(names(1))))
      finally this.cluster.writes.closed = Map.empty
      assert(!asked().exists(_.startsWith("producer deleted")), "a request could make it again")
      assertEquals(cluster.terminated(Seq(topic("by-row"))), Nil)
      eventually("a producer that was opened for the answer is not closed")(requests().contains("close by-row"))
    }
  }

  test("records: appended to the log, registered by tasks, and between two places of the marker topic") {
    using("records") { (cluster, topics) =>
      cluster.takeOver(_ => ())
      cluster.append("first")
      append(topics.open, "a", "b")
      assertEquals(cluster.opened().map(_._2), Seq("a", "b"))
      append(topics.open, "c")
      assertEquals(cluster.opened().map(_._2), Seq("c"), "since the last call")
      append(topics.mark, "before")
      val from = cluster.barrier("start")
      append(topics.mark, "between")
      cluster.barrier("end")
      assertEquals(cluster.markers(from, "end", 20.seconds).map(_.map(_._2)), Some(Seq("start", "between", "end")))
      assertEquals(cluster.markers(from, "never", 200.millis), None)
    }
  }

  test("commits: one answer for each transaction, in order, also where one has ended otherwise") {
    using("commits") { (cluster, _) =>
      val (open, aborted) = (begun(), begun())
      cluster.abort(Seq(aborted))
      val answers = cluster.commit(Seq(aborted, open))
      assertEquals(answers.last, CommitAnswer.Committed)
      assert(answers.head.isInstanceOf[CommitAnswer.Uncertain], answers.head)
    }
  }

  test("aborts: those that have ended, whoever ended them") {
    using("aborts") { (cluster, _) =>
      val (open, committed) = (begun(), begun())
      cluster.commit(Seq(committed))
      val ids = Seq(open, committed, TransactionId(0, 4711))
      assertEquals(cluster.abort(ids), ids.toSet)
    }
  }

  test("aborts of a transaction that other credentials began: an error, since it stays open") {
    using("foreign") { (cluster, _) =>
      val (own, foreign) = (begun(), begun())
      this.cluster.writes.foreign = Set((foreign.most, foreign.least))
      try assertEquals(condition(cluster.abort(Seq(own, foreign))), "PULSAR_TRANSACTION_NOT_OWNED")
      finally this.cluster.writes.foreign = Set.empty
    }
  }

  test("transactions that are lost: those that are not open, with the reason") {
    using("lost") { (cluster, _) =>
      val (open, committed) = (begun(), begun())
      cluster.commit(Seq(committed))
      assertEquals(cluster.lost(Seq(open, committed)).keySet, Set(committed))
      assertEquals(cluster.ended(Seq(open, committed))(), Seq(committed))
      assertEquals(cluster.ending(Seq(open, committed)), Seq(committed))
    }
  }

  test("a sweep ends an empty transaction of the same coordinator on all topic partitions of the write") {
    store("swept-partition-0")
    store("swept-partition-1")
    store("named")
    using("sweep", topic = Some(topic("swept"))) { (cluster, topics) =>
      cluster.sweep(Seq(TransactionId(0, 1), TransactionId(0, 2)), Seq(topic("named")))
      val mark = topics.mark.stripPrefix(topic(""))
      assertEquals(asked(), Seq("begin", s"register $mark, swept-partition-0, swept-partition-1, named", "commit"))
    }
  }

  /** A transaction that is open. */
  private def begun(): TransactionId =
    Using.resource(PulsarConnection(client()))(c => Using.resource(c.transactions())(_.begin(1.minute)))
}
