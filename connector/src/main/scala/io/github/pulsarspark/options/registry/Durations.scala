package io.github.pulsarspark.options.registry

/** Durations as users write them: one grammar for every option, and the same in the Python package. Pure. */
private[registry] object Durations {

  private val Names = "ms|millis|milliseconds?|s|secs?|seconds?|m|mins?|minutes?|h|hrs?|hours?|d|days?|w|weeks?"
  private val Form  = raw"(?i)\+?(\d{1,13})\s*($Names)?".r

  private val Units =
    Map('s' -> 1000L, 'm' -> 60000L, 'h' -> 3600000L, 'd' -> 86400000L, 'w' -> 7 * 86400000L)

  /** Limit of a duration: timers count nanoseconds. */
  private val Max = 36500 * Units('d')

  /** `15m` -> 900000; a number alone is milliseconds. None for `15M`, which may be months, and for more than 36500
    * days.
    */
  def milliseconds(text: String): Option[Long] = text match {
    case Form(_, "M")  => None
    case Form(n, unit) => Some(BigInt(n) * unitOf(unit)).filter(_ <= Max).map(_.toLong)
    case _             => None
  }

  private def unitOf(unit: String): Long =
    if (unit == null || unit.toLowerCase.matches("ms|milli.*")) 1L else Units(unit.head.toLower)

  /** The form in words.
    *
    * @param least
    *   in milliseconds
    */
  def form(least: Long): String =
    s"a time of at least $least ms and at most 36500 days, such as `500ms`, `30s`, `15m`, `2h` or `1d` " +
      "(a number alone is milliseconds)"
}
