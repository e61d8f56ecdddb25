package io.github.pulsarspark.write.exactlyonce

import io.github.pulsarspark.pulsar.transactions.TransactionId

/** What a driver does with the transactions of an epoch. */
private[exactlyonce] sealed trait EpochDecision

private[exactlyonce] object EpochDecision {

  /** The epoch is written: abort what its second run sent. */
  case object Discard extends EpochDecision

  /** Nothing to commit, but the epoch is over. */
  case object Advance extends EpochDecision

  /** Record the transactions, then commit them. */
  case object Prepare extends EpochDecision

  /** The state contradicts the epoch: no record, no commit, no abort. */
  final case class Refuse(problem: String, action: String) extends EpochDecision

  /** @param startsAtZero
    *   whether the epochs of the sink are counted from 0, so that a later one has predecessors
    */
  def apply(log: SinkLog, epoch: Long, transactions: Seq[SinkTransaction], startsAtZero: Boolean): EpochDecision =
    if (log.prepared.isDefined)
      Refuse(s"epoch ${log.prepared.get.epoch} is not finished, but epoch $epoch follows", "Start the write again")
    else if (log.done.exists(_ >= epoch)) Discard
    else if (startsAtZero && epoch > 0 && log.done.isEmpty) missing(epoch)
    else if (transactions.isEmpty) Advance
    else Prepare

  private def missing(epoch: Long) = Refuse(
    s"its log is empty, but the next epoch is $epoch: the topics with its state were deleted, or the checkpoint was " +
      "used without exactly-once before, so earlier epochs may be written already",
    "Use a new checkpoint, and start where the old one ended"
  )

  /** The open transactions that nobody will ever commit.
    *
    * @param open
    *   what tasks registered and nobody ended, as far as it was read
    * @param owners
    *   this driver and those before it: what tasks of a later driver opened is not ours
    * @param prepared
    *   the transactions of the epoch that is recorded
    */
  def orphans(open: Seq[OpenTransaction], owners: Set[String], epoch: Long, prepared: Set[TransactionId])
      : Seq[OpenTransaction] =
    open.filter(o => owners(o.owner) && o.epoch <= epoch && !prepared(o.id))

  /** What became of a recorded epoch, once each of its transactions is decided. */
  def outcome(transactions: Seq[SinkTransaction], committed: Set[TransactionId]): EpochOutcome =
    transactions.filterNot(t => committed(t.id)) match {
      case Nil                                    => EpochOutcome.Committed
      case lost if lost.size == transactions.size => EpochOutcome.Dropped
      case lost                                   => EpochOutcome.Torn(lost)
    }
}

/** What became of an epoch whose transactions were recorded. */
private[exactlyonce] sealed trait EpochOutcome

private[exactlyonce] object EpochOutcome {
  case object Committed extends EpochOutcome

  /** None was committed, and none will be: the epoch can be run again. */
  case object Dropped extends EpochOutcome

  /** Some were committed. */
  final case class Torn(lost: Seq[SinkTransaction]) extends EpochOutcome
}
