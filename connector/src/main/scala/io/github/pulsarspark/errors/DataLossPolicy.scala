package io.github.pulsarspark.errors

import org.slf4j.LoggerFactory

/** Decides what happens when messages that should be read no longer exist: the query fails, or continues and counts the
  * loss. Nothing else decides this.
  *
  * @param failOnDataLoss
  *   the option of that name
  */
private[pulsarspark] final class DataLossPolicy(failOnDataLoss: Boolean) {

  private var passed = LostRanges.none

  /** Ranges skipped so far. */
  def lost: LostRanges = passed

  /** @param loss
    *   one of the conditions `PULSAR_DATA_LOSS.*`
    */
  def report(loss: Occurrence): Unit = {
    if (failOnDataLoss) throw loss.exception
    passed += loss
    DataLossPolicy.log.warn("Going on because failOnDataLoss is false: {}", loss.text)
  }
}

private object DataLossPolicy {
  private val log = LoggerFactory.getLogger(classOf[DataLossPolicy])
}
