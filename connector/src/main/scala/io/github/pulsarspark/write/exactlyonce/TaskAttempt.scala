package io.github.pulsarspark.write.exactlyonce

import scala.util.control.NonFatal

import org.apache.spark.internal.io.FileCommitProtocol.TaskCommitMessage
import org.apache.spark.sql.connector.write.WriterCommitMessage
import org.apache.spark.sql.execution.datasources.{ExecutedWriteSummary, WriteTaskResult}
import org.slf4j.LoggerFactory

import io.github.pulsarspark.common.JavaBytes
import io.github.pulsarspark.pulsar.PulsarConnection
import io.github.pulsarspark.pulsar.transactions.{TaskTransaction, TransactionCoordinator, TransactionId}

/** One attempt of a task, in one transaction. Its calls in their order: [[begin]] before the first row, [[mark]] after
  * the last one, [[finish]] when all is acknowledged, and [[close]]. Without a row there is no [[begin]]. One thread
  * uses it.
  *
  * @param partition
  *   of Spark
  * @param attempt
  *   Spark's id of it
  */
private[write] final class TaskAttempt(
    connection: PulsarConnection,
    task: SinkTask,
    epoch: Long,
    partition: Int,
    attempt: Long
) extends AutoCloseable {
  import TaskAttempt._

  private var coordinator  = Option.empty[TransactionCoordinator]
  private var open         = Option.empty[TransactionId]
  private var begun        = Option.empty[TaskTransaction]
  private var marked       = Option.empty[(SinkTransaction, () => String)]
  private var producers    = List.empty[AutoCloseable]
  private var isHandedOver = false

  /** True if an earlier run wrote the epoch, so that this one sends nothing. */
  val isWritten: Boolean = task.done.exists(_ >= epoch)

  /** Begins the transaction, before the first row, and records it for the driver. The record is on its way while rows
    * are encoded; the first message waits for it.
    */
  def begin(): Unit = {
    val transactions = connection.transactions()
    coordinator = Some(transactions)
    val began = System.currentTimeMillis()
    val id    = transactions.begin(task.settings.timeout)
    open = Some(id)
    val record = SinkRecord.Open(epoch, SinkTransaction(id, partition, attempt), task.settings.timeout.toMillis, began)
    val recorded = append(task.settings.topics.open, record, None)
    begun = Some(new TaskTransaction(transactions, id, () => { recorded(); () }))
  }

  /** The transaction, after [[begin]]. */
  def transaction: Option[TaskTransaction] = begun

  /** Sends the marker, while the last rows are on their way. It is readable only if the transaction is committed, which
    * needs [[finish]].
    */
  def mark(rows: Long, bytes: Long): Unit = begun.foreach { t =>
    val one = SinkTransaction(t.id, partition, attempt, rows, bytes)
    marked = Some(one -> append(task.settings.topics.mark, SinkRecord.Marker(epoch, one), Some(t)))
  }

  /** Hands the transaction over to the driver, after [[mark]]. Every row must be acknowledged; nothing is sent in the
    * transaction afterwards.
    *
    * @param rows
    *   that the task had, sent or not
    */
  def finish(rows: Long): SinkCommit = {
    val transaction = marked.map { case (one, stored) => one.copy(marker = Some(stored())) }
    isHandedOver = true
    SinkCommit(transaction, begun.fold(Seq.empty[String])(_.registered), if (isWritten) rows else 0)
  }

  /** Returns how to wait for it. */
  private def append(topic: String, record: SinkRecord, transaction: Option[TaskTransaction]): () => String = {
    val producer = connection.sharedControl(topic)
    producers = producer :: producers
    producer.value.start(SinkRecords.text(task.identity, record), transaction)
  }

  /** Aborts a transaction that was not handed over. Its producers must be closed before. Never fails: the driver aborts
    * it as well.
    */
  override def close(): Unit = {
    if (!isHandedOver) {
      awaitMarker()
      for (c <- coordinator; id <- open) try { c.abort(id); () }
      catch { case NonFatal(e) => log.warn("aborting transaction {}: {}", id, e.toString) }
    }
    producers.foreach(_.close())
    coordinator.foreach(_.close())
  }

  /** The producer of markers outlives the attempt and sends again the messages whose acknowledgement was lost with a
    * connection. A marker that is stored after its transaction was aborted hides later ones.
    */
  private def awaitMarker(): Unit =
    try marked.foreach { case (_, stored) => stored() }
    catch {
      case _: InterruptedException => Thread.currentThread.interrupt()
      case NonFatal(e)             => log.debug("the marker of a transaction that is aborted: {}", e.toString)
    }
}

private object TaskAttempt {
  private val log = LoggerFactory.getLogger(classOf[TaskAttempt])
}

/** State of the driver that a task needs.
  *
  * @param done
  *   the last epoch that is written: tasks of it and of those before send nothing
  */
private[write] final case class SinkTask(settings: SinkSettings, identity: SinkIdentity, done: Option[Long])

/** Report of a task attempt.
  *
  * @param transaction
  *   the attempt's transaction, complete when this is reported; None for a task without rows
  * @param topicPartitions
  *   those that may have messages of it
  * @param skipped
  *   rows that were not sent, because the epoch is written
  */
private[write] final case class SinkCommit(
    transaction: Option[SinkTransaction],
    topicPartitions: Seq[String],
    skipped: Long = 0
) {

  /** The report as bytes in Spark's own message of a task that wrote files. Spark registers the classes of that one
    * with Kryo, so a session with `spark.kryo.registrationRequired` needs no list of ours.
    */
  def message: WriterCommitMessage =
    WriteTaskResult(new TaskCommitMessage(JavaBytes(this)), Option.empty[ExecutedWriteSummary].orNull)
}

private[write] object SinkCommit {

  /** The reports in messages, of the tasks that sent one. */
  def in(messages: Seq[WriterCommitMessage]): Seq[SinkCommit] =
    messages.collect { case result: WriteTaskResult => result.commitMsg.obj }
      .collect { case bytes: Array[Byte] => JavaBytes.value[SinkCommit](bytes) }
}
