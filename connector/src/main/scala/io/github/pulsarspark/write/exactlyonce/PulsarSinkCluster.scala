package io.github.pulsarspark.write.exactlyonce

import scala.concurrent.duration._
import scala.util.{Failure, Success, Try}
import scala.util.control.NonFatal

import org.slf4j.LoggerFactory

import io.github.pulsarspark.common.BoundedParallel
import io.github.pulsarspark.errors.Conditions
import io.github.pulsarspark.pulsar.PulsarConnection
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
  private var open         = List.empty[AutoCloseable]

  private def opening[A <: AutoCloseable](what: A): A = {
    open = what :: open
    what
  }

  private def closingOnFailure[A](resource: AutoCloseable)(body: => A): A =
    try body
    catch { case e: Throwable => resource.close(); throw e }

  override def check(): Unit = {
    val id = transactions.begin(CheckTimeout)
    val _  = transactions.isEnded(id, transactions.abort(id))
    if (settings.startsAtZero) connection.admin.foreach(ControlPolicies.warn(_, settings.namespace, settings.sinkId))
  }

  private lazy val logTopic     = connection.control(names.log)
  private lazy val log          = opening(owned(logTopic.producer(access)))
  private lazy val keepsLog     = opening(logTopic.retention())
  private lazy val openTopic    = connection.control(names.open)
  private lazy val keepsOpen    = opening(openTopic.retention())
  private lazy val openReader   = opening(openTopic.reader())
  private lazy val markTopic    = connection.control(names.mark)
  private lazy val keepsMarks   = opening(markTopic.retention())
  private lazy val markProducer = opening(markTopic.producer(ControlAccess.Shared))

  private def owned[A](opening: => A): A =
    try opening
    catch {
      case e: Exception if access == ControlAccess.Alone && ControlTopic.isTaken(e) =>
        throw Conditions.SinkState(sink = settings.sinkId, problem = "a driver of it is connected",
          action = "Stop its query first").causedBy(e)
    }

  override def takeOver(admit: Seq[(String, String)] => Unit): Seq[(String, String)] = {
    keepsLog
    val reader = logTopic.reader()
    try {
      val before = reader.toEnd()
      admit(before)
      log
      keepsOpen
      keepsMarks
      before ++ reader.toEnd()
    } finally reader.close()
  }

  override def append(record: String): String = log.append(record)

  override def opened(): Seq[(String, String)] = openReader.toEnd()

  override def commit(ids: Seq[TransactionId]): Seq[CommitAnswer] =
    BoundedParallel(ids, Parallelism)(transactions.commit)((_, committing) => transactions.answer(committing))

  /** A topic partition that is in the transaction may be added again, as long as it is open. */
  override def lost(ids: Seq[TransactionId]): Map[TransactionId, String] =
    BoundedParallel(ids, Parallelism)(transactions.registering(_, Seq(names.mark)))((id, registering) =>
      transactions.refusal(registering).map(id -> _)
    ).flatten.toMap

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

  override def barrier(record: String): String = markProducer.append(record)

  override def markers(from: String, barrier: String, patience: FiniteDuration): Option[Seq[(String, String)]] = {
    val reader = markTopic.reader(Some(from))
    try reader.until(patience)(_ == barrier)
    finally reader.close()
  }

  override def release(log: Option[String], open: Option[String], mark: Option[String]): Unit = {
    log.foreach(keepsLog.release)
    open.foreach(keepsOpen.release)
    mark.foreach(keepsMarks.release)
  }

  override def end(): Unit = Seq(keepsLog, keepsOpen, keepsMarks).foreach(_.end())

  override def close(): Unit = {
    open.foreach(_.close())
    try transactions.close()
    finally connection.close()
  }
}

private object PulsarSinkCluster {
  private val log_ = LoggerFactory.getLogger(classOf[PulsarSinkCluster])

  private val Parallelism  = 64
  private val CheckTimeout = 10.seconds
  private val SweepTimeout = 1.minute
}
