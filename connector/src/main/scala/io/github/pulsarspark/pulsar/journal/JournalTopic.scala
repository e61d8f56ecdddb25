package io.github.pulsarspark.pulsar.journal

import java.util.concurrent.TimeUnit

import scala.annotation.tailrec
import scala.jdk.CollectionConverters._

import org.apache.pulsar.client.api.{CompressionType, PulsarClientException, Reader, Schema}
import org.apache.pulsar.client.impl.{MessageIdImpl, ProducerImpl, ProgressConsumer, PulsarClientImpl}

import io.github.pulsarspark.errors.{Conditions, FirstLine, PulsarError}
import io.github.pulsarspark.options.ClientOptions
import io.github.pulsarspark.position.Position
import io.github.pulsarspark.pulsar.connection.{ClusterCalls, RepeatedRequest}
import io.github.pulsarspark.pulsar.feed.PartitionFeed.{Bounds, Place}
import io.github.pulsarspark.pulsar.topics.TopicMissing

/** A topic of records that several JVMs append to, and that all of them read from one root on. It is not partitioned.
  * The root is the position of a durable subscription: brokers keep what is after it.
  */
private[pulsarspark] final class JournalTopic private[pulsar] (
    client: PulsarClientImpl,
    options: ClientOptions,
    val name: String
) {
  import JournalTopic._

  private val calls = new ClusterCalls(options, options.serviceUrl)

  /** Creates the topic and its subscription if they do not exist; returns where the records begin and end. */
  def bounds(): JournalBounds = named {
    val partitions = calls.ask(s"Looking up topic $name")(() => client.getPartitionsForTopic(name, true)).asScala
    if (!partitions.headOption.contains(name) || partitions.size != 1)
      throw Conditions.CheckpointStoreTopic(topic = name, cause = Partitioned).exception
    try withRoot(_._2)
    catch {
      case TopicMissing(_) =>
        writer().close() // creates the topic, which the subscription of a reader does not
        withRoot(_._2)
    }
  }

  /** Records up to this one are needed no more. The root never moves back. */
  def moveRoot(to: Position): Unit = named {
    withRoot { case (consumer, bounds) =>
      if (bounds.root < to)
        calls.await(s"Moving the root of $name")(consumer.acknowledge(new Place(to.ledgerId, to.entryId)))
    }
    ()
  }

  /** The records after a position. */
  def reader(after: Position): JournalReader =
    named(new JournalReader(name, open(after, isInclusive = false, QueuedRecords), calls))

  /** True if the topic still has the record at this position, and with it all after that. */
  def has(position: Position): Boolean = records(Seq(position)).isDefined

  /** The records at some positions, which are in order; None if one of them is not there. */
  def records(positions: Seq[Position]): Option[Seq[Array[Byte]]] = named {
    val reader = open(positions.head, isInclusive = true, math.min(positions.size, QueuedRecords))
    try
      positions.foldLeft(Option(Vector.empty[Array[Byte]])) { (found, position) =>
        found.flatMap(before => at(position, reader).map(before :+ _))
      }
    finally { reader.closeAsync(); () }
  }

  /** Asks first whether there is a record, because a reader at the end of the topic waits for the next one. The client
    * knows the answer for all records up to the end that it was told before.
    */
  @tailrec private def at(position: Position, reader: Reader[Array[Byte]]): Option[Array[Byte]] =
    if (!calls.askByConsumer(s"Looking for record $position of $name")(() => reader.hasMessageAvailableAsync)) None
    else {
      val message = calls.await(s"Reading record $position of $name")(reader.readNextAsync())
      val found   = JournalReader.position(message.getMessageId)
      if (found < position) at(position, reader) else Option.when(found == position)(message.getValue)
    }

  def writer(): JournalWriter = named {
    val opening = client
      .newProducer(Schema.BYTES)
      .topic(name)
      .enableBatching(false)
      .blockIfQueueFull(true)
      .compressionType(CompressionType.LZ4)
      .sendTimeout(options.operationTimeout.toMillis.toInt, TimeUnit.MILLISECONDS)
      .createAsync()
    val producer = calls.awaitOwned(s"Opening a producer of $name")(opening) { late => late.closeAsync(); () }
    producer match {
      case known: ProducerImpl[Array[Byte]] => new JournalWriter(name, known, calls)
      case other => throw Conditions.Internal(what = other.getClass.getName, where = "JournalTopic").exception
    }
  }

  private def open(start: Position, isInclusive: Boolean, queue: Int): Reader[Array[Byte]] = {
    val builder = client
      .newReader(Schema.BYTES)
      .topic(name)
      .startMessageId(new MessageIdImpl(start.ledgerId, start.entryId, -1))
      .receiverQueueSize(queue)
    if (isInclusive) builder.startMessageIdInclusive()
    calls.awaitOwned(s"Opening a reader of $name")(builder.createAsync()) { late => late.closeAsync(); () }
  }

  /** The consumer is exclusive and short-lived: another JVM waits its turn. */
  private def withRoot[A](use: ((ProgressConsumer, JournalBounds)) => A): A = {
    val opening = RepeatedRequest(options.operationTimeout, RepeatedRequest.Pause, isTaken)(() =>
      ProgressConsumer.open(client, name, -1, Subscription)
    )
    val what     = s"Subscribing to $name"
    val consumer = calls.awaitOwned(what)(opening) { late => late.closeAsync(); () }
    try use((consumer, toBounds(calls.await(what)(consumer.bounds()))))
    finally {
      calls.await(what)(consumer.closeAsync())
      ()
    }
  }

  private def named[A](request: => A): A =
    try request
    catch {
      case e: Throwable with PulsarError if !Conditions.RequestFailed.is(e) => throw e
      case e: RuntimeException                                              => throw failed(e)
      case e: PulsarClientException                                         => throw failed(e)
    }

  private def failed(e: Throwable) = Conditions.CheckpointStoreTopic(topic = name, cause = FirstLine(e)).causedBy(e)
}

private[pulsarspark] object JournalTopic {

  /** Durable subscription of each journal. */
  val Subscription: String = "pulsar-spark-checkpoint"

  /** Records may be as large as messages: few of them wait in memory. */
  private val QueuedRecords = 32

  private val Partitioned = "it is partitioned. Delete it, then let the namespace create topics without partitions, " +
    "or create it without partitions before"

  private def toBounds(found: Bounds) = JournalBounds(
    Position(found.markDeleteLedgerId, found.markDeleteEntryId),
    Option.when(found.lastEntryId >= 0)(Position(found.lastLedgerId, found.lastEntryId))
  )

  private def isTaken(failure: Throwable): Boolean =
    Iterator.iterate(failure)(_.getCause).takeWhile(_ != null).exists(
      _.isInstanceOf[PulsarClientException.ConsumerBusyException]
    )
}

/** Place of the records of a journal.
  *
  * @param root
  *   the position before the first record that is needed
  * @param last
  *   the last record, as far as the broker says it: it does not when the newest ledger is empty
  */
private[journal] final case class JournalBounds(root: Position, last: Option[Position])
