package io.github.pulsarspark.errors

import com.fasterxml.jackson.databind.ObjectMapper

/** Ranges of lost messages that a query skipped, because `failOnDataLoss` is false.
  *
  * @param count
  *   all of them
  * @param newest
  *   up to [[LostRanges.MaxKept]] of them: condition, topic, from, to and reason of each
  */
private[pulsarspark] final case class LostRanges(count: Long, newest: Seq[Occurrence]) {

  def +(lost: Occurrence): LostRanges = this ++ LostRanges(1, Seq(lost))

  def ++(more: LostRanges): LostRanges =
    if (more.count == 0) this
    else LostRanges(count + more.count, (newest ++ more.newest).takeRight(LostRanges.MaxKept))

  /** Ranges after the first `before` ones. */
  def after(before: Long): LostRanges =
    LostRanges(count - before, newest.takeRight(math.min(count - before, newest.size.toLong).toInt))

  /** The newest as a JSON array. */
  def json: String = {
    val result = LostRanges.mapper.createArrayNode()
    newest.foreach { lost =>
      val row = result.addObject().put("condition", lost.condition.name)
      lost.parameters.toSeq.sortBy(_._1).foreach { case (name, value) => row.put(name, value) }
    }
    result.toString
  }
}

private[pulsarspark] object LostRanges {
  val MaxKept = 20
  val none    = LostRanges(0, Nil)

  private val mapper = new ObjectMapper
}
