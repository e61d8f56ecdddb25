package io.github.pulsarspark.write.exactlyonce

import java.util.UUID

import scala.concurrent.duration._
import scala.util.control.NonFatal

import org.slf4j.LoggerFactory

import io.github.pulsarspark.errors.Conditions
import io.github.pulsarspark.options.OnSinkMismatch
import io.github.pulsarspark.pulsar.transactions.{ControlAccess, TransactionId}

/** The driver of a sink: decides which transactions of an epoch are committed, and records that first. It outlives an
  * epoch. docs/develop/exactly-once.md describes the protocol.
  *
  * @param patience
  *   how long the transactions of an epoch may stay undecided
  * @param nanos
  *   the clock, as `System.nanoTime`
  * @param onTorn
  *   for a torn epoch that an earlier driver left
  */
private[write] final class SinkCoordinator private[exactlyonce] (
    settings: SinkSettings,
    cluster: SinkCluster,
    patience: FiniteDuration,
    nanos: () => Long = () => System.nanoTime(),
    onTorn: TornEpoch = TornEpoch.Refuse
) extends AutoCloseable {
  import SinkCoordinator._
  import SinkRecord._

  private val identity = SinkIdentity(settings.sinkId, settings.nonce, UUID.randomUUID.toString)
  private val open     = new OpenTransactions
  private val endings  = new EpochEndings(settings, identity, cluster, patience, onTorn)

  private var log             = SinkLog()
  private var from            = ""      // a readable record of the marker topic before all that follow
  private var topicPartitions = Set.empty[String]
  private var isOwner         = false   // has taken the sink over
  private var isUncertain     = false   // the last record may be stored or not, so nothing may be aborted
  private var isStopped       = false   // only a new start goes on
  private var totals          = SinkTotals()
  private var began           = nanos() // no transaction of the epoch began before
  private var hasWritten      = false   // an epoch of this life, not one that it found
  private var lastDone        = Option.empty[String]
  private var hasEnded        = false   // the state of the sink

  /** State of the driver that a task of the next epoch needs. Its transactions begin after this call. */
  def task: SinkTask = synchronized {
    began = nanos()
    SinkTask(settings, identity, written.map(_.epoch))
  }

  /** The last epoch that is written and is not to be written again. */
  private def written: Option[WrittenEpoch] =
    if (isTakingOn) None
    else if (settings.startsAtZero) log.written(settings.target)
    else log.done(settings.target)

  /** True if the next epoch is written even if it does not follow the last one of the log. */
  private def isTakingOn = takesOn && !hasWritten

  /** True if the epochs of this driver follow each other, whatever the log contained before. */
  private def takesOn = settings.onMismatch == OnSinkMismatch.Write

  /** Totals since the start. */
  def now: SinkTotals = synchronized(totals.copy(open = open.count, oldestOpen = open.oldest))

  /** True if [[close]] has removed the state of a sink that is needed no more. */
  private[exactlyonce] def isRemoved: Boolean = synchronized(hasEnded)

  /** True if the coordinator can commit. */
  def isUsable: Boolean = synchronized(!isStopped)

  /** Takes the sink over, finishes what an earlier driver recorded and aborts everything else.
    *
    * @return
    *   the recorded epoch that was not finished, and what became of it
    */
  private[exactlyonce] def start(): Option[(Prepared, EpochOutcome)] = synchronized(stoppingOnFailure {
    cluster.check()
    val records = cluster.takeOver { r => admitted(r); () }
    log = admitted(records)
    topicPartitions = log.topicPartitions.toSet
    isOwner = true
    lastDone = records.findLast(r => SinkRecords.parse(r._2).exists(_._2.isInstanceOf[Done])).map(_._1)
    log_.info("Sink {} keeps its state in {}", settings.sinkId, settings.topics)
    open.add(readable(cluster.opened(), "-open"))
    val _ = append(Owner(settings.target)) // none took over before, so all open transactions are of earlier drivers
    from = cluster.barrier(text(Barrier(UUID.randomUUID.toString)))
    abortOrphans(Long.MaxValue, open.owners, log.prepared)
    log.prepared.map(p => p -> finish(p, None))
  })

  /** Fails for the log of another query, and for one that this version cannot read. */
  private def admitted(records: Seq[(String, String)]): SinkLog = {
    val result = SinkLog.of(readable(records, "-log"))
    if (!result.belongsTo(settings.nonce))
      refuse(s"its state belongs to ${result.nonce.mkString}, not to ${settings.nonce}",
        "Use another sinkId, or the checkpoint that the state belongs to")
    result
  }

  /** Commits the transactions of an epoch. An epoch that was committed before is committed once nevertheless. */
  def commit(epoch: Long, commits: Seq[SinkCommit]): Unit = synchronized {
    if (isStopped) refuse("an earlier attempt to record something failed", "Start the write again")
    val transactions = commits.flatMap(_.transaction)
    topicPartitions ++= commits.flatMap(_.topicPartitions)
    val rows       = commits.map(_.skipped).sum + transactions.map(_.rows).sum
    val isSequence = settings.startsAtZero && settings.onMismatch == OnSinkMismatch.Fail
    val prepared   = log.prepared.map(_.epoch)
    val decision   =
      if (!isTakingOn) EpochDecision(prepared, written, epoch, transactions, rows, isSequence)
      else EpochDecision.takingOn(prepared, log.written(settings.target),
        log.last.exists(_.isTakenOn), epoch, transactions, rows)
    decision match {
      case EpochDecision.Refuse(problem, action) => refuse(problem, action)
      case EpochDecision.Discard(last)           =>
        endings.warnSkipped(epoch, rows, last)
        totals = totals.copy(skipped = totals.skipped + rows)
        stoppingOnFailure(abortOrphans(epoch, log.owners, None))
      case EpochDecision.Advance =>
        stoppingOnFailure {
          val recorded = append(log.next(Prepared(epoch, Nil, from, settings.target, Nil, takesOn), Nil))
          hasWritten = true
          abortOrphans(epoch, log.owners, None)
          cluster.release(log = before(recorded), open.released, mark = None)
        }
      case EpochDecision.Prepare =>
        stoppingOnFailure {
          val ended = cluster.ended(EpochDecision.oldest(transactions)) // responses come while this reads
          open.add(cluster.opened())
          transactions.find(t => !open.contains(t.id)).foreach(t =>
            refuse(s"transaction ${t.id} of epoch $epoch is not open", "Start the write again: it runs the epoch again")
          )
          proveOpen(epoch, transactions, ended())
          val named    = commits.flatMap(_.topicPartitions).distinct.sorted.take(SinkSettings.MaxNamed)
          val kept     = if (settings.topic.isEmpty) named else Nil
          val prepared = Prepared(epoch, transactions, from, settings.target, kept, takesOn)
          finish(prepared, Some(append(prepared)))
          hasWritten = true
        }
    }
  }

  /** Fails before the record when a transaction is not open, or will time out soon: what is left of its epoch is
    * aborted. Without a time-out after the proof, an epoch is never written in part. Clocks of brokers may jump, so the
    * oldest ones are proved at any age.
    */
  private def proveOpen(epoch: Long, transactions: Seq[SinkTransaction], ended: Seq[TransactionId]): Unit = {
    def age    = (nanos() - began).nanos
    val ids    = transactions.map(_.id)
    def isLate = age >= settings.timeout / 2 && endings.isTooLate(epoch, ids)(open.age(ids).fold(age)(_.min(age)))
    if (ended.nonEmpty || isLate) {
      append(Barrier(UUID.randomUUID.toString)): Unit // fails if another driver took over, which aborts them
      abortOrphans(epoch, log.owners, None)
      throw endings.dropped(epoch, transactions.size)
    }
  }

  /** Aborts what the tasks of an epoch sent, unless it may be recorded. */
  def abort(epoch: Long): Unit = synchronized {
    if (isSettled) abortOrphans(epoch, log.owners, None)
  }

  /** Aborts late attempts of epochs that are written, which would hide what follows them until they time out. Never
    * fails.
    */
  private[exactlyonce] def tidy(): Unit = synchronized {
    try if (!isStopped && isSettled) written.foreach(w => abortOrphans(w.epoch, log.owners, None))
    catch { case NonFatal(e) => log_.warn("looking for late transactions of sink {}: {}", settings.sinkId, e.toString) }
  }

  /** True if no open transaction will ever be committed. */
  private def isSettled: Boolean = isOwner && !isUncertain && log.prepared.isEmpty

  private def text(record: SinkRecord): String = SinkRecords.text(identity, record)

  private def refuse(problem: String, action: String): Nothing =
    throw Conditions.SinkState(sink = settings.sinkId, problem = problem, action = action).exception

  /** Fails for a record of a later version, or a damaged one: it may say what was decided. */
  private def readable(records: Seq[(String, String)], topic: String): Seq[(String, String)] = {
    records.find(r => SinkRecords.parse(r._2).isEmpty).foreach { case (id, _) =>
      throw SinkRecords.unreadable(settings.sinkId, id, topic)
    }
    records
  }

  private def stoppingOnFailure[A](body: => A): A =
    try body
    catch {
      case e: Throwable =>
        isStopped = true
        throw e
    }

  private def append(record: SinkRecord): String = {
    val id =
      try cluster.append(text(record))
      catch {
        case e: Throwable =>
          isUncertain = !Conditions.MessageTooLarge.is(e)
          throw e
      }
    log += identity -> record
    id
  }

  private def before(done: String): Option[String] = {
    val result = lastDone
    lastDone = Some(done)
    result
  }

  /** @param recordId where the epoch is recorded, if this driver did it */
  private def finish(prepared: Prepared, recordId: Option[String]): EpochOutcome = {
    val (committed, resolved) = endings.resolve(prepared, () => topicPartitions.toSeq.sorted)(
      abortOrphans(prepared.epoch, log.owners, Some(prepared))
    )
    totals = totals.copy(resolved = totals.resolved + resolved)
    open.ended(prepared.transactions.map(_.id).toSet)
    val outcome = EpochDecision.outcome(prepared.transactions, committed)
    (outcome, onTorn) match {
      case (EpochOutcome.Committed, _)                                                => finished(prepared, Nil)
      case (EpochOutcome.Torn(lost), TornEpoch.AcceptLost(e)) if e == prepared.epoch  => finished(prepared, lost)
      case (EpochOutcome.Torn(_), TornEpoch.AcceptRepeated(e)) if e == prepared.epoch => append(Dropped(e))
      case (EpochOutcome.Torn(lost), _) => throw endings.torn(prepared, lost)
      case (EpochOutcome.Dropped, _)    => append(Dropped(prepared.epoch))
    }
    recordId.foreach(_ =>
      if (outcome == EpochOutcome.Dropped) throw endings.dropped(prepared.epoch, prepared.transactions.size)
      else from = prepared.transactions.flatMap(_.marker).maxByOption(place).getOrElse(from)
    )
    outcome
  }

  private def finished(prepared: Prepared, lost: Seq[SinkTransaction]): String = {
    val recorded = append(log.next(prepared, lost))
    totals = totals.committed(prepared.transactions.diff(lost))
    cluster.release(before(recorded), open.released, mark = Some(prepared.from))
    recorded
  }

  private def abortOrphans(epoch: Long, earlier: Set[String], prepared: Option[Prepared]): Unit = {
    open.add(cluster.opened())
    val kept    = prepared.toSeq.flatMap(_.transactions).map(_.id).toSet
    val orphans = EpochDecision.orphans(open.all, identity.owner, earlier, epoch, kept).map(_.id)
    if (orphans.nonEmpty) {
      val ended = cluster.abort(orphans)
      open.ended(ended)
      totals = totals.copy(aborted = totals.aborted + ended.size)
      cluster.sweep(orphans, topicPartitions.toSeq.sorted)
    }
  }

  /** Aborts what is open of this driver and those before it, unless it may be recorded. */
  override def close(): Unit = synchronized {
    try
      if (isSettled) {
        abortOrphans(Long.MaxValue, log.owners, None)
        if (!settings.isForever && open.all.isEmpty) {
          cluster.end()
          hasEnded = true
        }
      }
    catch { case NonFatal(e) => log_.warn("ending sink {}: {}", settings.sinkId, e.toString) }
    finally {
      isStopped = true
      cluster.close()
    }
  }
}

private[write] object SinkCoordinator {
  private val log_ = LoggerFactory.getLogger(classOf[SinkCoordinator])

  /** Takes over a sink. Fails with the reason when it cannot be written exactly once. */
  def apply(settings: SinkSettings): SinkCoordinator = {
    val result = opened(settings, ControlAccess.Fencing, TornEpoch.Refuse)
    try {
      result.start()
      result
    } catch { case e: Throwable => result.close(); throw e }
  }

  /** Creates a coordinator that has not started. */
  private[exactlyonce] def opened(settings: SinkSettings, access: ControlAccess, onTorn: TornEpoch): SinkCoordinator =
    new SinkCoordinator(settings, new PulsarSinkCluster(settings, access), settings.client.operationTimeout * 4,
      onTorn = onTorn)

  private def place(id: String): (Long, Long) = (id.takeWhile(_ != ':').toLong, id.dropWhile(_ != ':').drop(1).toLong)
}
