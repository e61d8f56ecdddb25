package io.github.pulsarspark.pulsar.producer

import java.nio.charset.StandardCharsets.UTF_8
import java.util.{Base64, List => JList, Map => JMap}
import java.util.concurrent.{ConcurrentLinkedQueue, TimeUnit}

import scala.concurrent.duration._
import scala.jdk.CollectionConverters._

import io.netty.buffer.Unpooled
import org.apache.pulsar.common.api.proto.MessageMetadata
import org.apache.pulsar.common.protocol.Commands

import io.github.pulsarspark.cluster.WriteSuite
import io.github.pulsarspark.errors.PulsarException
import io.github.pulsarspark.pulsar.connection.ClientPool
import io.github.pulsarspark.pulsar.transactions.{TaskTransaction, TransactionCoordinator}
import io.github.pulsarspark.schema.TopicSchema
import io.github.pulsarspark.schema.columns.OutgoingMessage
import io.github.pulsarspark.storage.KilledTasks.eventually

/** Rows that [[MessageOutbox]] hands to the real client, as a scripted broker gets them. */
class MessageOutboxSuite extends WriteSuite {

  private type Row = OutgoingMessage => Unit

  private val single = Seq("pulsar.producer.batchingEnabled" -> "false")
  private val plain  = (_: OutgoingMessage) => ()
  private val names  = Iterator.from(1)

  private def id(n: Long): Row          = _.sequenceId = n
  private def partition(n: Int): Row    = _.partition = n
  private def textKey(key: String): Row = _.key = key.getBytes(UTF_8)

  /** Sends rows to a topic and waits until the broker has them; returns the highest sequence id that each had to wait
    * for.
    */
  private def send(
      name: String,
      columns: Set[String] = Set.empty,
      settings: Seq[(String, String)] = single,
      transaction: Option[TaskTransaction] = None
  )(rows: Row*): Seq[Long] = {
    val write    = options(("topic" -> name) +: settings: _*)
    val expected = new ConcurrentLinkedQueue[Long]
    val lease    = ClientPool.acquire(write.client)
    try {
      val open    = OpenProducer(lease, topic(name), TopicSchema.Bytes, write, columns)
      val answers = new Acknowledgements((_, highest) => { expected.add(highest); None })
      try {
        val outbox = open.outbox(answers, transaction)
        assert(outbox.isInstanceOf[MessageOutbox], outbox)
        rows.foreach { row =>
          val message = new OutgoingMessage
          message.value = Array[Byte](1)
          row(message)
          outbox.send(message)
        }
        outbox.flush()
        eventually(s"${answers.count} of ${rows.size}: ${answers.failure}")(answers.count == rows.size.toLong)
      } finally open.closeAsync().get(180, TimeUnit.SECONDS)
    } finally lease.close()
    expected.asScala.toSeq
  }

  private def stored(name: String): Seq[MessageMetadata] = cluster.topic(topic(name)).entries.map { entry =>
    val parsed = Commands.parseMessageMetadata(Unpooled.wrappedBuffer(entry.bytes)) // one for all of a thread
    new MessageMetadata().copyFrom(parsed)
  }

  /** The metadata of one row that was sent. */
  private def sent(row: Row, settings: (String, String)*): MessageMetadata = {
    val name = s"row-${names.next()}"
    store(name)
    send(name, settings = single ++ settings)(row): Unit
    stored(name) match {
      case Seq(one) => one
      case others   => fail(s"${others.size} entries")
    }
  }

  test("a row has in its message what its columns say, and nothing else") {
    val nothing = sent(plain)
    assertEquals(
      (nothing.hasPartitionKey, nothing.hasEventTime, nothing.getPropertiesCount, nothing.hasOrderingKey,
        nothing.hasDeliverAtTime, nothing.getReplicateTosCount, nothing.isNullValue),
      (false, false, 0, false, false, 0, false)
    )
    assertEquals(sent(_.eventTime = 1).getEventTime, 1L)
    assertEquals(sent(_.orderingKey = Array[Byte](1, 2)).getOrderingKey.toSeq, Seq[Byte](1, 2))
    assertEquals(
      sent(_.properties = JMap.of("a", "b")).getPropertiesList.asScala.map(p => p.getKey -> p.getValue).toSeq,
      Seq("a" -> "b")
    )
    assert(sent(_.value = null).isNullValue)
  }

