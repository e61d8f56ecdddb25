package io.github.pulsarspark.pulsar.broker

import java.util.concurrent.TimeUnit

import scala.annotation.tailrec
import scala.util.Using

import org.apache.pulsar.client.api.{ConsumerCryptoFailureAction, MessageId, Reader, Schema}

import io.github.pulsarspark.pulsar.connection.{ClientLease, ClusterCalls}

/** Looks for messages in topics that others sent. */
private[pulsar] object OtherProducers {

  private val WaitSeconds = 1
  private val Looking     = "Looking for messages of others"

  /** True if a message in one of the partitions is of a producer whose name does not begin with the prefix, or if the
    * deadline comes before the last message.
    */
  def mayHaveWritten(lease: ClientLease, partitions: Seq[String], prefix: String): Boolean = {
    val calls    = new ClusterCalls(lease.options, lease.options.serviceUrl)
    val deadline = System.nanoTime() + lease.options.operationTimeout.toNanos

    @tailrec def hasOther(reader: Reader[Array[Byte]]): Boolean =
      if (System.nanoTime() >= deadline) true
      else if (!calls.askByConsumer(Looking)(() => reader.hasMessageAvailableAsync)) false
      else {
        val next = calls.blocking(Looking)(Option(reader.readNext(WaitSeconds, TimeUnit.SECONDS)))
        if (next.exists(!_.getProducerName.startsWith(prefix))) true else hasOther(reader)
      }

    partitions.exists { partition =>
      val opening = lease.client.newReader(Schema.BYTES).topic(partition).startMessageId(MessageId.earliest)
        .cryptoFailureAction(ConsumerCryptoFailureAction.CONSUME).createAsync()
      val what = s"Opening a reader of $partition"
      Using.resource(calls.awaitOwned(what)(opening) { late => late.closeAsync(); () })(hasOther)
    }
  }
}
