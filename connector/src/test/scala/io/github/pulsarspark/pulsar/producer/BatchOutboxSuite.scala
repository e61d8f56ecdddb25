package io.github.pulsarspark.pulsar.producer

import java.nio.charset.StandardCharsets.UTF_8
import java.util.concurrent.TimeUnit

import scala.concurrent.duration._

import io.netty.buffer.Unpooled
import org.apache.pulsar.common.api.proto.SingleMessageMetadata
import org.apache.pulsar.common.protocol.Commands

import io.github.pulsarspark.cluster.WriteSuite
import io.github.pulsarspark.pulsar.connection.ClientPool
import io.github.pulsarspark.pulsar.transactions.{TaskTransaction, TransactionCoordinator}
import io.github.pulsarspark.schema.TopicSchema
import io.github.pulsarspark.schema.columns.OutgoingMessage
import io.github.pulsarspark.storage.KilledTasks.eventually

/** Rows of a task in batches: each is a [[PartitionBatch]] until it is sent. */
class BatchOutboxSuite extends WriteSuite {

  /** The outbox of a topic, by a clock that stands still. */
  private final class Sending(
      open: OpenProducer,
      outbox: BatchOutbox,
      acknowledgements: Acknowledgements,
      clock: Array[Long]
  ) {
    private val message = new OutgoingMessage // one for all rows

    def pass(millis: Long): Unit = clock(0) += TimeUnit.MILLISECONDS.toNanos(millis)

    def row(value: String, key: Option[String] = None, partition: Int = -1): Unit = {
      message.value = value.getBytes(UTF_8)
      message.key = key.map(_.getBytes(UTF_8)).orNull
      message.partition = partition
      outbox.send(message)
    }

    def isWaiting: Boolean = outbox.isWaiting
    def sendDue(): Unit    = outbox.sendDue()
    def dueIn: Long        = TimeUnit.NANOSECONDS.toMillis(outbox.dueAt - clock(0))
    def discard(): Unit    = outbox.discard()
    def partitions: Int    = open.producer.getNumOfPartitions

    /** Sends all that waits, until so many rows are acknowledged. */
    def flush(rows: Int): Unit = {
      outbox.flush()
      acknowledged(rows)
    }

    def acknowledged(rows: Int): Unit =
      eventually(s"${acknowledgements.count} of $rows")(acknowledgements.count == rows.toLong)
  }

  private def sending[A](name: String, isByKey: Boolean, settings: (String, String)*)(test: Sending => A): A =
    sendingIn(None, name, isByKey, settings: _*)(test)

  private def sendingIn[A](
      transaction: Option[TaskTransaction],
      name: String,
      isByKey: Boolean,
      settings: (String, String)*
  )(test: Sending => A): A = {
    val write = options(("topic" -> name) +: settings: _*)
    val lease = ClientPool.acquire(write.client)
    try {
      val open             = OpenProducer(lease, topic(name), TopicSchema.Bytes, write, Set.empty)
      val acknowledgements = new Acknowledgements
      val clock            = Array(0L)
      val outbox           = new BatchOutbox(open.producer, acknowledgements, transaction, isByKey, () => clock(0))
      try test(new Sending(open, outbox, acknowledgements, clock))
      finally open.closeAsync().get(60, TimeUnit.SECONDS)
    } finally lease.close()
  }

  /** Numbers of messages in the entries of a topic partition. */
  private def batches(name: String): Seq[Int] = cluster.topic(topic(name)).entries.map(_.messages)

  /** Texts of the messages in the entries of a topic partition. */
  private def rows(name: String): Seq[Seq[String]] = cluster.topic(topic(name)).entries.map { entry =>
    val bytes    = Unpooled.wrappedBuffer(entry.bytes)
    val metadata = Commands.parseMessageMetadata(bytes)
    val count    = metadata.getNumMessagesInBatch
    (0 until count).map { n =>
      val message =
        if (!metadata.hasNumMessagesInBatch) bytes
        else Commands.deSerializeSingleMessageInBatch(bytes, new SingleMessageMetadata, n, count)
      message.toString(UTF_8)
    }
  }

