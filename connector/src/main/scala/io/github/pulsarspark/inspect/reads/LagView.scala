package io.github.pulsarspark.inspect.reads

import scala.util.Using

import org.apache.spark.sql.catalyst.InternalRow
import org.apache.spark.sql.types.{LongType, StringType, StructType}

import io.github.pulsarspark.format.EntrySummary
import io.github.pulsarspark.inspect.topics.SelectedTopics
import io.github.pulsarspark.inspect.view.{MetadataRequest, MetadataRow, MetadataView, TakenOptions}
import io.github.pulsarspark.options.MetadataOptions
import io.github.pulsarspark.position.PulsarOffset

/** Unread messages of topic partitions, after the positions of a checkpoint, of a subscription or of an option.
  */
private[inspect] object LagView extends MetadataView {

  override val name: String = "lag"

  override val columns: StructType = SelectedTopics.columns
    .add("position", StringType, nullable = true, "position up to and including which everything is read")
    .add("last", StringType, nullable = true, "position of the last entry with messages; null without messages")
    .add("entries", LongType, nullable = true,
      "unread entries, markers too; null if they are in several ledgers and `admin.url` is missing")
    .add("messages", LongType, nullable = true,
      "estimate of the unread messages: as many in each entry as in the first one that is unread")
    .add("bytes", LongType, nullable = true, "estimate of the unread bytes in storage; null without `admin.url`")
    .add("seconds", LongType, nullable = true, "age of the oldest unread message; 0 if everything is read")

  override val takes: TakenOptions = TakenOptions.OfTopics ++ TakenOptions.of(ReadPositions.Ways: _*) ++
    TakenOptions.OfCounts

  override def check(options: MetadataOptions): Unit = ReadPositions.check(options)

  override def rows(request: MetadataRequest): Iterator[InternalRow] =
    Using.resource(new SelectedTopics(request.options.read)) { selected =>
      val ReadPositions(read, partitions) = ReadPositions.of(request, selected)
      val unread                          = new UnreadEntries(
        selected,
        PulsarOffset.of(read),
        selected.broker.confirmedBounds(partitions),
        request.options.read.readCompacted,
        withSizes = request.uses("entries", "messages", "bytes")
      )
      val lag = new Lag(request, unread)
      partitions.map(p => MetadataRow(SelectedTopics.names(p) ++ lag.of(p): _*))
    }.iterator

  /** Lag of all partitions, by as few requests as the columns need. */
  private final class Lag(request: MetadataRequest, unread: UnreadEntries) {

    private val first: Map[String, EntrySummary] =
      if (request.uses("messages", "seconds")) FirstEntries.of(unread.ranges, request.options.read) else Map.empty

    private val now = System.currentTimeMillis()

    /** Values of the columns of a partition. */
    def of(partition: String): Seq[Any] = {
      val entries = unread.entries(partition)
      val start   = first.get(partition)
      val figures =
        if (unread.isBehind(partition))
          Seq(
            entries,
            entries.flatMap(n => start.map(n * _.messages)),
            unread.bytes(partition),
            start.map(e => math.max(0L, now - e.publishTime) / 1000)
          )
        else if (unread.exists(partition)) Seq(0L, 0L, 0L, 0L)
        else Seq(None, None, None, None)
      Seq[Any](unread.from(partition).map(_.toString), unread.last(partition).map(_.toString)) ++ figures
    }
  }
}
