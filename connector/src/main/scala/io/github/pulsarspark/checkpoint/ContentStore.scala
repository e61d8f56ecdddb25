package io.github.pulsarspark.checkpoint

import java.util.concurrent.{CompletableFuture, ExecutionException, TimeUnit, TimeoutException}

import scala.concurrent.duration.FiniteDuration

import io.github.pulsarspark.checkpoint.log.Apart
import io.github.pulsarspark.errors.Conditions
import io.github.pulsarspark.position.Position
import io.github.pulsarspark.pulsar.journal.{JournalTopic, JournalWriter}

/** Contents of files that are apart from the log of their store, in a topic of their own. Each is some records, which
  * the log names once they are stored. Nobody reads a content that the log does not name.
  *
  * @param prepare
  *   runs once before the first content is written
  */
private[checkpoint] final class ContentStore(journal: JournalTopic, patience: FiniteDuration, prepare: () => Unit)
    extends AutoCloseable {
  import ContentStore._

  private var isPrepared = false
  private var session    = Option.empty[JournalWriter]

  def topic: String = journal.name

  /** True if this JVM has written to it. */
  def isUsed: Boolean = synchronized(isPrepared)

  /** Stores a content and waits until it is stored. Its parts stand one after the other. */
  def write(content: Array[Byte]): Apart = {
    val (writer, parts) = append(content)
    try {
      val until = System.nanoTime() + patience.toNanos
      Apart(content.length.toLong, Apart.checksum(content),
        parts.map(_.get(until - System.nanoTime(), TimeUnit.NANOSECONDS)))
    } catch {
      case e: ExecutionException => throw failed(writer, e.getCause)
      case _: TimeoutException   => throw failed(writer,
          Conditions.CheckpointStoreTimeout(what = "Writing a content",
            topic = topic, waited = patience.toMillis.toString).exception)
    }
  }

  private def append(content: Array[Byte]): (JournalWriter, Vector[CompletableFuture[Position]]) = synchronized {
    val writer = opened
    val most   = math.min(MaxPart, writer.maxBytes)
    (writer, content.grouped(most).map(writer.append).toVector)
  }

  private def opened: JournalWriter = session.getOrElse {
    if (!isPrepared) {
      journal.bounds()
      prepare()
      isPrepared = true
    }
    val made = journal.writer()
    session = Some(made)
    made
  }

  private def failed(writer: JournalWriter, failure: Throwable): Throwable = synchronized {
    if (session.contains(writer)) session = None
    writer.close()
    failure
  }

  /** The content; None if it is not there as it was written. */
  def read(content: Apart): Option[Array[Byte]] =
    journal.records(content.places).map(parts => Array.concat(parts: _*)).filter(Apart.checksum(_) == content.checksum)

  /** Lets brokers delete what is at or before a place. */
  def forget(upTo: Position): Unit = if (!upTo.isBeforeLedger) journal.moveRoot(upTo)

  override def close(): Unit = synchronized {
    session.foreach(_.close())
    session = None
  }
}

private object ContentStore {

  /** Parts of this size take some milliseconds, and few of them fill the queue of a reader. */
  private val MaxPart = 1 << 20
}
