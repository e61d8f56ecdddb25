package io.github.pulsarspark.write.exactlyonce

/** What became of an epoch whose transactions were recorded. */
private[exactlyonce] sealed trait EpochOutcome

private[exactlyonce] object EpochOutcome {
  case object Committed extends EpochOutcome

  /** None was committed, and none will be: the epoch can be run again. */
  case object Dropped extends EpochOutcome

  /** Some were committed. */
  final case class Torn(lost: Seq[SinkTransaction]) extends EpochOutcome
}
