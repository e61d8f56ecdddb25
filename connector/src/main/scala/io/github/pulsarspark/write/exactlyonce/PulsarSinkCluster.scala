package io.github.pulsarspark.write.exactlyonce

import scala.concurrent.duration._
import scala.util.{Failure, Success, Try}
import scala.util.control.NonFatal

import org.slf4j.LoggerFactory

import io.github.pulsarspark.common.BoundedParallel
import io.github.pulsarspark.errors.Conditions
import io.github.pulsarspark.pulsar.PulsarConnection
import io.github.pulsarspark.pulsar.admin.AdminApi
import io.github.pulsarspark.pulsar.transactions._

/** The topics of a sink and the transaction coordinator of a cluster.
  *
  * @param access
  *   to the log
  */
private[exactlyonce] final class PulsarSinkCluster(settings: SinkSettings, access: ControlAccess) extends SinkCluster {
  import PulsarSinkCluster._

  private val connection   = PulsarConnection(settings.client)
  private val transactions = closingOnFailure(connection)(connection.transactions())
  private val names        = settings.topics
  private var closing      = List.empty[AutoCloseable]

  private def opening[A <: AutoCloseable](what: A): A = {
    closing = what :: closing
    what
  }

  private def closingOnFailure[A](resource: AutoCloseable)(body: => A): A =
    try body
    catch { case e: Throwable => resource.close(); throw e }

  override def check(): Unit = {
    val id = transactions.begin(CheckTimeout)
    val _  = transactions.isEnded(id, transactions.abort(id))
    connection.admin.foreach(warn)
  }

  /** Warns when a query or a job begins, and not at each of the writes that `foreachBatch` makes. */
  private def warn(admin: AdminApi): Unit = {
    if (settings.startsAtZero) ControlPolicies.warn(admin, settings.namespace, settings.sinkId)
    if (settings.startsAtZero || !settings.isForever)
      settings.topic.foreach(ReplicatedTargets.warn(admin, _, settings.sinkId))
  }

  /** Topics of the sink that are open, once it is taken over. */
  private var taken = Option.empty[OwnTopics]

  private def own: OwnTopics = taken.getOrElse(
    throw Conditions.Internal(what = "a sink is used before it is taken over", where = "PulsarSinkCluster").exception
  )

  private def owned[A](opening: => A): A =
    try opening
    catch {
      case e: Exception if access == ControlAccess.Alone && ControlTopic.isTaken(e) =>
        throw Conditions.SinkState(sink = settings.sinkId, problem = "a driver of it is connected",
          action = "Stop its query first").causedBy(e)
    }

  /** Opens the topics in this order: a subscription keeps the log; its records are read and admitted; a producer fences
    * every other driver; subscriptions keep what tasks send; what another driver has recorded meanwhile is read.
    */
  override def takeOver(admit: Seq[(String, String)] => Unit): Seq[(String, String)] = {
    val log      = connection.control(names.log)
    val keepsLog = opening(log.retention())
    val reader   = log.reader()
    try {
      val before = reader.toEnd()
      admit(before)
      val producer = opening(owned(log.producer(access)))
      taken = Some(ownTopics(producer, keepsLog))
      before ++ reader.toEnd()
    } finally reader.close()
  }

  private def ownTopics(log: ControlProducer, keepsLog: ControlRetention): OwnTopics = {
    val (open, mark) = (connection.control(names.open), connection.control(names.mark))
    val keepsOpen    = opening(open.retention())
    val keepsMarks   = opening(mark.retention())
    OwnTopics(log, opening(open.reader()), mark, opening(mark.producer(ControlAccess.Shared)), keepsLog, keepsOpen,
      keepsMarks)
  }

  override def append(record: String): String = own.log.append(record)

  override def opened(): Seq[(String, String)] = own.open.toEnd()

  override def commit(ids: Seq[TransactionId]): Seq[CommitAnswer] =
    BoundedParallel(ids, Parallelism)(transactions.commit)((_, committing) => transactions.answer(committing))

  /** A topic partition that is in the transaction may be added again, as long as it is open. */
  override def lost(ids: Seq[TransactionId]): Map[TransactionId, String] =
    BoundedParallel(ids, Parallelism)(transactions.registering(_, Seq(names.mark)))((id, registering) =>
      transactions.refusal(registering).map(id -> _)
    ).flatten.toMap

  override def ended(ids: Seq[TransactionId]): () => Seq[TransactionId] = {
    val registered = ids.map(id => id -> transactions.registering(id, Seq(names.mark)))
    () => registered.collect { case (id, registering) if transactions.isOver(registering) => id }
  }

  override def ending(ids: Seq[TransactionId]): Seq[TransactionId] =
    BoundedParallel(ids, Parallelism)(transactions.registering(_, Seq(names.mark)))((id, registering) =>
      Option.when(transactions.isEnding(registering))(id)
    ).flatten

  /** Terminated topic partitions. Sends no request to a deleted topic, because that could create it. */
  override def terminated(others: Seq[String]): Seq[String] =
    connection.terminated(connection.broker().partitions(partitionsOfWrite(others)).keys.toSeq.sorted)

  private def partitionsOfWrite(others: Seq[String]): Seq[String] =
    (connection.broker().partitions(settings.topic.toSeq).values.flatten.toSeq ++ others).distinct

  override def abort(ids: Seq[TransactionId]): Set[TransactionId] = {
    val answers = BoundedParallel(ids, Parallelism)(transactions.abort)((id, aborting) =>
      id -> Try(transactions.isEnded(id, aborting))
    )
    answers.collectFirst { case (_, Failure(e)) => throw e }
    answers.collect { case (id, Success(true)) => id }.toSet
  }

  override def sweep(aborted: Iterable[TransactionId], others: Seq[String]): Unit =
    try {
      val topicPartitions = names.mark +: partitionsOfWrite(others)
      val empty           = transactions.beginAtEach(aborted.map(_.coordinator).toSet, SweepTimeout)
      empty.foreach(transactions.register(_, topicPartitions))
      commit(empty).filter(_ != CommitAnswer.Committed).foreach(log_.warn("sweeping topic partitions: {}", _))
    } catch {
      // a later transaction of the same coordinator that ends on a partition does the same
      case NonFatal(e) => log_.warn("sweeping topic partitions: {}", e.toString)
    }

  override def barrier(record: String): String = own.marks.append(record)

  override def markers(from: String, barrier: String, patience: FiniteDuration): Option[Seq[(String, String)]] = {
    val reader = own.mark.reader(Some(from))
    try reader.until(patience)(_ == barrier)
    finally reader.close()
  }

  override def release(log: Option[String], open: Option[String], mark: Option[String]): Unit = {
    log.foreach(own.keepsLog.release)
    open.foreach(own.keepsOpen.release)
    mark.foreach(own.keepsMarks.release)
  }

  override def end(): Unit = Seq(own.keepsLog, own.keepsOpen, own.keepsMarks).foreach(_.end())

  override def close(): Unit = {
    closing.foreach(_.close())
    try transactions.close()
    finally connection.close()
  }
}

private object PulsarSinkCluster {

  /** The topics of a sink, open for its one driver.
    *
    * @param log
    *   appends to the log
    * @param open
    *   reads what transactions tasks registered
    * @param marks
    *   appends to the marker topic `mark`
    */
  private final case class OwnTopics(
      log: ControlProducer,
      open: ControlReader,
      mark: ControlTopic,
      marks: ControlProducer,
      keepsLog: ControlRetention,
      keepsOpen: ControlRetention,
      keepsMarks: ControlRetention
  )

  private val log_ = LoggerFactory.getLogger(classOf[PulsarSinkCluster])

  private val Parallelism  = 64
  private val CheckTimeout = 10.seconds
  private val SweepTimeout = 1.minute
}
