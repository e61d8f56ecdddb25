package io.github.pulsarspark.policy

/** Port at which a host is called, as far as it is known. */
private[pulsarspark] sealed trait CalledPort

private[pulsarspark] object CalledPort {

  final case class At(port: Int) extends CalledPort

  /** A port that was checked before, together with the host; its name alone counts now. */
  case object Checked extends CalledPort

  /** A port that nobody says: the host has to be listed with all of them. */
  case object Unknown extends CalledPort
}
