package io.github.pulsarspark.catalog

import io.github.pulsarspark.errors.Conditions

/** A table as it was: what a read of it would end with. */
private[catalog] sealed abstract class AsOf(val clause: String) {

  /** The option of a read that says so, with its value. */
  def option: (String, String)
}

private[catalog] object AsOf {

  /** Progress of a stream, or positions. */
  final case class Version(text: String) extends AsOf("VERSION AS OF") {
    override def option: (String, String) = "endingOffsets" -> text
  }

  final case class Time(millis: Long) extends AsOf("TIMESTAMP AS OF") {
    override def option: (String, String) = "endingTime" -> millis.toString
  }

  /** Fails for a time to come, at which a table has other messages with each read.
    *
    * @param now
    *   milliseconds since 1970
    */
  def time(micros: Long, table: String, now: Long): Time = {
    val time = Time(Math.floorDiv(micros, 1000L))
    if (time.millis > now) throw refused(time, table, "the time is in the future", "Use a time that has passed")
    time
  }

  def refused(asOf: AsOf, table: String, why: String, instead: String): RuntimeException =
    Conditions.TimeTravel(clause = asOf.clause, table = table, why = why, instead = instead).exception
}
