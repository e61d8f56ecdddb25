package io.github.pulsarspark.pulsar.transactions

/** Who else may append to a control topic. */
private[pulsarspark] sealed trait ControlAccess

private[pulsarspark] object ControlAccess {

  /** Everybody. */
  case object Shared extends ControlAccess

  /** Nobody from now on; those that are there are kept away for ever. */
  case object Fencing extends ControlAccess

  /** Nobody; opening fails while another producer is there. */
  case object Alone extends ControlAccess
}
