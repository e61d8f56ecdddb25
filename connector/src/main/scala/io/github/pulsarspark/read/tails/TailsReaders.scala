package io.github.pulsarspark.read.tails

import org.apache.spark.sql.connector.read.InputPartition

import io.github.pulsarspark.metrics.{LatencyCounts, TaskTotals}
import io.github.pulsarspark.read.task.ReadContext

/** Creates the readers of real-time tasks.
  *
  * @param stream
  *   the run of a stream
  * @param total
  *   what the tasks of all batches count
  */
private[read] final case class TailsReaders(
    context: ReadContext,
    stream: String,
    total: TaskTotals,
    latencies: LatencyCounts.Total
) {
  def reader(partition: InputPartition): TailsReader = partition match {
    case p: TailsPartition => new TailsReader(p, context, stream, Some(total), Some(latencies))
    case other             =>
      throw new IllegalArgumentException(s"not a partition of a real-time batch: ${other.getClass.getName}")
  }
}
