package io.github.pulsarspark.read

import io.github.pulsarspark.format.Tier
import io.github.pulsarspark.metrics.PlanCounts

/** What the driver decided of a read.
  *
  * @param partitionsSkipped
  *   topic partitions in which the filters want nothing
  * @param ledgersSkipped
  *   ledgers in which they want nothing, in the others
  */
private[read] final case class PlannedRead(
    tasks: Seq[PulsarInputPartition],
    partitionsSkipped: Long = 0,
    ledgersSkipped: Long = 0
) extends PlanCounts {

  /** Bytes as they are stored, at least 1; None when the broker reads something, which does not tell. */
  def bytes: Option[Long] = {
    val segments = tasks.flatMap(_.slices).map(_.slice.segment)
    Option.when(segments.forall(_.nonEmpty))(math.max(1L, segments.flatten.map(_.bytes).sum))
  }

  /** Tasks, and how many slices are read from where. */
  def summary: String = {
    val slices  = tasks.flatMap(_.slices).map(_.slice)
    val byLevel = Tier.all.flatMap { level =>
      val here = slices.filter(_.level == level)
      Option.when(here.nonEmpty) {
        val bytes = here.flatMap(_.segment).map(_.bytes).sum
        s"${here.size} ${level.name}" + (if (bytes > 0) s" ${(bytes + (1L << 20) - 1) / (1L << 20)} MiB" else "")
      }
    }
    s"${tasks.size} tasks, slices: ${if (byLevel.isEmpty) "none" else byLevel.mkString(", ")}"
  }
}
