package io.github.pulsarspark.pulsar.producer

import java.util.concurrent.{ThreadLocalRandom, TimeUnit}

import scala.annotation.tailrec
import scala.jdk.CollectionConverters._

import org.apache.pulsar.client.api.{MessageRoutingMode, Producer}
import org.apache.pulsar.client.impl.{PartitionedProducerImpl, ProducerImpl}

import io.github.pulsarspark.pulsar.transactions.TaskTransaction
import io.github.pulsarspark.schema.columns.OutgoingMessage

/** Hands whole batches to the client: rows go straight into the buffers that are sent. A batch is sent when it is full,
  * when its first row waited for the publish delay and another row arrives or [[sendDue]] is called, and at a flush.
  *
  * @param isByKey
  *   a batch has rows of one key
  * @param nanos
  *   the clock, as `System.nanoTime`
  */
private[producer] final class BatchOutbox(
    producer: Producer[Array[Byte]],
    acknowledgements: Acknowledgements,
    transaction: Option[TaskTransaction],
    isByKey: Boolean,
    nanos: () => Long = () => System.nanoTime()
) extends WaitingOutbox {
  import BatchOutbox._

  private val conf    = partitionsOf(producer).head.getConfiguration
  private val chooser = new PartitionChooser(
    conf.getHashingScheme,
    ThreadLocalRandom.current.nextInt(Start),
    conf.getMessageRoutingMode == MessageRoutingMode.SinglePartition
  )
  private val metadata = new BatchedMetadata
  private val delay    = TimeUnit.MICROSECONDS.toNanos(conf.getBatchingMaxPublishDelayMicros)

  private var batches  = Array.empty[PartitionBatch]
  private var waiting  = false
  private var earliest = 0L // when waiting

  override def send(message: OutgoingMessage): Unit = {
    val partitions = Math.max(1, producer.getNumOfPartitions)
    if (partitions > batches.length) grow()
    val now = nanos()
    if (waiting && now - earliest >= 0) sendDue(now)
    add(message, MessageKey.of(message), partitions, now)
  }

  @tailrec
  private def add(message: OutgoingMessage, key: Array[Byte], partitions: Int, now: Long): Unit = {
    val batch = batches(chooser.choose(message.partition, key, partitions))
    metadata.set(message, key, batch.nextSequenceId)
    if (!batch.fits(metadata, message.payload)) {
      batch.send()
      endTurn(message, key)
      add(message, key, partitions, now)
    } else {
      batch.add(metadata, message.payload, now)
      if (batch.isEmpty) endTurn(message, key)
      else if (!waiting) {
        waiting = true
        earliest = now + delay
      }
    }
  }

  /** A batch of rows that no key binds was sent. */
  private def endTurn(message: OutgoingMessage, key: Array[Byte]): Unit =
    if (key == null && message.partition < 0) chooser.advance()

  override def isWaiting: Boolean = waiting

  override def dueAt: Long = earliest

  override def sendDue(): Unit = sendDue(nanos())

  private def sendDue(now: Long): Unit = {
    waiting = false
    var i = 0
    while (i < batches.length) {
      val batch = batches(i)
      if (!batch.isEmpty) {
        val due = batch.openedAt + delay
        if (now - due >= 0) batch.send()
        else if (!waiting || due - earliest < 0) {
          waiting = true
          earliest = due
        }
      }
      i += 1
    }
    chooser.advance()
  }

  private def grow(): Unit =
    batches ++= partitionsOf(producer).drop(batches.length).map(
      new PartitionBatch(_, acknowledgements, transaction, registerAhead, isByKey)
    )

  override def flush(): Unit = {
    register(Nil)
    waiting = false
    batches.foreach(_.send())
  }

  /** Registers a partition with the transaction before its first batch is sent. From the second request on, it also
    * registers the partitions that get the next rows, to save requests.
    */
  private def registerAhead(batch: PartitionBatch): Unit =
    for (t <- transaction if !t.isRegistered(batch.topicPartition)) {
      val isFirst = !batches.exists(b => t.isRegistered(b.topicPartition))
      register(batch +: (if (isFirst) Nil else chooser.upcoming(RegisterAhead, batches.length).map(batches(_))))
    }

  /** Registers these and all partitions with rows by one request. */
  private def register(also: Seq[PartitionBatch]): Unit =
    transaction.foreach(_.register((also ++ batches.filterNot(_.isEmpty)).map(_.topicPartition)))

  override def discard(): Unit = {
    waiting = false
    batches.foreach(_.discard())
  }
}

private[producer] object BatchOutbox {
  private val Start = 1 << 16

  /** Partitions that one request registers ahead. One that gets no rows costs a marker, a request some milliseconds. */
  private val RegisterAhead = 4

  def partitionsOf(producer: Producer[Array[Byte]]): Seq[ProducerImpl[Array[Byte]]] = producer match {
    case several: PartitionedProducerImpl[Array[Byte]] => several.getProducers.asScala.toSeq
    case one: ProducerImpl[Array[Byte]]                => Seq(one)
    case other => throw new IllegalArgumentException(s"${other.getClass.getName} has no partitions")
  }
}
