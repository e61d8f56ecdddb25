package io.github.pulsarspark.format

/** Source of entries: the broker, the bookies, or tiered storage. */
private[pulsarspark] sealed abstract class Tier(val name: String, val ordinal: Int)

private[pulsarspark] object Tier {
  case object Broker  extends Tier("broker", 0)
  case object Bookies extends Tier("bookies", 1)
  case object Tiered  extends Tier("tiered", 2)

  val all: Seq[Tier] = Seq(Broker, Bookies, Tiered) // by ordinal
}
