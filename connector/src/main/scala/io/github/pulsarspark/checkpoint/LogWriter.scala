package io.github.pulsarspark.checkpoint

import java.util.UUID
import java.util.concurrent.{CompletableFuture, ConcurrentHashMap}

import scala.jdk.CollectionConverters._

import io.github.pulsarspark.checkpoint.LogFollower.Arrival
import io.github.pulsarspark.checkpoint.log.{Change, LogRecord, RecordFormat}
import io.github.pulsarspark.errors.Conditions
import io.github.pulsarspark.position.Position
import io.github.pulsarspark.pulsar.journal.{JournalTopic, JournalWriter}

/** Appends records to the log of a store. Several threads may use it.
  *
  * The records of a writer are numbered and stand in the log in the order of their numbers. After a failure nobody
  * knows which ones are stored: another writer with another id continues.
  *
  * @param stored
  *   is told of each record that the broker has stored, and where
  */
private[checkpoint] final class LogWriter(journal: JournalTopic, stored: (LogRecord, Position) => Unit)
    extends AutoCloseable {
  import LogWriter._

  private var session = Option.empty[Session]
  private val waiting = new ConcurrentHashMap[(UUID, Long), CompletableFuture[Arrival]]

  /** Appends a change. The result completes when the record is folded. */
  def append(change: Change): CompletableFuture[Arrival] = synchronized {
    val own    = opened
    val record = own.record(change)
    val key    = (own.id, record.number)
    val result = new CompletableFuture[Arrival]
    waiting.put(key, result)
    own.writer.append(RecordFormat.bytes(record)).whenComplete((at, failure) =>
      if (failure == null) stored(record, at) else fail(own, failure)
    )
    result.whenComplete { (_, _) => waiting.remove(key); () }
  }

  /** Size limit of the content of one record. */
  def maxContent: Int = synchronized(opened.most)

  private def opened: Session = session.filterNot(_.hasFailed).getOrElse {
    val made = new Session(journal.writer())
    if (made.writer.maxBytes < LeastRecord) {
      made.writer.close()
      throw Conditions.CheckpointStorePolicy(topic = journal.name,
        policies = s"maxMessageSize=${made.writer.maxBytes} (less than a record needs)").exception
    }
    session = Some(made)
    made
  }

  /** Completes the wait for a record of this writer. */
  def arrived(arrival: Arrival): Unit =
    Option(waiting.get((arrival.record.writer, arrival.record.number))).foreach(_.complete(arrival))

  /** Ends all waits: nobody knows what became of the records. */
  def abandon(why: Throwable): Unit = waiting.values.asScala.toSeq.foreach(_.completeExceptionally(why))

  private def fail(own: Session, failure: Throwable): Unit = {
    own.hasFailed = true // before those who wait append again
    waiting.asScala.toSeq.foreach { case ((id, _), result) => if (id == own.id) result.completeExceptionally(failure) }
    CompletableFuture.runAsync(() => end(own)) // not on the client's thread, which others with the lock may wait for
    ()
  }

  private def end(own: Session): Unit = synchronized {
    if (session.contains(own)) session = None
    own.writer.close()
  }

  override def close(): Unit = synchronized {
    session.foreach(_.writer.close())
    session = None
  }
}

private[checkpoint] object LogWriter {

  /** Brokers must take records of this size. */
  val LeastRecord: Int = 32 << 10

  /** Records of this size take some milliseconds, and few of them fill the queue of a reader. */
  private val MaxContent = 1 << 20

  /** Size of the largest record. */
  val MaxRecord: Int = MaxContent + RecordFormat.Overhead

  /** A producer with its own id. */
  private final class Session(val writer: JournalWriter) {
    val id: UUID       = UUID.randomUUID()
    val most: Int      = math.min(MaxContent, writer.maxBytes - RecordFormat.Overhead)
    private var number = 0L

    @volatile var hasFailed = false

    def record(change: Change): LogRecord = {
      number += 1
      LogRecord(id, number, System.currentTimeMillis(), change)
    }
  }
}
