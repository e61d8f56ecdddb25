package io.github.pulsarspark.write.exactlyonce.status

import java.time.{Duration, Instant}

import io.github.pulsarspark.pulsar.transactions.TransactionId
import io.github.pulsarspark.write.exactlyonce.{DatedRecord, SinkIdentity, SinkLog, SinkRecord, SinkTransaction}

/** State of a sink as its records describe it, with what the cluster reports of it. Pure.
  *
  * @param namespace
  *   of its topics
  * @param log
  *   records of the log; `opened` and `marked` are those of the other topics
  * @param drivers
  *   names and addresses of the producers of the log; None if they are not known
  * @param running
  *   open transactions of the cluster; None if they are not known
  */
private[exactlyonce] final case class SinkStatus(
    namespace: String,
    log: Seq[DatedRecord],
    opened: Seq[DatedRecord],
    marked: Seq[DatedRecord],
    drivers: Option[Seq[String]],
    running: Option[Map[TransactionId, RunningTransaction]],
    now: Instant
) {
  import SinkRecord._

  private val state    = log.foldLeft(SinkLog())((all, one) => all + (one.identity -> one.record))
  private val ended    = marked.map(_.record).collect { case Marker(_, one) => one.id }.toSet
  private val prepared = state.prepared.flatMap(epoch => log.findLast(_.record == epoch).map(_ -> epoch))

  /** The sink first, then drivers, epochs and transactions. */
  def facts: Seq[SinkFact] = sink +: (driversFound ++ done ++ preparedEpoch ++ undecided)

  private def sink: SinkFact = {
    val taken = log.findLast(_.record.isInstanceOf[Owner])
    SinkFact("sink", namespace = Some(namespace), owner = taken.map(_.identity.owner), time = taken.map(_.time),
      detail = state.nonce)
  }

  private def driversFound: Seq[SinkFact] = drivers match {
    case None        => Seq(SinkFact("driver", state = Some("unknown")))
    case Some(found) => found.map(one => SinkFact("driver", state = Some("connected"), detail = Some(one)))
  }

  private def done: Option[SinkFact] = log.collect { case DatedRecord(by, one: Done, time) =>
    epochOf("done", one.epoch, by, time, one.transactions, one.rows).copy(lost = Some(one.lost))
  }.lastOption

  private def preparedEpoch: Seq[SinkFact] = prepared.toSeq.flatMap { case (record, one) =>
    val all = one.transactions
    epochOf("prepared", one.epoch, record.identity, record.time, all.size, all.map(_.rows).sum) +:
      all.map(transaction("transaction", one.epoch, _))
  }

  private def epochOf(record: String, epoch: Long, by: SinkIdentity, time: Instant, transactions: Int, rows: Long) =
    SinkFact(record, epoch = Some(epoch), owner = Some(by.owner), time = Some(time), transactions = Some(transactions),
      rows = Some(rows))

  /** Registered transactions that no epoch has decided and that are open. If open ones are not known: those of epochs
    * after the last finished one, which may be open.
    */
  private def undecided: Seq[SinkFact] = {
    val decided = prepared.toSeq.flatMap(_._2.transactions).map(_.id).toSet ++ ended
    val last    = state.last.fold(-1L)(_.epoch)
    opened.map(_.record).collect { case one: Open if !decided(one.transaction.id) => one }
      .filter(one => running.fold(one.epoch > last)(_.contains(one.transaction.id)))
      .map(one => transaction("open", one.epoch, one.transaction))
  }

  private def transaction(record: String, epoch: Long, one: SinkTransaction): SinkFact = {
    val known = running.flatMap(_.get(one.id))
    SinkFact(
      record,
      epoch = Some(epoch),
      rows = Some(one.rows),
      most = Some(one.id.most),
      least = Some(one.id.least),
      partition = Some(one.partition),
      attempt = Some(one.attempt),
      state = Some(stateOf(one.id)),
      age = known.map(t => Duration.between(t.began, now).toMillis),
      left = known.map(t => Duration.between(now, t.began.plus(t.timeout)).toMillis.max(0))
    )
  }

  /** An ended transaction without a marker was probably aborted. */
  private def stateOf(id: TransactionId): String =
    if (ended(id)) "committed" else running.fold("unknown")(open => if (open.contains(id)) "open" else "ended")
}

/** An open transaction as its coordinator reports it.
  *
  * @param timeout
  *   after which the coordinator aborts it
  */
private[exactlyonce] final case class RunningTransaction(began: Instant, timeout: Duration)
