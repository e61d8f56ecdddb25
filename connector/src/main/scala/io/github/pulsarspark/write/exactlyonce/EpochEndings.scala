package io.github.pulsarspark.write.exactlyonce

import java.util.UUID

import scala.annotation.tailrec
import scala.concurrent.duration._

import org.slf4j.LoggerFactory

import io.github.pulsarspark.errors.Conditions
import io.github.pulsarspark.pulsar.transactions.{CommitAnswer, TransactionId}

/** Proves that the transactions of an epoch can be committed, commits them, and finds out the outcome of those whose
  * responses prove nothing.
  *
  * @param patience
  *   how long the transactions of an epoch may stay undecided
  * @param onTorn
  *   for an epoch of which a part is lost for ever
  */
private[exactlyonce] final class EpochEndings(
    settings: SinkSettings,
    identity: SinkIdentity,
    cluster: SinkCluster,
    patience: FiniteDuration,
    onTorn: TornEpoch = TornEpoch.Refuse
) {
  import EpochEndings._
  import SinkRecord._

  /** True if some of these transactions have ended, or too little time is left to commit all.
    *
    * @param age
    *   upper bound of the age of the oldest one
    */
  def isTooLate(epoch: Long, ids: Seq[TransactionId])(age: => FiniteDuration): Boolean = {
    val lost = cluster.lost(ids)
    val left = settings.timeout - age
    log.warn("Sink {}: txnTimeout leaves {} s of {} s to commit epoch {}", settings.sinkId, left.toSeconds,
      settings.timeout.toSeconds, epoch)
    lost.headOption.foreach(one =>
      log.warn("Sink {}: {} transactions of epoch {} have ended: {}", settings.sinkId, lost.size, epoch, one._2)
    )
    lost.nonEmpty || left < patience.min(settings.timeout / 10)
  }

  /** The second run of an epoch, or of an earlier one. */
  def warnSkipped(epoch: Long, rows: Long, last: WrittenEpoch): Unit =
    log.warn(
      "Sink {}: epoch {} has no effect, and {} rows are skipped. Epoch {} is written{}",
      settings.sinkId,
      epoch,
      rows,
      last.epoch,
      last.rows.fold("")(n => s", with $n rows")
    )

  /** The epoch is not in the topic and can be run again. */
  def dropped(epoch: Long, transactions: Int): Exception = Conditions.SinkEpochDropped(epoch = epoch.toString,
    sink = settings.sinkId, count = transactions.toString).exception

  /** The epoch is in the topic but for these transactions. */
  def torn(prepared: Prepared, lost: Seq[SinkTransaction]): Exception = {
    val shown = lost.take(MaxShown).map(t => s"${t.rows} rows of partition ${t.partition}")
    Conditions.SinkEpochTorn(
      epoch = prepared.epoch.toString,
      sink = settings.sinkId,
      committed = (prepared.transactions.size - lost.size).toString,
      lost = (shown ++ Option.when(lost.size > MaxShown)(s"${lost.size - MaxShown} more")).mkString(", ")
    ).exception
  }

  /** Commits the transactions; returns those that are committed, when all the others are proved to be aborted, and how
    * many were not certain at first.
    *
    * @param topicPartitions
    *   of the write, to be freed from late messages
    * @param abortOthers
    *   runs first in each round: an attempt that has begun since would hide the evidence after its marker
    */
  def resolve(prepared: Prepared, topicPartitions: () => Seq[String])(abortOthers: => Unit)
      : (Set[TransactionId], Int) = {
    val deadline = System.nanoTime() + patience.toNanos

    @tailrec
    def attempt(left: Seq[TransactionId], before: Set[TransactionId]): (Set[TransactionId], Int) = {
      abortOthers
      val answers   = left.zip(cluster.commit(left))
      val committed = before ++ answers.collect { case (id, CommitAnswer.Committed) => id }
      answers.collectFirst { case (id, CommitAnswer.NotOwner(cause)) =>
        throw Conditions.TransactionNotOwned(transaction = id.toString, cause = cause).exception
      }
      val uncertain = answers.collect { case (id, CommitAnswer.Uncertain(cause)) =>
        log.info("transaction {} of sink {}: {}", id, settings.sinkId, cause)
        id
      }
      if (uncertain.isEmpty) (committed, 0)
      else
        evidence(prepared.from) match {
          case Some(marked) =>
            proveEnds(prepared.epoch, uncertain.filter(marked), topicPartitions)
            (committed ++ uncertain.filter(marked), uncertain.size)
          case None if System.nanoTime() >= deadline =>
            throw Conditions.SinkEpochUndecided(epoch = prepared.epoch.toString, sink = settings.sinkId,
              count = uncertain.size.toString, waited = patience.toMillis.toString, action = wayOut).exception
          case None =>
            cluster.sweep(uncertain, topicPartitions()) // a late marker may hide the barrier
            attempt(uncertain, committed)
        }
    }
    attempt(prepared.transactions.map(_.id), Set.empty)
  }

  /** Fails where a transaction whose marker is readable can end nowhere else: in topic partitions that are terminated.
    */
  private def proveEnds(epoch: Long, ids: Seq[TransactionId], topicPartitions: () => Seq[String]): Unit = {
    val ending     = if (onTorn == TornEpoch.AcceptLost(epoch)) Nil else cluster.ending(ids)
    val terminated = if (ending.isEmpty) Nil else cluster.terminated(topicPartitions())
    if (terminated.nonEmpty) throw Conditions.SinkTopicTerminated(epoch = epoch.toString, sink = settings.sinkId,
      count = ending.size.toString, topics = terminated.take(MaxShown).mkString(", ")).exception
  }

  private def wayOut =
    if (settings.isForever) "Start the write again: it commits them. Nothing is lost or repeated"
    else
      s"`pulsar-spark sink repair ${settings.sinkId}` commits them. Do not run the job again before: its rows would " +
        "be there twice. With sinkId and txnVersion a second run does both"

  /** The transactions whose markers are readable before a new barrier; None while that is not readable itself. */
  private def evidence(from: String): Option[Set[TransactionId]] = {
    val barrier = SinkRecords.text(identity, Barrier(UUID.randomUUID.toString))
    cluster.barrier(barrier)
    cluster.markers(from, barrier, patience / 4).map { records =>
      if (!records.headOption.exists(_._1 == from))
        throw Conditions.SinkTopic(topic = settings.topics.mark, cause = s"its record $from is gone").exception
      records.flatMap(r => SinkRecords.parse(r._2)).collect { case (_, Marker(_, one)) => one.id }.toSet
    }
  }
}

private object EpochEndings {
  private val log = LoggerFactory.getLogger(classOf[EpochEndings])

  /** Partitions that an error names. */
  private val MaxShown = 20
}
