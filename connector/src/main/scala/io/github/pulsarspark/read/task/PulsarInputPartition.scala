package io.github.pulsarspark.read.task

import org.apache.spark.sql.connector.read.InputPartition
import org.apache.spark.sql.types.StructType
import org.apache.spark.util.LongAccumulator

import io.github.pulsarspark.options.ReadOptions
import io.github.pulsarspark.position.PruningBounds
import io.github.pulsarspark.storage.segment.{HadoopSettings, Slice}

/** A part of a range that one task reads from one place, and how its messages become rows. */
private[pulsarspark] final case class PlannedSlice(slice: Slice, bounds: PruningBounds, schema: PlannedSchema)

/** Neighbouring slices of one topic partition, whose messages become rows in the same way. */
private[pulsarspark] final case class PlannedSlices(slices: Seq[Slice], bounds: PruningBounds, schema: PlannedSchema)

/** Slices that one task reads, in order. */
private[pulsarspark] final case class PulsarInputPartition(parts: Seq[PlannedSlices]) extends InputPartition {

  def slices: Iterator[Slice] = parts.iterator.flatMap(_.slices)

  /** The slices, each by itself. */
  def planned: Iterator[PlannedSlice] =
    parts.iterator.flatMap(part => part.slices.iterator.map(PlannedSlice(_, part.bounds, part.schema)))

  /** Machines that store the first slice, which matters where bookies and executors share machines. */
  override def preferredLocations(): Array[String] = slices.next().hosts.toArray
}

/** Values that all tasks of a query share. Its text contains no secret.
  *
  * @param limit
  *   rows after which a task may stop
  * @param decodeErrors
  *   counts the messages of a stream that do not decode
  * @param stream
  *   names one run of a stream
  */
private[pulsarspark] final case class ReadContext(
    output: StructType,
    options: ReadOptions,
    hadoop: HadoopSettings,
    limit: Option[Int] = None,
    decodeErrors: Option[LongAccumulator] = None,
    stream: Option[String] = None
)
