package io.github.pulsarspark.pulsar.journal

import java.util.concurrent.CompletableFuture

import scala.jdk.CollectionConverters._

import org.apache.pulsar.client.api.{MessageId, MessageIdAdv, Reader}

import io.github.pulsarspark.errors.Conditions
import io.github.pulsarspark.position.Position
import io.github.pulsarspark.pulsar.connection.ClusterCalls

/** A record of a journal. */
private[pulsarspark] final case class JournalRecord(position: Position, bytes: Array[Byte])

/** Reads the records of a journal in order. After a lost connection a record may arrive again, and those of ledgers
  * that were deleted meanwhile do not arrive.
  */
private[pulsarspark] final class JournalReader private[journal] (
    topic: String,
    reader: Reader[Array[Byte]],
    calls: ClusterCalls
) extends AutoCloseable {

  private val requests = new OpenRequests

  /** The next record, once it is there. One request at a time. */
  def next(): CompletableFuture[JournalRecord] = reader.readNextAsync().thenApply { message =>
    if (message.isReplicated)
      throw Conditions.CheckpointStoreTopic(topic = topic,
        cause = s"cluster ${message.getReplicatedFrom} wrote and replicated records to it").exception
    JournalRecord(JournalReader.position(message.getMessageId), message.getValue)
  }

  /** The last record that the broker has; None if it does not say, because the newest ledger is empty. Fails when the
    * reader is closed meanwhile.
    */
  def end(): Option[Position] = calls
    .askByConsumer(s"Requesting the end of $topic")(() => requests.until(reader.getLastMessageIdsAsync))
    .asScala
    .headOption
    .map(JournalReader.position)
    .filterNot(_.isBeforeLedger)

  override def close(): Unit = {
    reader.closeAsync()
    requests.close()
  }
}

private[journal] object JournalReader {
  def position(id: MessageId): Position = id match {
    case adv: MessageIdAdv => Position(adv.getLedgerId, adv.getEntryId)
    case other             => throw Conditions.Internal(what = other.toString, where = "JournalReader").exception
  }
}
