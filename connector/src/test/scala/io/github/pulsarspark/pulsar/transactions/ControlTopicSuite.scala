package io.github.pulsarspark.pulsar.transactions

import java.util.concurrent.{CompletableFuture, TimeUnit}

import scala.concurrent.duration._
import scala.util.Using

import io.github.pulsarspark.cluster.{StoredTopic, TopicEntry, TopicLedger, WriteSuite}
import io.github.pulsarspark.format.{Sent, StoredEntry}
import io.github.pulsarspark.position.Position
import io.github.pulsarspark.pulsar.PulsarConnection

class ControlTopicSuite extends WriteSuite {

  private def using[A](name: String)(test: ControlTopic => A): A =
    Using.resource(PulsarConnection(client()))(connection => test(connection.control(topic(name))))

  test("records are read in order with the ids of their appends, all of them or from one on") {
    store("log")
    using("log") { log =>
      val producer = log.producer(ControlAccess.Shared)
      val records  = Seq("one", "two", "three").map(text => producer.append(text) -> text)
      cluster.writes.strangers.set(1)
      assertEquals(log.reader().toEnd(), records, "also while the topic moves")
      assertEquals(log.reader(Some(records(1)._1)).toEnd(), records.tail)
      producer.close()
    }
  }

  test("records that are on their way at the same time: each has a place of its own") {
    store("together")
    using("together") { log =>
      val producer = log.producer(ControlAccess.Shared)
      val places   = (1 to 20).map(n => producer.start(n.toString, None)).map(_())
      producer.close()
      assertEquals(log.reader().toEnd(), places.zip(1 to 20).map { case (at, n) => at -> n.toString })
      assertEquals(places.distinct, places)
    }
  }

  test("records up to one of them; none if that does not arrive in time") {
    store("mark")
    using("mark") { mark =>
      val producer = mark.producer(ControlAccess.Shared)
      val records  = Seq("one", "two", "three").map(text => producer.append(text) -> text)
      assertEquals(mark.reader().until(20.seconds)(_ == "two"), Some(records.take(2)))
      assertEquals(mark.reader().until(200.millis)(_ == "four"), None)
      producer.close()
    }
  }

  test("a wait for records that is interrupted, as by a query that is stopped, ends as such") {
    store("stopped")
    using("stopped") { mark =>
      val reader = mark.reader()
      val ended  = new CompletableFuture[Throwable]
      val waits  = new Thread(() => { reader.until(5.minutes)(_ => true); () })
      waits.setUncaughtExceptionHandler { (_, e) => ended.complete(e); () }
      waits.start()
      waits.interrupt()
      assert(ended.get(3, TimeUnit.MINUTES).isInstanceOf[InterruptedException], ended.get)
    }
  }

  test("access of other producers is what the broker is asked for") {
    store("access")
    using("access") { access =>
      Seq(ControlAccess.Shared, ControlAccess.Fencing, ControlAccess.Alone).foreach(access.producer(_).close())
      assertEquals(requests().filter(_.startsWith("producer")),
        Seq("Shared", "ExclusiveWithFencing", "Exclusive").map(mode => s"producer access $mode"))
    }
  }

  test("a record that is refused: an error that names the topic, and a producer that is not used again") {
    store("refused")
    using("refused") { log =>
      val producer = log.producer(ControlAccess.Shared)
      cluster.writes.refused = Set(topic("refused"))
      try assertEquals(condition(producer.append("one")), "PULSAR_SINK_TOPIC")
      finally cluster.writes.refused = Set.empty
      assert(!producer.isUsable)
    }
  }

  test("tasks share a producer, until a record of it is refused") {
    store("shared")
    Using.resource(PulsarConnection(client())) { connection =>
      def append()          = Using.resource(connection.sharedControl(topic("shared")))(_.value.append("one"))
      def producers(): Long = requests().count(_ == "producer shared Shared").toLong
      (1 to 2).foreach(_ => append())
      assertEquals(producers(), 1L)
      cluster.writes.refused = Set(topic("shared"))
      try assertEquals(condition(append()), "PULSAR_SINK_TOPIC")
      finally cluster.writes.refused = Set.empty
      append()
      assertEquals(producers(), 1L, "another one")
    }
  }

  test("a record that another cluster wrote: an error, since its transactions are not those of this one") {
    val entry = StoredEntry(Seq(Sent.text("one")), batched = false,
      metadata = m => { m.setReplicatedFrom("west"); () })
    cluster.add(StoredTopic(
      topic("copied"),
      Vector(TopicLedger(90, Vector(TopicEntry(Position(90, 0), entry.array, TopicEntry.Messages(), 1L, 1))))
    ))
    using("copied") { log =>
      assertEquals(condition(log.reader().toEnd()), "PULSAR_SINK_OF_ANOTHER_CLUSTER")
      assertEquals(condition(log.reader().until(20.seconds)(_ => true)), "PULSAR_SINK_OF_ANOTHER_CLUSTER")
    }
  }

  test("a partitioned topic is refused, since records have one order") {
    store("several-partition-0")
    using("several")(log => assertEquals(condition(log.retention()), "PULSAR_SINK_TOPIC"))
  }

  test("a new subscription keeps the records that are there") {
    store("there")
    using("there") { log =>
      val producer = log.producer(ControlAccess.Shared)
      producer.append("one")
      producer.close()
      log.retention().close()
      assertEquals(cluster.writes.subscriptions((topic("there"), "pulsar-spark-sink")).entryId, -1L)
    }
  }

  test("a subscription keeps the records before anything is appended") {
    store("kept")
    using("kept") { log =>
      val retention = log.retention()
      assertEquals(requests().filter(_.endsWith(" kept")), Seq("subscribe kept"))
      val producer = log.producer(ControlAccess.Shared)
      retention.release(producer.append("one"))
      retention.close()
      producer.close()
    }
  }
}
