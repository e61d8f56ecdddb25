package io.github.pulsarspark.pulsar.producer

import java.nio.charset.StandardCharsets.UTF_8
import java.util.concurrent.TimeUnit

import io.github.pulsarspark.cluster.WriteSuite
import io.github.pulsarspark.pulsar.connection.ClientPool
import io.github.pulsarspark.schema.TopicSchema
import io.github.pulsarspark.schema.columns.OutgoingMessage
import io.github.pulsarspark.storage.KilledTasks.eventually

class BatchOutboxSuite extends WriteSuite {

  /** The outbox of a topic, by a clock that stands still. */
  private final class Sending(outbox: BatchOutbox, acknowledgements: Acknowledgements, clock: Array[Long]) {

    def pass(millis: Long): Unit = clock(0) += TimeUnit.MILLISECONDS.toNanos(millis)

    def row(value: String, key: Option[String] = None, partition: Int = -1): Unit = {
      val message = new OutgoingMessage
      message.value = value.getBytes(UTF_8)
      message.key = key.map(_.getBytes(UTF_8)).orNull
      message.partition = partition
      outbox.send(message)
    }

    def isWaiting: Boolean = outbox.isWaiting
    def sendDue(): Unit    = outbox.sendDue()
    def discard(): Unit    = outbox.discard()

    /** Sends all that waits, until so many rows are acknowledged. */
    def flush(rows: Int): Unit = {
      outbox.flush()
      acknowledged(rows)
    }

    def acknowledged(rows: Int): Unit =
      eventually(s"${acknowledgements.count} of $rows")(acknowledgements.count == rows.toLong)
  }

  private def sending[A](name: String, isByKey: Boolean, settings: (String, String)*)(test: Sending => A): A = {
    val write = options(("topic" -> name) +: settings: _*)
    val lease = ClientPool.acquire(write.client)
    try {
      val open             = OpenProducer(lease, topic(name), TopicSchema.Bytes, write, Set.empty)
      val acknowledgements = new Acknowledgements
      val clock            = Array(0L)
      val outbox           = new BatchOutbox(open.producer, acknowledgements, None, isByKey, () => clock(0))
      try test(new Sending(outbox, acknowledgements, clock))
      finally open.closeAsync().get(20, TimeUnit.SECONDS)
    } finally lease.close()
  }

  /** Numbers of messages in the entries of a topic partition. */
  private def batches(name: String): Seq[Int] = cluster.topic(topic(name)).entries.map(_.messages)

  test("rows wait until they are flushed, in one batch") {
    store("flushed")
    sending("flushed", isByKey = false) { out =>
      (1 to 3).foreach(n => out.row(s"row $n"))
      assertEquals((out.isWaiting, batches("flushed")), (true, Nil))
      out.flush(3)
      assertEquals((out.isWaiting, batches("flushed")), (false, Seq(3)))
    }
  }

  test("a batch that is full is sent at once, by number or by bytes") {
    store("full")
    sending("full", isByKey = false, "pulsar.producer.batchingMaxMessages" -> "2") { out =>
      (1 to 5).foreach(n => out.row(s"row $n"))
      out.acknowledged(4)
      out.flush(5)
      assertEquals(batches("full"), Seq(2, 2, 1))
    }
    store("large")
    sending("large", isByKey = false, "pulsar.producer.batchingMaxBytes" -> "1000") { out =>
      (1 to 3).foreach(_ => out.row("x" * 400))
      out.flush(3)
      assertEquals(batches("large"), Seq(2, 1))
    }
  }

  test("a batch whose first row waited for the publish delay is sent with the next row, or when that is due") {
    store("late")
    sending("late", isByKey = false, "pulsar.producer.batchingMaxPublishDelayMicros" -> "5000") { out =>
      out.row("one")
      out.pass(4)
      out.row("two")
      assertEquals(batches("late"), Nil)
      out.pass(1)
      out.row("three")
      out.acknowledged(2)
      out.pass(4)
      out.sendDue()
      assert(out.isWaiting)
      out.pass(1)
      out.sendDue()
      out.acknowledged(3)
      assertEquals((out.isWaiting, batches("late")), (false, Seq(2, 1)))
    }
  }

  test("a batch by key has rows of one key") {
    store("keys")
    sending("keys", isByKey = true) { out =>
      Seq("a", "b", "a").foreach(key => out.row("x", Some(key)))
      out.flush(3)
      assertEquals(batches("keys").sorted, Seq(1, 2))
    }
  }

  test("rows go to the partition they name; others of a key to one, and those without a key batch by batch") {
    Seq("several-partition-0", "several-partition-1").foreach(store)
    sending("several", isByKey = false, "pulsar.producer.batchingMaxMessages" -> "2") { out =>
      Seq(1, 1).foreach(p => out.row("x", partition = p))
      out.acknowledged(2)
      assertEquals(Seq(0, 1).map(p => batches(s"several-partition-$p")), Seq(Nil, Seq(2)))
      (1 to 4).foreach(_ => out.row("x", Some("k")))
      out.acknowledged(6)
      val ofKey = Seq(0, 1).map(p => batches(s"several-partition-$p").size)
      assert(ofKey == Seq(2, 1) || ofKey == Seq(0, 3), ofKey)
      (1 to 4).foreach(_ => out.row("x"))
      out.flush(10)
      assertEquals(Seq(0, 1).map(p => batches(s"several-partition-$p").size - ofKey(p)), Seq(1, 1))
    }
  }

  test("rows that are discarded are never sent") {
    store("dropped")
    sending("dropped", isByKey = false) { out =>
      out.row("one")
      out.discard()
      out.flush(0)
      assertEquals((out.isWaiting, batches("dropped")), (false, Nil))
    }
  }
}
