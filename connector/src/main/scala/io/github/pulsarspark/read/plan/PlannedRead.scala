package io.github.pulsarspark.read.plan

import io.github.pulsarspark.format.Tier
import io.github.pulsarspark.read.task.PulsarInputPartition

/** The driver's plan of a read.
  *
  * @param partitionsSkipped
  *   topic partitions without messages that the filters accept
  * @param ledgersSkipped
  *   ledgers of other partitions without such messages
  */
private[read] final case class PlannedRead(
    tasks: Seq[PulsarInputPartition],
    partitionsSkipped: Long = 0,
    ledgersSkipped: Long = 0
) {

  /** Stored bytes, at least 1; None when the broker reads a slice, because it reports no sizes. */
  def bytes: Option[Long] = {
    val segments = tasks.flatMap(_.slices).map(_.slice.segment)
    Option.when(segments.forall(_.nonEmpty))(math.max(1L, segments.flatten.map(_.bytes).sum))
  }

  /** The number of tasks, and of slices at each level. */
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
