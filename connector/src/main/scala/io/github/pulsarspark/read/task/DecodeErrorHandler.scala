package io.github.pulsarspark.read.task

import org.apache.spark.TaskContext

import io.github.pulsarspark.errors.PulsarError
import io.github.pulsarspark.format.entry.MessageView
import io.github.pulsarspark.options.OnDecodeError

/** Handles the messages of a task whose values do not decode. */
private[read] final class DecodeErrorHandler(task: ReadContext) extends AutoCloseable {

  private var opened: Option[DeadLetters] = None

  /** Handles a message that does not decode. True if the query keeps a row of it, without its value. */
  def keepRow(m: MessageView, error: Throwable with PulsarError): Boolean = {
    val keepRow = task.options.onDecodeError match {
      case OnDecodeError.Fail              => throw error
      case OnDecodeError.AsNull            => true
      case OnDecodeError.Drop              => false
      case OnDecodeError.DeadLetter(topic) =>
        letters(topic).send(m, error)
        false
    }
    task.decodeErrors.foreach(_.add(1L))
    keepRow
  }

  private def letters(topic: String): DeadLetters = opened.getOrElse {
    val result = new DeadLetters(topic, task.options)
    opened = Some(result)
    result
  }

  /** Waits until every copy is acknowledged; else the task must not succeed. */
  def flush(): Unit = opened.foreach(_.flush())

  /** Flushes the copies of a task that stops before the end of its rows. A task that fails sends them again. */
  override def close(): Unit =
    try if (!Option(TaskContext.get()).exists(c => c.isFailed() || c.isInterrupted())) flush()
    finally opened.foreach(_.close())
}
