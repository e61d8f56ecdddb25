package io.github.pulsarspark.inspect.topics

import scala.util.Using

import org.apache.spark.sql.catalyst.InternalRow
import org.apache.spark.sql.types.{LongType, StringType, StructType}

import io.github.pulsarspark.inspect.view.{MetadataRequest, MetadataRow, MetadataView, TakenOptions}
import io.github.pulsarspark.options.MetadataOptions
import io.github.pulsarspark.position.{Interval, PartitionBounds, Position}
import io.github.pulsarspark.storage.segment.TopicStorage

/** Topic partitions with their ends and sizes. Brokers name the ends; the sizes need the admin service. */
private[inspect] object PartitionsView extends MetadataView {

  override val name: String = "partitions"

  private val ends  = Seq("first", "last")
  private val sizes = Seq("entries", "bytes", "ledgers", "offloadedLedgers")

  override val columns: StructType = SelectedTopics.columns
    .add("first", StringType, nullable = true, "position of the first entry; null without messages")
    .add("last", StringType, nullable = true, "position of the last entry with messages; null without messages")
    .add("entries", LongType, nullable = true, "entries that are stored, markers too; null without `admin.url`")
    .add("bytes", LongType, nullable = true, "bytes that are stored; null without `admin.url`")
    .add("ledgers", LongType, nullable = true, "ledgers that exist; null without `admin.url`")
    .add("offloadedLedgers", LongType, nullable = true, "ledgers that are offloaded; null without `admin.url`")

  override val takes: TakenOptions = TakenOptions.OfTopics ++ TakenOptions.OfReaders

  override def check(options: MetadataOptions): Unit = options.requireTopics()

  override def rows(request: MetadataRequest): Iterator[InternalRow] =
    Using.resource(new SelectedTopics(request.options.read)) { topics =>
      val bounds = if (request.uses(ends: _*)) topics.broker.confirmedBounds(topics.partitions)
      else Map.empty[String, PartitionBounds]
      val storage =
        if (request.uses(sizes: _*)) topics.admin.map(_.ofExisting(topics.partitions.map(_ -> Interval.Always).toMap))
        else None
      topics.partitions.map { p =>
        val (first, last) = endsOf(bounds.get(p))
        MetadataRow(SelectedTopics.names(p) ++ Seq(first, last) ++ sizesOf(storage.flatMap(_.get(p))): _*)
      }
    }.iterator

  private def endsOf(bounds: Option[PartitionBounds]): (Option[String], Option[String]) = {
    val some = bounds.filter(b => b.first < b.last)
    (some.map(b => Position(b.first.ledgerId, b.first.entryId + 1).toString), some.map(_.last.toString))
  }

  private def sizesOf(storage: Option[TopicStorage]): Seq[Option[Long]] = Seq(
    storage.map(s => s.ledgers.map(_.entries).sum + s.openEntries),
    storage.map(s => s.ledgers.map(_.bytes).sum + s.openBytes),
    storage.map(_.ledgers.size.toLong),
    storage.map(_.ledgers.count(_.isOffloaded).toLong)
  )
}
