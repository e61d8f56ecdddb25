package io.github.pulsarspark.write.exactlyonce

/** What the log of a sink says, from its first record that is there.
  *
  * @param nonce
  *   None for an empty log
  * @param owners
  *   whose records it has
  * @param prepared
  *   the epoch whose transactions are decided, but not all known to be committed
  * @param done
  *   the last epoch that is committed
  */
private[exactlyonce] final case class SinkLog(
    nonce: Option[String] = None,
    owners: Set[String] = Set.empty,
    prepared: Option[SinkRecord.Prepared] = None,
    done: Option[Long] = None
) {
  import SinkRecord._

  def +(entry: (SinkIdentity, SinkRecord)): SinkLog = {
    val known = copy(nonce = Some(entry._1.nonce), owners = owners + entry._1.owner)
    entry._2 match {
      case p: Prepared          => known.copy(prepared = Some(p))
      case Done(epoch, _, _, _) =>
        known.copy(prepared = prepared.filter(_.epoch != epoch), done = Some(done.fold(epoch)(_.max(epoch))))
      case Dropped(epoch) => known.copy(prepared = prepared.filter(_.epoch != epoch))
      case _              => known
    }
  }
}
