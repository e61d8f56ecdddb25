package io.github.pulsarspark.metrics

/** Unit of an amount. */
private[pulsarspark] sealed abstract class Measure(val name: String, val ordinal: Int)

private[pulsarspark] object Measure {
  case object Entries extends Measure("Entries", 0)
  case object Bytes   extends Measure("Bytes", 1) // of entries as they are stored
  case object Rows    extends Measure("Rows", 2)

  val all: Seq[Measure] = Seq(Entries, Bytes, Rows) // by ordinal
}
