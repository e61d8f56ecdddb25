package io.github.pulsarspark.pulsar.transactions

/** Access of other producers to a control topic. */
private[pulsarspark] sealed trait ControlAccess

private[pulsarspark] object ControlAccess {

  /** Allows all other producers. */
  case object Shared extends ControlAccess

  /** Refuses all other producers from now on, and fences existing ones for ever. */
  case object Fencing extends ControlAccess

  /** Refuses all other producers. Opening fails while another producer is connected. */
  case object Alone extends ControlAccess
}
