package io.github.pulsarspark.write.exactlyonce

import java.util.UUID

import scala.annotation.tailrec
import scala.concurrent.duration._
import scala.util.control.NonFatal

import org.slf4j.LoggerFactory

import io.github.pulsarspark.errors.Conditions
import io.github.pulsarspark.pulsar.transactions.{CommitAnswer, TransactionId}

/** The driver of a sink: decides which transactions of an epoch are committed, and records that first. It outlives an
  * epoch. docs/develop/exactly-once.md describes the protocol.
  *
  * @param patience
  *   how long the transactions of an epoch may stay undecided
  */
private[write] final class SinkCoordinator private[exactlyonce] (
    settings: SinkSettings,
    cluster: SinkCluster,
    patience: FiniteDuration
) extends AutoCloseable {
  import SinkCoordinator._
  import SinkRecord._

  private val identity = SinkIdentity(settings.sinkId, settings.nonce, UUID.randomUUID.toString)
  private val open     = new OpenTransactions

  private var log             = SinkLog()
  private var from            = ""    // a readable record of the marker topic before all that follow
  private var topicPartitions = Set.empty[String]
  private var isStopped       = false // only a new start knows what to do
  private var totals          = SinkTotals()

  /** What a task has to know. */
  def task: SinkTask = synchronized(SinkTask(settings, identity, log.done))

  /** What was done since the start. */
  def now: SinkTotals = synchronized(totals.copy(open = open.count, oldestOpen = open.oldest))

  /** Whether it can commit. */
  def isUsable: Boolean = synchronized(!isStopped)

  /** Takes the sink over, finishes what an earlier driver recorded and aborts everything else. */
  private[exactlyonce] def start(): Unit = synchronized(stoppingOnFailure {
    cluster.check()
    log = readable(cluster.takeOver(), "-log").flatMap(r => SinkRecords.parse(r._2)).foldLeft(log)(_ + _)
    log.nonce.filter(_ != settings.nonce).foreach(other =>
      refuse(s"its state belongs to $other, not to ${settings.nonce}",
        "Use another sinkId, or the checkpoint that the state belongs to")
    )
    open.add(readable(cluster.opened(), "-open"))
    val _ = append(Owner) // nobody took over before, so all that is open is of earlier drivers
    from = cluster.barrier(text(Barrier(UUID.randomUUID.toString)))
    abortOrphans(Long.MaxValue, open.owners, log.prepared)
    log.prepared.foreach(finish(_, None))
  })

  /** Commits the transactions of an epoch. An epoch that was committed before is committed once nevertheless. */
  def commit(epoch: Long, commits: Seq[SinkCommit]): Unit = synchronized {
    if (isStopped) refuse("an earlier attempt to record something failed", "Start the write again")
    val transactions = commits.flatMap(_.transaction)
    topicPartitions ++= commits.flatMap(_.topicPartitions)
    EpochDecision(log, epoch, transactions, settings.startsAtZero) match {
      case EpochDecision.Refuse(problem, action) => refuse(problem, action)
      case EpochDecision.Discard                 => stoppingOnFailure(abortOrphans(epoch, owners, None))
      case EpochDecision.Advance                 =>
        stoppingOnFailure {
          val done = append(Done(epoch, 0, 0, 0))
          abortOrphans(epoch, owners, None)
          cluster.release(log = before(done), open.released, mark = None)
        }
      case EpochDecision.Prepare =>
        stoppingOnFailure {
          open.add(cluster.opened())
          transactions.find(t => !open.contains(t.id)).foreach(t =>
            refuse(s"transaction ${t.id} of epoch $epoch is not open", "Start the write again: it runs the epoch again")
          )
          val prepared = Prepared(epoch, transactions, from)
          finish(prepared, Some(append(prepared)))
        }
    }
  }

  /** Aborts what the tasks of an epoch sent, unless it may be recorded. */
  def abort(epoch: Long): Unit = synchronized {
    if (!isStopped && log.prepared.isEmpty) abortOrphans(epoch, owners, None)
  }

  private def owners: Set[String] = log.owners + identity.owner

  private def text(record: SinkRecord): String = SinkRecords.text(identity, record)

  private def refuse(problem: String, action: String): Nothing =
    throw Conditions.SinkState(sink = settings.sinkId, problem = problem, action = action).exception

  /** Fails for a record of a later version, or a damaged one: it may say what was decided. */
  private def readable(records: Seq[(String, String)], topic: String): Seq[(String, String)] = {
    records.find(r => SinkRecords.parse(r._2).isEmpty).foreach { case (id, _) =>
      refuse(s"this version cannot read record $id of its topic $topic",
        "Use the version of the connector that wrote it")
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
    val id = cluster.append(text(record))
    log += identity -> record
    id
  }

  private def before(done: String): Option[String] = {
    val result = lastDone
    lastDone = Some(done)
    result
  }

  private var lastDone = Option.empty[String]

  /** @param recordId where the epoch is recorded, if this driver did it */
  private def finish(prepared: Prepared, recordId: Option[String]): Unit = {
    val committed = resolve(prepared)
    open.ended(prepared.transactions.map(_.id).toSet)
    EpochDecision.outcome(prepared.transactions, committed) match {
      case EpochOutcome.Committed =>
        val all  = prepared.transactions
        val done = append(Done(prepared.epoch, all.size, all.map(_.rows).sum, all.map(_.bytes).sum))
        totals = totals.committed(all)
        if (recordId.isDefined) from = all.flatMap(_.marker).maxByOption(place).getOrElse(from)
        cluster.release(before(done), open.released, mark = Some(prepared.from))
      case EpochOutcome.Dropped =>
        append(Dropped(prepared.epoch))
        if (recordId.isDefined)
          throw Conditions.SinkEpochDropped(epoch = prepared.epoch.toString, sink = settings.sinkId,
            count = prepared.transactions.size.toString).exception
      case EpochOutcome.Torn(lost) =>
        throw Conditions.SinkEpochTorn(
          epoch = prepared.epoch.toString,
          sink = settings.sinkId,
          committed = (prepared.transactions.size - lost.size).toString,
          lost = lost.map(t => s"${t.rows} rows of partition ${t.partition}").mkString(", ")
        ).exception
    }
  }

  /** Commits the transactions; returns those that are committed, when all the others are proved to be aborted. Each
    * turn aborts what does not belong to them: an attempt that began meanwhile would hide the evidence behind its
    * marker.
    */
  private def resolve(prepared: Prepared): Set[TransactionId] = {
    val deadline = System.nanoTime() + patience.toNanos

    @tailrec
    def attempt(left: Seq[TransactionId], before: Set[TransactionId]): Set[TransactionId] = {
      abortOrphans(prepared.epoch, owners, Some(prepared))
      val answers   = left.zip(cluster.commit(left))
      val committed = before ++ answers.collect { case (id, CommitAnswer.Committed) => id }
      answers.collectFirst { case (id, CommitAnswer.NotOwner(cause)) =>
        throw Conditions.TransactionNotOwned(transaction = id.toString, cause = cause).exception
      }
      val uncertain = answers.collect { case (id, CommitAnswer.Uncertain(cause)) =>
        log_.info("transaction {} of sink {}: {}", id, settings.sinkId, cause)
        id
      }
      if (uncertain.isEmpty) committed
      else
        evidence(prepared.from) match {
          case Some(marked) =>
            totals = totals.copy(resolved = totals.resolved + uncertain.size)
            committed ++ uncertain.filter(marked)
          case None if System.nanoTime() >= deadline =>
            throw Conditions.SinkEpochUndecided(epoch = prepared.epoch.toString, sink = settings.sinkId,
              count = uncertain.size.toString, waited = patience.toMillis.toString).exception
          case None =>
            cluster.sweep(uncertain, topicPartitions.toSeq.sorted) // a late marker may hide the barrier
            attempt(uncertain, committed)
        }
    }
    attempt(prepared.transactions.map(_.id), Set.empty)
  }

  /** The transactions whose markers are readable before a new barrier; None while that is not readable itself. */
  private def evidence(from: String): Option[Set[TransactionId]] = {
    val barrier = text(Barrier(UUID.randomUUID.toString))
    cluster.barrier(barrier)
    cluster.markers(from, barrier, patience / 4).map { records =>
      if (!records.headOption.exists(_._1 == from))
        throw Conditions.SinkTopic(topic = settings.topics.mark, cause = s"its record $from is gone").exception
      records.flatMap(r => SinkRecords.parse(r._2)).collect { case (_, Marker(_, one)) => one.id }.toSet
    }
  }

  private def abortOrphans(epoch: Long, owners: Set[String], prepared: Option[Prepared]): Unit = {
    open.add(cluster.opened())
    val kept    = prepared.toSeq.flatMap(_.transactions).map(_.id).toSet
    val orphans = EpochDecision.orphans(open.all, owners, epoch, kept).map(_.id)
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
      if (!isStopped && log.prepared.isEmpty) {
        abortOrphans(Long.MaxValue, owners, None)
        if (!settings.isForever && open.all.isEmpty) cluster.end()
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
    val cluster     = new PulsarSinkCluster(settings)
    val coordinator = new SinkCoordinator(settings, cluster, settings.client.operationTimeout * 4)
    try {
      coordinator.start()
      coordinator
    } catch { case e: Throwable => cluster.close(); throw e }
  }

  private def place(id: String): (Long, Long) = (id.takeWhile(_ != ':').toLong, id.dropWhile(_ != ':').drop(1).toLong)
}
