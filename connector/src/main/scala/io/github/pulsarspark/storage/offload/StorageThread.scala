package io.github.pulsarspark.storage.offload

import java.io.{EOFException, FileNotFoundException}
import java.util.concurrent.{Callable, ExecutionException, Executors, Future, TimeUnit, TimeoutException}

import scala.concurrent.duration.FiniteDuration
import scala.util.control.NonFatal

import org.apache.hadoop.fs.ChecksumException
import org.slf4j.LoggerFactory

import io.github.pulsarspark.errors.{Conditions, PulsarError}
import io.github.pulsarspark.format.entry.MalformedBytes
import io.github.pulsarspark.position.Position
import io.github.pulsarspark.storage.offload.format.{OffloadedLedger, UnsupportedOffload}
import io.github.pulsarspark.storage.segment.SegmentUnreadable

/** The thread that waits for the storage of one ledger, so that the caller waits with a deadline. Clients of object
  * stores retry for minutes, and some of their calls cannot be interrupted: then the thread outlives its ledger, and
  * ends when the client returns.
  *
  * @param deadline
  *   the timeout of one response
  */
private[offload] final class StorageThread(val ledger: OffloadedLedger, firstEntryId: Long, deadline: FiniteDuration) {

  private val thread = Executors.newSingleThreadExecutor { task =>
    val result = new Thread(task, s"pulsar-spark-offloaded-${ledger.ledgerId}")
    result.setDaemon(true)
    result
  }
  private var nextEntryId                = firstEntryId
  private var pending: Option[Future[_]] = None

  /** Sets the needed entry, which errors name from now on. */
  def reached(entryId: Long): Unit = nextEntryId = entryId

  def submit[A](work: Callable[A]): Future[A] = {
    val future = thread.submit(work)
    pending = Some(future)
    future
  }

  /** Fails with [[SegmentUnreadable]], whose cause is a `PULSAR_OFFLOAD_...` error.
    *
    * @param left
    *   of the deadline
    */
  def await[A](future: Future[A], left: FiniteDuration = deadline): A =
    try future.get(left.toMillis, TimeUnit.MILLISECONDS)
    catch {
      case e: ExecutionException => throw explain(e.getCause)
      case _: TimeoutException   => throw late
    }

  private def late = unreadable(
    Conditions.OffloadTimeout(topic = ledger.topic, file = file, position = position,
      waited = deadline.toMillis.toString).exception,
    silent = Seq(ledger.location.uri)
  )

  private def unreadable(error: Throwable, silent: Seq[String] = Nil) =
    new SegmentUnreadable(error.getMessage, error, silent)

  /** Returns at once; cancels the pending request, then calls `release`. */
  def close(release: Runnable): Unit = if (!thread.isShutdown) {
    pending.foreach { work => // else there is nothing to release, and no thread
      work.cancel(true)
      thread.execute(() => run(release))
    }
    thread.shutdown()
  }

  private def run(release: Runnable): Unit =
    try release.run()
    catch {
      case NonFatal(e) =>
        StorageThread.log.warn("closing the offloaded copy of ledger {}: {}", ledger.ledgerId, e.toString: Any)
    }

  private def explain(failure: Throwable): Throwable =
    if (NonFatal(failure) || failure.isInstanceOf[LinkageError]) unreadable(named(failure)) else failure

  private def named(failure: Throwable): Throwable = failure match {
    case _: PulsarError           => failure
    case e: MalformedBytes        => corrupt(e, e.getMessage)
    case e: EOFException          => corrupt(e, "it ends too early")
    case e: ChecksumException     => corrupt(e, "the file system's own checksum does not fit")
    case e: FileNotFoundException =>
      Conditions.OffloadGone(topic = ledger.topic, file = file, position = position).causedBy(e)
    case e: UnsupportedOffload =>
      Conditions.OffloadUnsupported(topic = ledger.topic, file = file, position = position, form = e.form).exception
    case e =>
      Conditions.OffloadFailed(topic = ledger.topic, file = file, position = position, cause = firstLine(e)).causedBy(e)
  }

  private def corrupt(e: Throwable, problem: String) =
    Conditions.OffloadCorrupt(topic = ledger.topic, file = file, position = position, problem = problem).causedBy(e)

  private def file: String = ledger.data.toString

  private def position: String = Position(ledger.ledgerId, nextEntryId).toString

  private def firstLine(e: Throwable) = e.toString.linesIterator.nextOption().getOrElse("").stripSuffix(".")
}

private object StorageThread {
  private val log = LoggerFactory.getLogger(classOf[StorageThread])
}
