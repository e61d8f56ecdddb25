package io.github.pulsarspark.write.exactlyonce

import io.github.pulsarspark.pulsar.transactions.TransactionId

/** Decision of a driver about the transactions of an epoch. */
private[exactlyonce] sealed trait EpochDecision

private[exactlyonce] object EpochDecision {

  /** The epoch is written: abort what its second run sent. */
  final case class Discard(written: WrittenEpoch) extends EpochDecision

  /** Record the end of the epoch, which has nothing to commit. */
  case object Advance extends EpochDecision

  /** Record the transactions, then commit them. */
  case object Prepare extends EpochDecision

  /** The state contradicts the epoch: no record, no commit, no abort. */
  final case class Refuse(problem: String, action: String) extends EpochDecision

  /** @param prepared
    *   the epoch that is not finished
    * @param done
    *   the last epoch that is written
    * @param rows
    *   that the tasks have now, sent or not
    * @param isSequence
    *   whether epochs are counted from 0, each once, so that one repeats the last or is the next
    */
  def apply(
      prepared: Option[Long],
      done: Option[WrittenEpoch],
      epoch: Long,
      transactions: Seq[SinkTransaction],
      rows: Long,
      isSequence: Boolean
  ): EpochDecision = (prepared, done) match {
    case (Some(other), _) =>
      Refuse(s"epoch $other is not finished, but epoch $epoch follows", "Start the write again")
    case (_, Some(last)) if last.epoch == epoch && isSequence && last.elsewhere.isDefined     => elsewhere(last)
    case (_, Some(last)) if last.epoch == epoch && isSequence && !last.rows.forall(_ == rows) => changed(last, rows)
    case (_, Some(last)) if last.epoch > epoch && isSequence     => behind(last.epoch, epoch)
    case (_, Some(last)) if last.epoch >= epoch                  => Discard(last)
    case (_, Some(last)) if last.epoch + 1 < epoch && isSequence => ahead(last.epoch, epoch)
    case (_, None) if epoch > 0 && isSequence                    => missing(epoch)
    case _ if transactions.isEmpty                               => Advance
    case _                                                       => Prepare
  }

  /** Like `apply`, but for the first epoch of a driver that continues with `onSinkMismatch=write`: an epoch that would
    * be refused is written.
    *
    * @param isTakenOn
    *   whether the last epoch was written by such a driver, so that it may be repeated as it was
    */
  def takingOn(
      prepared: Option[Long],
      done: Option[WrittenEpoch],
      isTakenOn: Boolean,
      epoch: Long,
      transactions: Seq[SinkTransaction],
      rows: Long
  ): EpochDecision = apply(prepared, done.filter(_ => isTakenOn), epoch, transactions, rows, isTakenOn) match {
    case _: Refuse if prepared.isEmpty => apply(None, None, epoch, transactions, rows, isSequence = false)
    case usual                         => usual
  }

  private val WaysOut = "Put the newest checkpoint back. Or start once with onSinkMismatch=write, which writes the " +
    "rows from the checkpoint on, some of which the topic may have; or with onSinkMismatch=skip, which skips epochs " +
    "that the sink has, whose rows may be others now"

  private def behind(last: Long, epoch: Long) = Refuse(
    s"the next epoch of the checkpoint is $epoch, but the sink has those up to $last: the checkpoint was restored " +
      "from an older copy, and its next epochs have other rows than those that were written",
    WaysOut
  )

  private def elsewhere(last: WrittenEpoch) = Refuse(
    s"epoch ${last.epoch} was written to ${last.elsewhere.mkString}, so its rows are not in this topic: another " +
      "query uses a copy of the checkpoint, or the option `topic` was changed",
    WaysOut
  )

  private def changed(last: WrittenEpoch, rows: Long) = Refuse(
    s"epoch ${last.epoch} was written with ${last.rows.mkString} rows and has $rows now: the checkpoint was restored " +
      "from an older copy, or the query was changed",
    WaysOut
  )

  private def ahead(last: Long, epoch: Long) = Refuse(
    s"the next epoch is $epoch, but the last one that the sink has is $last: those between were written without " +
      "exactly-once, or to another sink, so this one may be written already",
    WaysOut
  )

  private def missing(epoch: Long) = Refuse(
    s"its log is empty, but the next epoch is $epoch: the topics with its state were deleted, or are in another " +
      "cluster, or were emptied by a " +
      "message TTL or an expiry of subscriptions, or the checkpoint was " +
      "used without exactly-once before, so earlier epochs may be written already",
    "Use a new checkpoint, and start where the old one ended. Or start once with onSinkMismatch=write"
  )

  /** The open transactions that no driver will commit.
    *
    * @param open
    *   transactions that tasks registered and that have not ended, as far as the topic was read
    * @param own
    *   this driver, whose tasks may run a later epoch
    * @param earlier
    *   those before it. Their epochs may have larger numbers, as a checkpoint may have gone back. What tasks of a later
    *   driver opened is not ours
    * @param prepared
    *   the transactions of the epoch that is recorded
    */
  def orphans(
      open: Seq[OpenTransaction],
      own: String,
      earlier: Set[String],
      epoch: Long,
      prepared: Set[TransactionId]
  ): Seq[OpenTransaction] =
    open.filter(o => (if (o.owner == own) o.epoch <= epoch else earlier(o.owner)) && !prepared(o.id))

  /** The transactions that time out first, one of each coordinator: all have the same time, and a coordinator counts
    * their ids up.
    */
  def oldest(transactions: Seq[SinkTransaction]): Seq[TransactionId] =
    transactions.map(_.id).groupMapReduce(_.coordinator)(identity)((a, b) => if (a.least < b.least) a else b).values
      .toSeq

  /** Outcome of a recorded epoch, once each of its transactions is decided. */
  def outcome(transactions: Seq[SinkTransaction], committed: Set[TransactionId]): EpochOutcome =
    transactions.filterNot(t => committed(t.id)) match {
      case Nil                                    => EpochOutcome.Committed
      case lost if lost.size == transactions.size => EpochOutcome.Dropped
      case lost                                   => EpochOutcome.Torn(lost)
    }
}

/** Outcome of an epoch whose transactions were recorded. */
private[exactlyonce] sealed trait EpochOutcome

private[exactlyonce] object EpochOutcome {
  case object Committed extends EpochOutcome

  /** No transaction was committed, and none will be: the epoch can be run again. */
  case object Dropped extends EpochOutcome

  /** A part of the transactions was committed. */
  final case class Torn(lost: Seq[SinkTransaction]) extends EpochOutcome
}
