package io.github.pulsarspark.pulsar.producer

import java.nio.charset.StandardCharsets.UTF_8
import java.util.concurrent.TimeUnit

import scala.collection.mutable

import org.apache.pulsar.client.api.Producer

import io.github.pulsarspark.errors.Conditions
import io.github.pulsarspark.pulsar.topics.TopicNames
import io.github.pulsarspark.pulsar.transactions.TaskTransaction
import io.github.pulsarspark.schema.columns.{MetadataColumns, OutgoingMessage}

/** Hands each message to the client by itself, for settings under which the client handles messages one by one.
  *
  * @param router
  *   for rows that name their partition
  */
private[producer] final class MessageOutbox(
    producer: Producer[Array[Byte]],
    router: Option[RowPartitionRouter],
    acknowledgements: Acknowledgements,
    transaction: Option[TaskTransaction] = None
) extends Outbox {

  // a message of a partition that is known costs no name of it
  private val entered = mutable.BitSet.empty

  for (t <- transaction; r <- router)
    r.enter(p => if (entered.add(p)) t.register(TopicNames.partition(producer.getTopic, p)))

  private var sent   = false
  private var hasIds = false // of the rows that were sent

  /** The client's ids go on from the last one that it was given or a broker has, or begin at 0. */
  private def checkId(hasId: Boolean): Unit = {
    if (sent && hasId != hasIds) throw Conditions.WriteValueNotAllowed(
      field = MetadataColumns.SequenceId.name,
      target = s"a row for topic ${producer.getTopic}",
      value = if (hasId) "a number after null" else "null after a number",
      reason = "a broker that looks for duplicates would drop rows without an id among rows that have one: give an " +
        "id to each row of the topic, or drop the column"
    ).exception
    sent = true
    hasIds = hasId
  }

  override def send(message: OutgoingMessage): Unit = {
    checkId(message.sequenceId >= 0)
    val builder = producer.newMessage().value(message.value)
    if (message.key != null) {
      if (message.keyIsBytes) builder.keyBytes(message.key)
      else builder.key(new String(message.key, UTF_8))
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
    router.foreach(_.next = message.partition)
    transaction.foreach { t =>
      if (producer.getNumOfPartitions == 0) t.register(producer.getTopic)
      t.stamp(builder)
    }
    val sequenceId = if (message.sequenceId >= 0) message.sequenceId else Long.MaxValue
    acknowledgements.await(1, builder.sendAsync(), sequenceId)
  }

  override def flush(): Unit = { producer.flushAsync(); () }

  /** The client has everything. */
  override def discard(): Unit = ()
}
