package io.github.pulsarspark.read.tails

import io.github.pulsarspark.errors.Conditions
import io.github.pulsarspark.options.ReadOptions

/** Checks the options of a stream for Spark's real-time mode. */
private[pulsarspark] object RealTimeOptions {

  /** Fails for an option that says what a micro-batch reads. */
  def check(options: ReadOptions): Unit = {
    val limits = options.triggerLimits
    Seq(
      "maxMessagesPerTrigger" -> limits.maxMessages.isDefined,
      "maxBytesPerTrigger"    -> limits.maxBytes.isDefined,
      "minMessagesPerTrigger" -> limits.minMessages.isDefined,
      "readCompacted"         -> options.readCompacted,
      "minPartitions"         -> options.minPartitions.isDefined
    ).find(_._2).foreach { case (option, _) => throw Conditions.RealTimeOption(option = option).exception }
  }
}
