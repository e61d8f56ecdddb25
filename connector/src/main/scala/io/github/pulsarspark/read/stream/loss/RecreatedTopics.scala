package io.github.pulsarspark.read.stream.loss

import java.time.{Instant, OffsetDateTime}

import scala.concurrent.duration._
import scala.util.control.NonFatal

import org.slf4j.LoggerFactory

import io.github.pulsarspark.position.{PartitionBounds, PulsarOffset}
import io.github.pulsarspark.pulsar.admin.{AdminApi, JsonFields, LedgerSink}
import io.github.pulsarspark.pulsar.connection.ClusterCalls

/** Finds partitions that were deleted and created again. The new messages have higher positions, so that the old ones
  * look trimmed. The metadata store holds when a partition was created.
  *
  * A restore of the metadata changes that time. So it is only requested if the ledger that was read last is deleted.
  * That is a loss in any case, and the time decides which condition reports it.
  *
  * @param existing
  *   partitions that existed when the stream began
  * @param begun
  *   when it began; None if that is not known
  * @param created
  *   requests when a partition was created
  */
private[stream] final class RecreatedTopics(
    existing: PulsarOffset,
    begun: => Option[Instant],
    created: Seq[String] => Map[String, Instant]
) {
  import RecreatedTopics._

  /** Times at which partitions were created again. */
  def among(read: PulsarOffset, bounds: Map[String, PartitionBounds]): Map[String, Instant] = {
    val suspects = suspected(read, bounds).filter(existing.positions.contains)
    if (suspects.isEmpty) Map.empty
    else
      begun.fold(Map.empty[String, Instant]) { time =>
        created(suspects).filter { case (_, at) => at.isAfter(time.plusMillis(Margin.toMillis)) }
      }
  }
}

private[stream] object RecreatedTopics {
  private val log = LoggerFactory.getLogger(classOf[RecreatedTopics])

  /** Tolerance between the clocks of the file system and of the metadata store. */
  val Margin: FiniteDuration = 5.minutes

  /** Partitions that were read and whose last ledger read is deleted. */
  private[loss] def suspected(read: PulsarOffset, bounds: Map[String, PartitionBounds]): Seq[String] =
    bounds.iterator.collect {
      case (partition, b)
          if read.positions.get(partition).exists(at =>
            !at.isBeforeLedger && at.ledgerId < b.first.ledgerId && !b.emptyAfter.contains(at)
          ) => partition
    }.toSeq

  /** Requests the times of creation from the admin service. Without a response they are unknown, and the loss is
    * reported as another condition.
    */
  def created(admin: AdminApi, calls: ClusterCalls)(partitions: Seq[String]): Map[String, Instant] =
    try
      calls.awaitAll(partitions)(p => s"Requesting the creation time of $p")(p =>
        admin.internalInfo(p)(new Creation).thenApply[(String, Option[Instant])](p -> _)
      ).collect { case (partition, Some(at)) => partition -> at }.toMap
    catch {
      case NonFatal(e) =>
        log.info("It is not known when topics were created: {}", e.getMessage)
        Map.empty
    }

  private final class Creation extends LedgerSink[Option[Instant]] {
    override def ledger(fields: JsonFields): Unit         = ()
    override def end(fields: JsonFields): Option[Instant] =
      fields.text("creationDate").map(OffsetDateTime.parse(_).toInstant)
  }
}
