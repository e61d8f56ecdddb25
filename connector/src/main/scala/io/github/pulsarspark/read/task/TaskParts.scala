package io.github.pulsarspark.read.task

import io.github.pulsarspark.metrics.{ReadCounts, SliceCounts, TaskTotals}
import io.github.pulsarspark.options.ReadOptions
import io.github.pulsarspark.pulsar.PulsarConnection
import io.github.pulsarspark.pulsar.broker.BrokerApi
import io.github.pulsarspark.schema.rows.RowDecoders
import io.github.pulsarspark.storage.TaskStorage

/** Parts of a task that all its slices share. Closed after them.
  *
  * @param total
  *   what the tasks of all micro-batches count
  * @param current
  *   the slice that is read now
  */
private[read] final class TaskParts(
    val context: ReadContext,
    total: Option[TaskTotals],
    current: => Option[SliceCounts] = None
) {
  val counts: ReadCounts               = new ReadCounts(current)
  val decodeErrors: DecodeErrorHandler = new DecodeErrorHandler(context)
  val decoders: RowDecoders            = new RowDecoders(context.output, context.options.errorColumns)
  val storage: TaskStorage             = new TaskStorage(context.options, context.hadoop, context.stream)

  private var connection: Option[PulsarConnection] = None
  private var unreported                           = total
  private var ofOthers                             = Seq.empty[TaskStorage]

  /** Storage for another thread, which closes it. What it finds moved is reported with this task. */
  def storageInBackground(options: ReadOptions): TaskStorage = {
    val result = new TaskStorage(options, context.hadoop, None)
    ofOthers :+= result
    result
  }

  /** Opens the broker on demand: for a message that has a schema version unknown to this JVM, or that begins before the
    * range.
    */
  def broker: BrokerApi = {
    val open = connection.getOrElse(PulsarConnection(context.options.client))
    connection = Some(open)
    open.broker(context.options.subscriptionPrefix, context.options.readCompacted)
  }

  /** All to close, in this order, whatever fails. */
  def closing: Seq[AutoCloseable] =
    Seq[AutoCloseable](storage, () => report(), () => connection.foreach(_.close()), decodeErrors)

  private def report(): Unit = {
    unreported.foreach(_.report(counts, (storage +: ofOthers).flatMap(_.movedTopics).toSet))
    unreported = None
  }
}
