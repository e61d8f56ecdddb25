package io.github.pulsarspark.errors

import org.slf4j.LoggerFactory

/** What happens when messages that should be read are gone: the query fails, or goes on and counts. The one place that
  * decides.
  *
  * @param failOnDataLoss
  *   the option of that name
  */
private[pulsarspark] final class DataLossPolicy(failOnDataLoss: Boolean) {

  private var ranges = 0L

  /** Ranges passed over so far. */
  def lostRanges: Long = ranges

  /** @param from
    *   last position that was read
    * @param to
    *   end of what is missing
    */
  def report(topic: String, from: String, to: String, reason: String): Unit = {
    val error = Conditions.DataLoss(topic = topic, from = from, to = to, reason = reason).exception
    if (failOnDataLoss) throw error
    ranges += 1
    DataLossPolicy.log.warn("Going on because failOnDataLoss is false: {}", error.getMessage)
  }
}

private object DataLossPolicy {
  private val log = LoggerFactory.getLogger(classOf[DataLossPolicy])
}
