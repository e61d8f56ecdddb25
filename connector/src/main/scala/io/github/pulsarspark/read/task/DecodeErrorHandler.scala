package io.github.pulsarspark.read.task

import org.apache.spark.TaskContext

import io.github.pulsarspark.errors.PulsarError
import io.github.pulsarspark.format.entry.MessageView
import io.github.pulsarspark.options.OnDecodeError
import io.github.pulsarspark.read.ReadContext

/** What becomes of the messages of a task whose values do not decode. */
private[read] final class DecodeErrorHandler(task: ReadContext) extends AutoCloseable {

  private var opened: Option[DeadLetters] = None

  /** Whether the message has a row, one without its value. */
  def stays(m: MessageView, error: Throwable with PulsarError): Boolean = {
    val stays = task.options.onDecodeError match {
      case OnDecodeError.Fail              => throw error
      case OnDecodeError.AsNull            => true
      case OnDecodeError.Drop              => false
      case OnDecodeError.DeadLetter(topic) =>
        letters(topic).send(m, error)
        false
    }
    task.decodeErrors.foreach(_.add(1L))
    stays
  }

  private def letters(topic: String): DeadLetters = opened.getOrElse {
    val made = new DeadLetters(topic, task.options)
    opened = Some(made)
    made
  }

  /** Waits until every copy is acknowledged, without which the task must not succeed. */
  def flush(): Unit = opened.foreach(_.flush())

  /** Of a task that has had enough of its rows before their end the copies count, too; one that fails sends them again.
    */
  override def close(): Unit =
    try if (!Option(TaskContext.get()).exists(c => c.isFailed() || c.isInterrupted())) flush()
    finally opened.foreach(_.close())
}