  test("a key is a text, or bytes") {
    val text = sent(textKey("kä"))
    assertEquals((text.getPartitionKey, text.isPartitionKeyB64Encoded), ("kä", false))
    val bytes = sent { row => row.key = Array[Byte](-1, 2); row.keyIsBytes = true }
    assertEquals((Base64.getDecoder.decode(bytes.getPartitionKey).toSeq, bytes.isPartitionKeyB64Encoded),
      (Seq[Byte](-1, 2), true))
  }

  test("a row is delivered at a time, or some milliseconds after it is sent") {
    assertEquals(sent(_.deliverAt = 1).getDeliverAtTime, 1L)
    val before = System.currentTimeMillis()
    val later  = sent(_.deliverAfter = 100000000L).getDeliverAtTime - 100000000L
    assert(before <= later && later <= System.currentTimeMillis(), s"$before $later")
  }

  test("a row is replicated to the clusters that it names; to none if it names none") {
    def clusters(named: JList[String]) = sent(_.replicationClusters = named).getReplicateTosList.asScala.toSeq
    assertEquals(clusters(JList.of("a", "b")), Seq("a", "b"))
    assertEquals(clusters(JList.of()), Seq("__local__"))
  }

  test("the first sequence id of a row is 0, which the client's own do not replace") {
    val from41 = "pulsar.producer.initialSequenceId" -> "41"
    assertEquals(sent(plain, from41).getSequenceId, 42L)
    assertEquals(sent(id(0), from41).getSequenceId, 0L)
    store("ids")
    assertEquals(send("ids")(id(0), id(1), id(7)), Seq(0L, 1L, 7L))
    assertEquals(stored("ids").map(_.getSequenceId), Seq(0L, 1L, 7L))
    assertEquals(send("ids")(plain), Seq(Long.MaxValue), "an id that the client gives is new")
  }

  test("rows with and without an id are refused, with what comes after what") {
    store("mixed")
    for ((ids, value) <- Seq(Seq(0L, 1L, -1L) -> "null after a number", Seq(-1L, -1L, 0L) -> "a number after null")) {
      val refused = intercept[PulsarException](send("mixed")(ids.map(id): _*))
      assertEquals((refused.condition, refused.parameters("value")), ("PULSAR_WRITE_VALUE_NOT_ALLOWED", value))
    }
  }

  test("a row that the client keeps for a batch is sent by a flush") {
    store("kept")
    send("kept", Set("__sequenceId"), Seq("pulsar.producer.batchingMaxPublishDelayMicros" -> "3600000000"))(id(0)): Unit
    assertEquals(stored("kept").size, 1)
  }

  test("a row waits where the client's queue is full of rows that are not acknowledged") {
    store("full")
    cluster.writes.slow = Set(topic("full"))
    try send("full", settings = single :+ ("pulsar.producer.maxPendingMessages" -> "1"))(Seq.fill(3)(plain): _*): Unit
    finally cluster.writes.slow = Set.empty
    assertEquals(stored("full").size, 3)
  }

  test("a row goes to the partition that it names, the next one by its key") {
    Seq(0, 1).foreach(n => store(s"named-partition-$n"))
    val byKey = Seq("j", "k").map(textKey) // whose hashes are even and odd
    send("named", Set("__partition"))(Seq(partition(1), byKey(0), partition(0), byKey(1), byKey(0)): _*): Unit
    assertEquals(
      Seq(0, 1).map(n => stored(s"named-partition-$n").map(m => if (m.hasPartitionKey) m.getPartitionKey else "")),
      Seq(Seq("j", "", "j"), Seq("", "k"))
    )
  }

  private def inTransaction(name: String, columns: String*)(rows: Row*): Seq[String] = {
    val coordinator = TransactionCoordinator.acquire(client())
    try {
      val transaction = new TaskTransaction(coordinator, coordinator.begin(1.minute), () => ())
      requests()
      send(name, columns.toSet, transaction = Some(transaction))(rows: _*): Unit
      requests().filter(r => r.startsWith("register") || r.startsWith("send"))
    } finally coordinator.close()
  }

  test("in a transaction: a topic partition is registered once, before the first row is sent there") {
    store("whole")
    assertEquals(inTransaction("whole")(plain, plain),
      Seq("register whole", "send whole in transaction", "send whole in transaction"))
    Seq(0, 1).foreach(n => store(s"parts-partition-$n"))
    val found      = inTransaction("parts", "__partition")(Seq(1, 1, 0).map(partition): _*)
    def of(n: Int) = found.filter(_.contains(s"parts-partition-$n"))
    assertEquals(of(1), "register parts-partition-1" +: Seq.fill(2)("send parts-partition-1 in transaction"))
    assertEquals(of(0), Seq("register parts-partition-0", "send parts-partition-0 in transaction"))
  }
}
