package io.github.pulsarspark.write.exactlyonce

/** Action for a recorded epoch of which a part is committed and the rest is lost for ever. */
private[write] sealed trait TornEpoch

private[write] object TornEpoch {

  /** Fail: a person has to decide. */
  case object Refuse extends TornEpoch

  /** The epoch counts as written, without the lost rows. */
  final case class AcceptLost(epoch: Long) extends TornEpoch

  /** The epoch is written again as a whole, so the committed rows are there twice. */
  final case class AcceptRepeated(epoch: Long) extends TornEpoch
}
