package io.github.pulsarspark.pulsar.producer

import java.util.concurrent.{CompletableFuture, CompletionException, TimeUnit, TimeoutException}
import java.util.concurrent.atomic.{AtomicBoolean, LongAdder}
import java.util.concurrent.locks.LockSupport

import scala.annotation.tailrec
import scala.concurrent.duration._
import scala.util.control.NonFatal

import org.apache.pulsar.client.api.{MessageId, PulsarClientException}
import org.slf4j.LoggerFactory

import io.github.pulsarspark.common.ExclusiveCache
import io.github.pulsarspark.errors.{Conditions, FirstLine, PulsarError}
import io.github.pulsarspark.options.WriteOptions
import io.github.pulsarspark.pulsar.connection.ClientLease
import io.github.pulsarspark.pulsar.topics.TopicNames
import io.github.pulsarspark.pulsar.transactions.TaskTransaction
import io.github.pulsarspark.schema.TopicSchema
import io.github.pulsarspark.schema.columns.{MetadataColumns, OutgoingMessage}

/** Sends messages to one topic. A full queue makes [[send]] wait; the first failure fails every later call. One thread
  * uses it.
  *
  * @param keep
  *   takes the producer over when every message is acknowledged; without it the producer is closed
  * @param transaction
  *   in which all messages are sent
  */
private[pulsarspark] final class TopicProducer private[producer] (
    topic: String,
    open: OpenProducer,
    options: WriteOptions,
    keep: Option[OpenProducer => Unit] = None,
    transaction: Option[TaskTransaction] = None
) extends AutoCloseable {

  private val producer         = open.producer
  private val acknowledgements = new Acknowledgements(notStored)
  private val outbox           = open.outbox(acknowledgements, transaction)
  private val ended            = new AtomicBoolean
  private var sent             = 0L
  private var bytes            = 0L

  /** A broker that deduplicates drops messages that it has and that are sent again after a lost connection. It drops
    * rows whose ids an earlier run of the producer's name wrote. Anything else that it drops is lost.
    */
  private def notStored(id: MessageId, sequenceId: Long): Option[Throwable] =
    if (!TaskTransaction.isDropped(id)) None
    else if (transaction.isEmpty && (isRepeating || sequenceId <= lastBefore)) {
      if (!isRepeating) dropped.increment()
      None
    } else Some {
      if (transaction.isEmpty) Conditions.WriteRowDropped(topic = topic, last = lastBefore.toString).exception
      else if (isRepeating) Conditions.WriteConnectionLost(topic = topic).exception
      else Conditions.WriteDuplicateDropped(topic = topic).exception
    }

  private val dropped = new LongAdder // rows that an earlier run of the producer's name wrote

  private def lostConnections = TaskTransaction.lostConnections(open.partitions())

  // As they are before the first message.
  private lazy val lostBefore = lostConnections
  private lazy val lastBefore =
    if (options.producer.contains("initialSequenceId")) Long.MaxValue // the client reports that, not the broker
    else open.partitions().map(_.getLastSequenceId).maxOption.getOrElse(-1L)

  private def isRepeating = TaskTransaction.mayRepeat(lostBefore, lostConnections)

  /** Number of messages that brokers have stored. */
  def acknowledged: Long = acknowledgements.count

  /** Bytes of the values that were sent. */
  def sentBytes: Long = bytes

  def send(message: OutgoingMessage): Unit = {
    throwFailure()
    if (message.partition >= producer.getNumOfPartitions) throw noPartition(message.partition)
    if (sent == 0) { val _ = (lostBefore, lastBefore) }
    sent += 1
    bytes += message.payload.length
    outbox.send(message)
  }

  private def noPartition(partition: Int) = Conditions.WriteValueNotAllowed(
    field = MetadataColumns.Partition.name,
    target = s"topic $topic",
    value = partition.toString,
    reason = if (producer.getNumOfPartitions > 0) s"the topic has partitions 0 to ${producer.getNumOfPartitions - 1}"
    else "the topic has no partitions"
  ).exception

  /** Hands buffered messages over, so that their responses arrive while other producers are flushed. */
  def handOver(): Unit = outbox.flush()

  /** Waits until every message is acknowledged; fails with the first failure. */
  def flush(): Unit = {
    outbox.flush()
    val deadline = System.nanoTime() + options.sendTimeout.toNanos + TopicProducer.GraceNanos
    // Each message's own response counts: the client completes a flush before it has reported all of them.
    if (!TopicProducer.waitFor(deadline)(acknowledgements.failure != null || acknowledged >= sent))
      acknowledgements.fail(new TimeoutException)
    throwFailure()
    val had = dropped.sumThenReset()
    if (had > 0) TopicProducer.log.warn("topic {}: brokers dropped {} of {} rows, whose ids they had", topic, had, sent)
    if (transaction.isDefined && isRepeating) throw Conditions.WriteConnectionLost(topic = topic).exception
  }

  /** Closes the producer and drops messages without acknowledgement. Never fails: [[flush]] reports losses. */
  override def close(): Unit = TopicProducer.close(Seq(this), options.client.operationTimeout)

  /** Ends the use of the producer, which another task may have next. */
  private def end(): CompletableFuture[_] =
    if (ended.getAndSet(true)) CompletableFuture.completedFuture(())
    else if (keep.isDefined && acknowledgements.failure == null && acknowledged == sent)
      CompletableFuture.completedFuture(keep.get(open))
    else {
      outbox.discard()
      open.closeAsync()
    }

  private def throwFailure(): Unit = if (acknowledgements.failure != null) throw explain(acknowledgements.failure)

  @tailrec
  private def explain(failure: Throwable): Throwable = failure match {
    case c: CompletionException if c.getCause != null     => explain(c.getCause)
    case p: Throwable with PulsarError                    => p
    case i: PulsarClientException.InvalidMessageException =>
      Conditions.MessageTooLarge(topic = topic, cause = FirstLine(i)).causedBy(i)
    case t @ (_: PulsarClientException.TimeoutException | _: TimeoutException) =>
      open.whyRefused(acknowledged).getOrElse(Conditions.WriteTimeout(topic = topic,
        waited = options.sendTimeout.toMillis.toString, acknowledged = acknowledged.toString).causedBy(t))
    case other =>
      RefusedProducer.named(topic, other, options.client.serviceUrl, acknowledged) match {
        case named: Throwable with PulsarError => named
        case _                                 => Conditions.WriteFailed(topic = topic, cause = FirstLine(other),
            acknowledged = acknowledged.toString).causedBy(other)
      }
  }
}

