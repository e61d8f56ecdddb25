package io.github.pulsarspark.inspect.topics

import java.time.Instant

import scala.util.Using

import org.apache.spark.sql.catalyst.InternalRow
import org.apache.spark.sql.types.{ArrayType, LongType, StringType, StructType, TimestampType}

import io.github.pulsarspark.inspect.view.{MetadataRequest, MetadataRow, MetadataView, TakenOptions}
import io.github.pulsarspark.options.MetadataOptions
import io.github.pulsarspark.position.Interval
import io.github.pulsarspark.storage.LedgerCopies
import io.github.pulsarspark.storage.segment.{StoredLedger, TopicStorage}

/** The ledgers of topic partitions, by the admin service. */
private[inspect] object LedgersView extends MetadataView {

  override val name: String = "ledgers"

  override val columns: StructType = SelectedTopics.columns
    .add("ledgerId", LongType, nullable = true, "number of the ledger")
    .add("entries", LongType, nullable = true, "entries in it, markers too")
    .add("bytes", LongType, nullable = true, "bytes in it")
    .add("state", StringType, nullable = true, "`open` while it is written, then `closed`, then perhaps `offloaded`")
    .add("closedAt", TimestampType, nullable = true, "when the broker closed it; null while it is open")
    .add("offloadedTo", StringType, nullable = true,
      "file or folder of the copy; null if it is not offloaded, or not known where to")
    .add("bookies", ArrayType(StringType), nullable = true, "bookies that have or had it; null if they are not known")

  override val takes: TakenOptions = TakenOptions.OfTopics ++ TakenOptions.of("offload.location", "offload.format")

  override def check(options: MetadataOptions): Unit = {
    options.requireTopics()
    options.requireAdmin()
  }

  override def rows(request: MetadataRequest): Iterator[InternalRow] =
    Using.resource(new SelectedTopics(request.options.read)) { selected =>
      val admin    = selected.admin.get
      val storage  = admin.ofExisting(selected.partitions.map(_ -> Interval.Always).toMap, request.uses("bookies"))
      val existing = selected.partitions.filter(storage.contains)
      val closed   = if (request.uses("closedAt")) admin.closedAt(existing) else Map.empty[String, Map[Long, Long]]
      val copies: (String, StoredLedger) => Option[String] =
        if (!request.uses("offloadedTo")) (_, _) => None
        else LedgerCopies.locate(storage.map { case (p, s) => p -> s.ledgers }, request.options.read, admin)
      existing.flatMap { p =>
        storage(p).ledgers.map { ledger =>
          val (entries, bytes, state) = sizeOf(storage(p), ledger)
          val closedAt                = closed.get(p).flatMap(_.get(ledger.id)).map(Instant.ofEpochMilli(_))
          MetadataRow(SelectedTopics.names(p) ++ Seq[Any](ledger.id, entries, bytes, state, closedAt,
            copies(p, ledger), ledger.home.flatMap(_.toOption).map(_.bookies)): _*)
        }
      }
    }.iterator

  /** A ledger that is being written has its numbers elsewhere. */
  private def sizeOf(storage: TopicStorage, ledger: StoredLedger): (Long, Long, String) =
    if (ledger.isOffloaded) (ledger.entries, ledger.bytes, "offloaded")
    else if (storage.isNewest(ledger.id) && ledger.entries == 0) (storage.openEntries, storage.openBytes, "open")
    else (ledger.entries, ledger.bytes, "closed")
}
