package io.github.pulsarspark.write.exactlyonce

/** State of a sink by the records of its log, from the first one that exists.
  *
  * @param nonce
  *   the checkpoint, or kind of batch, that the sink belongs to; None for an empty log
  * @param owners
  *   coordinators whose records it has
  * @param prepared
  *   the epoch whose transactions are decided, but not all known to be committed
  * @param last
  *   the last epoch that is committed
  * @param target
  *   of the newest record that has one
  * @param topicPartitions
  *   of the newest record of an epoch, where rows name their topics
  */
private[exactlyonce] final case class SinkLog(
    nonce: Option[String] = None,
    owners: Set[String] = Set.empty,
    prepared: Option[SinkRecord.Prepared] = None,
    last: Option[SinkRecord.Done] = None,
    target: String = "",
    topicPartitions: Seq[String] = Nil
) {
  import SinkRecord._

  /** The last epoch that is committed to a target. */
  def done(target: String): Option[WrittenEpoch] = last.filter(d => d.target == target || d.target.isEmpty) match {
    case Some(d) => Some(WrittenEpoch(d.epoch, Some(d.rows)))
    case None    =>
      for (d <- last; epoch <- d.others.get(target).orElse(d.others.get(""))) yield WrittenEpoch(epoch, None)
  }

  /** The last epoch that is committed, as a stream sees it that writes to this target. */
  def written(to: String): Option[WrittenEpoch] = last.map { d =>
    WrittenEpoch(d.epoch, Some(d.rows), Some(d.target).filter(t => t.nonEmpty && t != to))
  }

  /** True if a sink of this nonce may continue the log. Batches of early versions named neither their query nor their
    * target.
    */
  def belongsTo(other: String): Boolean = {
    val isEarly = target.isEmpty
    nonce.forall(own => own == other || isEarly && own == SinkSettings.Versions && other.startsWith(s"$own:"))
  }

  /** The record of an epoch that is committed after those of this log. */
  def next(prepared: Prepared, lost: Seq[SinkTransaction]): Done = Done(
    prepared.epoch,
    prepared.transactions.size,
    prepared.transactions.map(_.rows).sum,
    prepared.transactions.map(_.bytes).sum,
    prepared.target,
    last.fold(Map.empty[String, Long])(_.targets) - prepared.target,
    lost.map(_.rows).sum,
    prepared.isTakenOn
  )

  def +(entry: (SinkIdentity, SinkRecord)): SinkLog = {
    val known = copy(nonce = Some(entry._1.nonce), owners = owners + entry._1.owner,
      target = Some(targetOf(entry._2)).filter(_.nonEmpty).getOrElse(target))
    entry._2 match {
      case p: Prepared    => known.copy(prepared = Some(p), topicPartitions = p.topicPartitions)
      case d: Done        => known.copy(prepared = prepared.filter(_.epoch != d.epoch), last = Some(d))
      case Dropped(epoch) => known.copy(prepared = prepared.filter(_.epoch != epoch))
      case _              => known
    }
  }

  private def targetOf(record: SinkRecord): String = record match {
    case Owner(of)   => of
    case p: Prepared => p.target
    case d: Done     => d.target
    case _           => ""
  }
}

private[exactlyonce] object SinkLog {

  /** @param records
    *   what was read of the topic, each with its id
    */
  def of(records: Seq[(String, String)]): SinkLog =
    records.flatMap(r => SinkRecords.parse(r._2)).foldLeft(SinkLog())(_ + _)
}

/** An epoch that is committed.
  *
  * @param rows
  *   None where the log does not say it any more
  * @param elsewhere
  *   the other target that a stream wrote it to
  */
private[exactlyonce] final case class WrittenEpoch(epoch: Long, rows: Option[Long], elsewhere: Option[String] = None)
