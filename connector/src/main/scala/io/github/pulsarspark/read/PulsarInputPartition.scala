package io.github.pulsarspark.read

import org.apache.spark.sql.connector.read.InputPartition
import org.apache.spark.sql.types.StructType
import org.apache.spark.util.LongAccumulator

import io.github.pulsarspark.options.ReadOptions
import io.github.pulsarspark.position.{OffsetRange, PruningBounds}
import io.github.pulsarspark.schema.TopicSchema
import io.github.pulsarspark.storage.segment.{HadoopSettings, Slice}

/** A range of one topic partition that is to be read, and how its messages become rows. */
private[read] final case class PlannedRange(range: OffsetRange, wanted: PruningBounds, schema: TopicSchema)

/** A part of a planned range that one task reads from one place. */
private[pulsarspark] final case class PlannedSlice(slice: Slice, wanted: PruningBounds, schema: TopicSchema)

/** What one task reads, in order. */
private[pulsarspark] final case class PulsarInputPartition(slices: Seq[PlannedSlice]) extends InputPartition {

  /** Machines that store the first slice, which matters where bookies and executors share machines. */
  override def preferredLocations(): Array[String] = slices.head.slice.hosts.toArray
}

/** What all tasks of a query have in common; has no secret in its text.
  *
  * @param limit
  *   rows after which a task may stop
  * @param decodeErrors
  *   counts the messages of a stream that do not decode
  */
private[pulsarspark] final case class ReadContext(
    output: StructType,
    options: ReadOptions,
    hadoop: HadoopSettings,
    limit: Option[Int] = None,
    decodeErrors: Option[LongAccumulator] = None
)
