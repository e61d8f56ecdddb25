package io.github.pulsarspark.read.tails

import org.apache.spark.sql.connector.read.InputPartition
import org.apache.spark.sql.connector.read.streaming.PartitionOffset

import io.github.pulsarspark.position.Position
import io.github.pulsarspark.read.task.PlannedSlice
import io.github.pulsarspark.storage.segment.Slice

/** A topic partition that a task of a real-time batch follows.
  *
  * @param planned
  *   a range without an end, from the last message read, and how its messages become rows
  * @param known
  *   the last message there was at the time of the plan
  * @param backlog
  *   slices from the start of the range that are read where they are stored; none if the broker delivers everything
  */
private[read] final case class PlannedTail(planned: PlannedSlice, known: Position, backlog: Seq[Slice] = Nil)

/** Topic partitions that one task follows at the same time. */
private[read] final case class TailsPartition(tails: Seq[PlannedTail]) extends InputPartition

/** The end of a task.
  *
  * @param read
  *   the last message read of each topic partition, which may be inside an entry
  * @param wasAsked
  *   false if Spark asked the task for no row: it began after the end of the batch
  */
private[read] final case class TailPositions(read: Map[String, Position], wasAsked: Boolean) extends PartitionOffset
