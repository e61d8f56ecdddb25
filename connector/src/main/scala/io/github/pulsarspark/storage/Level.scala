package io.github.pulsarspark.storage

/** Who delivers entries. */
private[pulsarspark] sealed abstract class Level(val name: String, val ordinal: Int)

private[pulsarspark] object Level {
  case object Broker  extends Level("broker", 0)
  case object Bookies extends Level("bookies", 1)
  case object Tiered  extends Level("tiered", 2)

  val all: Seq[Level] = Seq(Broker, Bookies, Tiered) // by ordinal
}
