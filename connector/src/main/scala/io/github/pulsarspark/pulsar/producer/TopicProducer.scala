package io.github.pulsarspark.pulsar.producer

import java.util.concurrent.{CompletableFuture, TimeUnit, TimeoutException}
import java.util.concurrent.atomic.{AtomicLong, AtomicReference}
import java.util.concurrent.locks.LockSupport
import java.util.function.BiConsumer

import scala.concurrent.duration.FiniteDuration
import scala.util.control.NonFatal

import org.apache.pulsar.client.api.{HashingScheme, MessageId, MessageRoutingMode, Producer, PulsarClientException}
import org.slf4j.LoggerFactory

import io.github.pulsarspark.errors.{Conditions, PulsarError}
import io.github.pulsarspark.options.WriteOptions
import io.github.pulsarspark.pulsar.connection.{ClientLease, ClientSettings, ClusterCalls}
import io.github.pulsarspark.pulsar.schemas.EncodedSchema
import io.github.pulsarspark.schema.TopicSchema
import io.github.pulsarspark.schema.columns.{MetadataColumns, OutgoingMessage}

/** Sends messages to one topic. A full queue makes [[send]] wait; the first failure fails every later call. One thread
  * uses it.
  */
private[pulsarspark] final class TopicProducer private[pulsar] (
    topic: String,
    private val producer: Producer[Array[Byte]],
    router: Option[RowPartitionRouter],
    options: WriteOptions
) extends AutoCloseable {

  private val confirmed = new AtomicLong
  private val failure   = new AtomicReference[Throwable]
  private var sent      = 0L

  /** One object for all messages. */
  private val onAnswer: BiConsumer[MessageId, Throwable] =
    (_, error) => if (error == null) confirmed.incrementAndGet() else failure.compareAndSet(null, error)

  def acknowledged: Long = confirmed.get

  def send(message: OutgoingMessage): Unit = {
    throwFailure()
    val builder = producer.newMessage().value(message.value)
    if (message.key != null) {
      if (message.keyIsBytes) builder.keyBytes(message.key)
      else builder.key(new String(message.key, java.nio.charset.StandardCharsets.UTF_8))
    }
    if (message.eventTime > 0) builder.eventTime(message.eventTime)
    if (message.properties != null) builder.properties(message.properties)
    if (message.orderingKey != null) builder.orderingKey(message.orderingKey)
    if (message.sequenceId >= 0) builder.sequenceId(message.sequenceId)
    if (message.deliverAt > 0) builder.deliverAt(message.deliverAt)
    if (message.deliverAfter > 0) builder.deliverAfter(message.deliverAfter, TimeUnit.MILLISECONDS)
    if (message.replicationClusters != null) {
      if (message.replicationClusters.isEmpty) builder.disableReplication()
      else builder.replicationClusters(message.replicationClusters)
    }
    if (message.partition >= producer.getNumOfPartitions) throw noPartition(message.partition)
    router.foreach(_.next = message.partition)
    sent += 1
    builder.sendAsync().whenComplete(onAnswer)
  }

  private def noPartition(partition: Int) = Conditions.WriteValueNotAllowed(
    field = MetadataColumns.Partition.name,
    target = s"topic $topic",
    value = partition.toString,
    reason = if (producer.getNumOfPartitions > 0) s"the topic has partitions 0 to ${producer.getNumOfPartitions - 1}"
    else "the topic has no partitions"
  ).exception

  /** Waits until every message is acknowledged; fails with the first failure. */
  def flush(): Unit = {
    val deadline = System.nanoTime() + options.sendTimeout.toNanos + TopicProducer.GraceNanos
    producer.flushAsync()
    // Each message's own answer counts: the client completes a flush before it has reported all of them.
    if (!TopicProducer.waitFor(deadline)(failure.get != null || confirmed.get >= sent))
      failure.compareAndSet(null, new TimeoutException)
    throwFailure()
  }

  /** Gives up messages without acknowledgement. Never fails: [[flush]] reports losses. */
  override def close(): Unit = TopicProducer.close(Seq(this), options.client.operationTimeout)

  private def throwFailure(): Unit =
    if (failure.get != null) throw TopicProducer.explain(topic, failure.get, confirmed.get, options)
}

private[pulsarspark] object TopicProducer {
  private val log = LoggerFactory.getLogger(classOf[TopicProducer])

  /** The client ends a message's wait itself; this much later we do, should it fail to. */
  private val GraceNanos = TimeUnit.SECONDS.toNanos(5)
  private val PollNanos  = TimeUnit.MICROSECONDS.toNanos(200)

  /** Closes all at the same time, within the deadline. */
  def close(producers: Iterable[TopicProducer], deadline: FiniteDuration): Unit = {
    val closing = producers.map(_.producer.closeAsync()).toSeq
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
      columns: Set[String]
  ): TopicProducer = {
    val answers = new ClusterCalls(lease.options, lease.options.serviceUrl)
    val builder = lease.client.newProducer(EncodedSchema(schema))
    builder.loadConf(ClientSettings.typed("pulsar.producer.", options.producer))
    builder.topic(topic).sendTimeout(options.sendTimeout.toMillis.toInt, TimeUnit.MILLISECONDS).blockIfQueueFull(true)
    // All messages of a batch are replicated like its first one.
    if (columns(MetadataColumns.ReplicationClusters.name)) builder.enableBatching(false)
    val router = Option.when(columns(MetadataColumns.Partition.name)) {
      new RowPartitionRouter(
        options.producer.get("hashingScheme").fold(HashingScheme.JavaStringHash)(HashingScheme.valueOf)
      )
    }
    router.foreach(builder.messageRoutingMode(MessageRoutingMode.CustomPartition).messageRouter(_))
    val opening  = builder.createAsync().exceptionally(e => throw refused(topic, e, lease.options.serviceUrl))
    val producer = answers.awaitOwned(s"Opening a producer of $topic")(opening) { late => late.closeAsync(); () }
    new TopicProducer(topic, producer, router, options)
  }

  private def refused(topic: String, e: Throwable, url: String): Throwable = e match {
    case c: java.util.concurrent.CompletionException if c.getCause != null => refused(topic, c.getCause, url)
    case s: PulsarClientException.IncompatibleSchemaException              =>
      Conditions.WriteSchemaRefused(topic = topic, cause = firstLine(s)).causedBy(s)
    case _: PulsarClientException.TopicDoesNotExistException | _: PulsarClientException.NotFoundException =>
      Conditions.TopicNotFound(topic = topic, url = url).exception
    case other => other
  }

  private def explain(topic: String, e: Throwable, acknowledged: Long, options: WriteOptions): Throwable = e match {
    case c: java.util.concurrent.CompletionException if c.getCause != null =>
      explain(topic, c.getCause, acknowledged, options)
    case p: PulsarError                                   => p.asInstanceOf[Throwable]
    case i: PulsarClientException.InvalidMessageException =>
      Conditions.MessageTooLarge(topic = topic, cause = firstLine(i)).causedBy(i)
    case t @ (_: PulsarClientException.TimeoutException | _: TimeoutException) =>
      Conditions.WriteTimeout(topic = topic, waited = options.sendTimeout.toMillis.toString,
        acknowledged = acknowledged.toString).causedBy(t)
    case other => Conditions.WriteFailed(topic = topic, cause = firstLine(other),
        acknowledged = acknowledged.toString).causedBy(other)
  }

  private def firstLine(e: Throwable): String =
    Option(
      e.getMessage
    ).flatMap(_.linesIterator.nextOption()).map(_.stripSuffix(".")).filter(_.nonEmpty).getOrElse(
      e.getClass.getSimpleName
    )
}