  test("rows wait until they are flushed, in one batch") {
    store("flushed")
    sending("flushed", isByKey = false) { out =>
      (1 to 3).foreach(n => out.row(s"row $n"))
      assertEquals((out.isWaiting, batches("flushed")), (true, Nil))
      out.flush(3)
      assertEquals((out.isWaiting, rows("flushed")), (false, Seq((1 to 3).map(n => s"row $n"))))
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
      out.row("x" * 1200)
      out.acknowledged(4)
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

  test("each of several batches is sent when its own first row waited for the publish delay, the earliest first") {
    (0 to 2).foreach(n => store(s"apart-partition-$n"))
    def found = (0 to 2).map(p => batches(s"apart-partition-$p").size)
    sending("apart", isByKey = false, "pulsar.producer.batchingMaxPublishDelayMicros" -> "5000") { out =>
      out.row("x", partition = 2)
      out.pass(1)
      out.row("x", partition = 1)
      out.pass(2)
      out.row("x", partition = 0)
      assertEquals(out.dueIn, 2L)
      for (((pause, sent), left) <- Seq(2 -> Seq(0, 0, 1), 1 -> Seq(0, 1, 1)).zip(Seq(1L, 2L))) {
        out.pass(pause.toLong)
        out.sendDue()
        out.acknowledged(sent.sum)
        assertEquals((found, out.isWaiting, out.dueIn), (sent, true, left))
      }
      out.pass(2)
      out.sendDue()
      out.acknowledged(3)
      assertEquals((found, out.isWaiting), (Seq(1, 1, 1), false))
    }
  }

  test("a batch by key has rows of one key") {
    store("keys")
    sending("keys", isByKey = true) { out =>
      Seq("a", "b", "a").foreach(key => out.row(key, Some(key)))
      out.flush(3)
      assertEquals(rows("keys").sortBy(_.head), Seq(Seq("a", "a"), Seq("b")))
    }
  }

  test("rows go to the partition they name; others of a key to one, and those without a key batch by batch") {
    Seq("several-partition-0", "several-partition-1").foreach(store)
    sending("several", isByKey = false, "pulsar.producer.batchingMaxMessages" -> "2") { out =>
      Seq(1, 1).foreach(p => out.row("x", partition = p))
      out.acknowledged(2)
      assertEquals(Seq(0, 1).map(p => batches(s"several-partition-$p")), Seq(Nil, Seq(2)))
      for (key <- Seq("j", "k"); _ <- 1 to 2) out.row("x", Some(key)) // whose hashes are even and odd
      out.acknowledged(6)
      val ofKey = Seq(0, 1).map(p => batches(s"several-partition-$p").size)
      assertEquals(ofKey, Seq(1, 2))
      (1 to 4).foreach(_ => out.row("x"))
      out.flush(10)
      assertEquals(Seq(0, 1).map(p => batches(s"several-partition-$p").size - ofKey(p)), Seq(1, 1))
    }
  }

  test("rows without a key take turns when their own batch was sent, not when that of others was") {
    Seq("turns-partition-0", "turns-partition-1").foreach(store)
    def found = Seq(0, 1).map(p => batches(s"turns-partition-$p").size)
    sending("turns", isByKey = false, "pulsar.producer.batchingMaxMessages" -> "2") { out =>
      out.row("x")
      out.flush(1)
      val turn = found.indexOf(1)
      out.row("x")
      (1 to 2).foreach(_ => out.row("x", partition = 1 - turn))
      out.row("x")
      out.acknowledged(5)
      assertEquals(found, Seq(0, 1).map(p => if (p == turn) 2 else 1))
    }
  }

  test("rows without a key take turns when their batch was due") {
    Seq("due-partition-0", "due-partition-1").foreach(store)
    sending("due", isByKey = false, "pulsar.producer.batchingMaxPublishDelayMicros" -> "5000") { out =>
      (1 to 2).foreach { n =>
        out.row("x")
        out.pass(5)
        out.sendDue()
        out.acknowledged(n)
      }
      assertEquals(Seq(0, 1).map(p => batches(s"due-partition-$p")), Seq(Seq(1), Seq(1)))
    }
  }

  test("a partition that a topic gets is written to, when the client has found it") {
    store("grown-partition-0")
    sending("grown", isByKey = false, "pulsar.producer.autoUpdatePartitionsIntervalSeconds" -> "1") { out =>
      out.row("x", partition = 0)
      out.flush(1)
      store("grown-partition-1")
      eventually("the client does not find it")(out.partitions == 2)
      out.row("x", partition = 1)
      out.flush(2)
      assertEquals(Seq(0, 1).map(p => batches(s"grown-partition-$p")), Seq(Seq(1), Seq(1)))
    }
  }

  test("rows that are discarded are never sent") {
    store("dropped")
    sending("dropped", isByKey = false) { out =>
      out.row("one")
      out.discard()
      assert(!out.isWaiting)
      out.row("two")
      out.flush(1)
      assertEquals(rows("dropped"), Seq(Seq("two")))
    }
  }

  /** Requests with which rows of a transaction reach four partitions: those that register, and those that send. */
  private def inTransaction(name: String, settings: (String, String)*)(test: Sending => Any): Seq[String] = {
    (0 to 3).foreach(n => store(s"$name-partition-$n"))
    val coordinator = TransactionCoordinator.acquire(client())
    try {
      val transaction = new TaskTransaction(coordinator, coordinator.begin(1.minute), () => ())
      sendingIn(Some(transaction), name, isByKey = false, settings: _*) { out => requests(); test(out); requests() }
    } finally coordinator.close()
  }

  test("in a transaction: a partition is registered before it is sent to, and the next ones with the second request") {
    val found = inTransaction("ahead", "pulsar.producer.batchingMaxMessages" -> "1") { out =>
      (1 to 8).foreach(_ => out.row("x"))
      out.flush(8)
    }
    val registered = found.filter(_.startsWith("register ")).map(_.stripPrefix("register ").split(", ").toSeq)
    assertEquals(registered.map(_.size), Seq(1, 3))
    for (p <- registered.flatten) {
      val registers = found.indexWhere(r => r.startsWith("register ") && r.contains(p))
      assert(registers < found.indexOf(s"send $p in transaction"), found)
    }
    assertEquals(found.count(_.endsWith(" in transaction")), 8)
  }

  test("in a transaction: all partitions with rows are registered by one request of a flush") {
    val found = inTransaction("at-once") { out =>
      (0 to 3).foreach(p => out.row("x", partition = p))
      out.flush(4)
    }
    assertEquals(found.head, s"register ${(0 to 3).map(p => s"at-once-partition-$p").mkString(", ")}")
    assertEquals(found.tail.sorted, (0 to 3).map(p => s"send at-once-partition-$p in transaction"))
  }
}
