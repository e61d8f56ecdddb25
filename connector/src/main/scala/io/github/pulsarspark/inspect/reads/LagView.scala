package io.github.pulsarspark.inspect.reads

import scala.util.Using

import org.apache.spark.sql.catalyst.InternalRow
import org.apache.spark.sql.types.{LongType, StringType, StructType}

import io.github.pulsarspark.format.EntrySummary
import io.github.pulsarspark.inspect.topics.SelectedTopics
import io.github.pulsarspark.inspect.view.{MetadataRequest, MetadataRow, MetadataView, TakenOptions}
import io.github.pulsarspark.options.MetadataOptions
import io.github.pulsarspark.position.{Interval, OffsetRange, PartitionBounds, Position, PulsarOffset}
import io.github.pulsarspark.read.stream.lag.Backlog
import io.github.pulsarspark.storage.segment.TopicStorage

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
      val lag = new Lag(request, selected, read, selected.broker.confirmedBounds(partitions))
      partitions.map(p => MetadataRow(SelectedTopics.names(p) ++ lag.of(p): _*))
    }.iterator

  /** Lag of all partitions, by as few requests as the columns need. */
  private final class Lag(
      request: MetadataRequest,
      selected: SelectedTopics,
      read: Map[String, Position],
      bounds: Map[String, PartitionBounds]
  ) {
    private val options = request.options.read
    private val offset  = PulsarOffset.of(read)

    private val behind = backlog((_, _, _) => None).behind.map(b =>
      b.partition -> OffsetRange(b.partition, b.from, bounds(b.partition).last)
    ).toMap

    private val storage: Map[String, TopicStorage] =
      if (behind.isEmpty || !request.uses("entries", "messages", "bytes")) Map.empty
      else selected.admin.fold(Map.empty[String, TopicStorage])(_.ofExisting(behind.map { case (p, range) =>
        p -> Interval(range.startExclusive.ledgerId, Long.MaxValue)
      }))

    private val entries = backlog((p, from, to) => storage.get(p).flatMap(_.entriesBetween(from, to))).behind.map(b =>
      b.partition -> b.entries
    ).toMap

    private val first: Map[String, EntrySummary] =
      if (request.uses("messages", "seconds")) FirstEntries.of(behind.values.toSeq, options) else Map.empty

    private val now = System.currentTimeMillis()

    private def backlog(between: (String, Long, Long) => Option[(Long, Long)]) =
      Backlog.of(offset, bounds, options.readCompacted, between)

    /** Values of the columns of a partition. */
    def of(partition: String): Seq[Any] = {
      val end = bounds.get(partition)
      Seq[Any](
        (read.get(partition) ++ end.map(_.first)).maxOption.map(_.toString),
        end.filter(b => b.first < b.last).map(_.last.toString)
      ) ++
        (behind.get(partition) match {
          case Some(range)           => figures(range)
          case None if end.isDefined => Seq(0L, 0L, 0L, 0L)
          case None                  => Seq(None, None, None, None) // it does not exist
        })
    }

    private def figures(range: OffsetRange): Seq[Option[Long]] = {
      val unread = entries(range.topic)
      val start  = first.get(range.topic)
      Seq(
        unread,
        unread.flatMap(n => start.map(n * _.messages)),
        storage.get(range.topic).map(s => s.within(range).map(s.bytesWithin(range, _)).sum),
        start.map(e => math.max(0L, now - e.publishTime) / 1000)
      )
    }
  }
}
