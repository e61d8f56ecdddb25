package io.github.pulsarspark.options

import scala.concurrent.duration._

import io.github.pulsarspark.errors.Conditions
import io.github.pulsarspark.options.registry.CheckedOptions

/** Limits of what a trigger of a stream reads.
  *
  * @param maxMessages
  *   never exceeded
  * @param maxBytes
  *   of entries as stored; exceeded by at most one entry of each partition
  * @param minMessages
  *   the number that a trigger waits for, at most `maxDelay` after the last micro-batch
  */
private[pulsarspark] final case class TriggerLimits(
    maxMessages: Option[Long],
    maxBytes: Option[Long],
    minMessages: Option[Long],
    maxDelay: FiniteDuration
)

private[pulsarspark] object TriggerLimits {

  def apply(options: CheckedOptions): TriggerLimits = {
    val most  = options.get("maxMessagesPerTrigger").map(_.toLong)
    val least = options.get("minMessagesPerTrigger").map(_.toLong)
    for (min <- least; max <- most if min > max)
      throw Conditions.OptionInvalid(option = "minMessagesPerTrigger", value = min.toString,
        allowed = s"at most `maxMessagesPerTrigger`, which is $max").exception
    TriggerLimits(
      most,
      Option.when(options.get("maxBytesPerTrigger").isDefined)(options.bytes("maxBytesPerTrigger")).filter(_ > 0),
      least,
      options.duration("maxTriggerDelay").millis
    )
  }
}
