package io.github.pulsarspark.inspect.doctor

import scala.concurrent.duration.FiniteDuration

import io.github.pulsarspark.errors.Occurrence

/** Result of one check.
  *
  * @param name
  *   of the check
  * @param state
  *   `ok`, `warn`, `fail` or `skipped`
  * @param detail
  *   what was found, or why there is nothing
  * @param problem
  *   the condition that was met, which has the one action to take
  */
private[inspect] final case class Step(
    name: String,
    state: String,
    took: FiniteDuration,
    detail: String,
    problem: Option[Occurrence]
)
