package io.github.pulsarspark.read.stream.limits

import org.apache.spark.sql.connector.read.streaming._

import io.github.pulsarspark.options.TriggerLimits

/** Limits of what one trigger reads, and the minimum for which it waits. Pure.
  *
  * @param minimum
  *   rows, and the milliseconds after the last micro-batch at which fewer do
  */
private[stream] final case class TriggerBudget(
    rows: Option[Long] = None,
    bytes: Option[Long] = None,
    minimum: Option[(Long, Long)] = None
) {

  /** True if a trigger reads everything that is new. */
  def isUnlimited: Boolean = rows.isEmpty && bytes.isEmpty && minimum.isEmpty

  /** The budget after `used` bytes; at least 1 byte remains. */
  def without(used: Long): TriggerBudget = copy(bytes = bytes.map(b => math.max(1, b - used)))

  private def and(that: TriggerBudget): TriggerBudget = TriggerBudget(
    (rows ++ that.rows).minOption,
    (bytes ++ that.bytes).minOption,
    (minimum ++ that.minimum).reduceOption((a, b) => (math.max(a._1, b._1), math.min(a._2, b._2)))
  )
}

private[stream] object TriggerBudget {
  val Unlimited: TriggerBudget = TriggerBudget()

  /** The strictest of all limits. Kinds without a meaning for messages, such as a number of files, limit nothing. Each
    * trigger may read one row at least.
    */
  def of(limit: ReadLimit): TriggerBudget = limit match {
    case most: ReadMaxRows       => TriggerBudget(rows = Some(math.max(1, most.maxRows)))
    case most: ReadMaxBytes      => TriggerBudget(bytes = Some(math.max(1, most.maxBytes)))
    case least: ReadMinRows      => TriggerBudget(minimum = Some((least.minRows, least.maxTriggerDelayMs)))
    case all: CompositeReadLimit => all.getReadLimits.map(of).foldLeft(Unlimited)(_ and _)
    case _                       => Unlimited
  }

  /** The limit in Spark's terms, which Spark hands to every trigger but `Trigger.Once`. */
  def readLimit(options: TriggerLimits): ReadLimit = {
    val limits = options.minMessages.map(ReadLimit.minRows(_, options.maxDelay.toMillis)) ++
      options.maxMessages.map(ReadLimit.maxRows) ++ options.maxBytes.map(ReadLimit.maxBytes)
    limits.toSeq match {
      case Seq()    => ReadLimit.allAvailable()
      case Seq(one) => one
      case several  => ReadLimit.compositeLimit(several.toArray)
    }
  }
}
