package io.github.pulsarspark.options

/** Tiers from which messages may be read. */
sealed trait ReadLevel extends Serializable

object ReadLevel {

  /** Segments wherever they can be reached, else the broker. */
  case object Auto extends ReadLevel

  case object Broker extends ReadLevel

  /** Segments or an error. */
  case object Segment extends ReadLevel

  private[options] def apply(value: String): ReadLevel = value.toLowerCase match {
    case "broker"  => Broker
    case "segment" => Segment
    case _         => Auto
  }
}