private[pulsarspark] object TopicProducer {
  private val log = LoggerFactory.getLogger(classOf[TopicProducer])

  /** The client ends a message's wait itself; this much later we do, should it fail to. */
  private val GraceNanos = TimeUnit.SECONDS.toNanos(5)
  private val PollNanos  = TimeUnit.MICROSECONDS.toNanos(200)

  /** Closes all at the same time, within the deadline. */
  def close(producers: Iterable[TopicProducer], deadline: FiniteDuration): Unit = {
    val closing = producers.map(_.end()).toSeq
    try CompletableFuture.allOf(closing: _*).get(deadline.toMillis, TimeUnit.MILLISECONDS)
    catch {
      case _: InterruptedException =>
        Thread.currentThread.interrupt() // a task that is killed; the requests are on their way
      case NonFatal(e) => log.warn("closing producers: {}", e.toString)
    }
    ()
  }

  /** Looks until `isDone`; false when the deadline came first. A task that is killed is interrupted, which ends the
    * wait.
    */
  private[pulsar] def waitFor(deadline: Long)(isDone: => Boolean): Boolean = {
    var done = isDone
    while (!done && System.nanoTime() <= deadline) {
      LockSupport.parkNanos(PollNanos)
      if (Thread.interrupted()) throw new InterruptedException("interrupted while waiting for acknowledgements")
      done = isDone
    }
    done
  }

  /** Opens a producer with the schema, which the broker registers or compares.
    *
    * @param columns
    *   metadata columns of the rows to send
    */
  private[pulsar] def open(
      lease: ClientLease,
      topic: String,
      schema: TopicSchema,
      options: WriteOptions,
      columns: Set[String],
      transaction: Option[TaskTransaction] = None
  ): TopicProducer = {
    val open = OpenProducer(lease, topic, schema, options, columns)
    new TopicProducer(topic, open, options, transaction = transaction)
  }

  /** Like `open`, but reuses a producer that an earlier task left, if there is one, and leaves it to the next task. */
  private[pulsar] def openKept(
      lease: ClientLease,
      topic: String,
      schema: TopicSchema,
      options: WriteOptions,
      columns: Set[String],
      transaction: Option[TaskTransaction] = None
  ): TopicProducer =
    if (columns.exists(ColumnsOfOneTask) || options.producer.keys.exists(SettingsOfOneTask))
      open(lease, topic, schema, options, columns, transaction)
    else {
      val key  = (topic, schema, options, columns)
      val open = kept.take(key).getOrElse {
        val own = lease.another()
        try OpenProducer(own, topic, schema, options, columns, () => own.close())
        catch { case e: Throwable => own.close(); throw e }
      }
      new TopicProducer(topic, open, options, Some(kept.put(key, _)), transaction)
    }

  private val kept = new ExclusiveCache[(String, TopicSchema, WriteOptions, Set[String]), OpenProducer](
    lasts = 20.seconds,
    most = 256,
    isUsable = _.isConnected,
    close = open => { open.closeAsync(); () }
  )

  /** Closes the producers of a topic that tasks of this JVM left to others, within the deadline. */
  private[pulsar] def closeKept(topic: String, deadline: FiniteDuration): Unit = {
    val name    = TopicNames.whole(topic)
    val closing = kept.takeAll(key => TopicNames.whole(key._1) == name).map(_.closeAsync())
    try CompletableFuture.allOf(closing: _*).get(deadline.toMillis, TimeUnit.MILLISECONDS): Unit
    catch { case NonFatal(e) => log.warn("closing producers of {}: {}", name: Any, e.toString: Any) }
  }

  /** The first needs the current number of partitions, the second numbers of each task's own where the broker
    * deduplicates.
    */
  private val ColumnsOfOneTask = Set(MetadataColumns.Partition.name, MetadataColumns.SequenceId.name)

  /** A producer with these keeps others away, or never learns of a partition that is added. */
  private val SettingsOfOneTask = Set("producerName", "accessMode", "initialSequenceId", "autoUpdatePartitions")
}
