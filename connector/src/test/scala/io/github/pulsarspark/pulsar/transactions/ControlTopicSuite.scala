package io.github.pulsarspark.pulsar.transactions

import java.util.concurrent.{CompletableFuture, TimeUnit}

import scala.concurrent.duration._
import scala.util.Using

import io.github.pulsarspark.cluster.WriteSuite
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

  test("a partitioned topic is refused, since records have one order") {
    store("several-partition-0")
    using("several")(log => assertEquals(condition(log.retention()), "PULSAR_SINK_TOPIC"))
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
