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
import io.github.pulsarspark.storage.segment.OffloadedLedger

/** The thread that waits for the storage of one ledger, so that nobody else has to without a deadline. Clients of
  * object stores try again for minutes, and some of their calls cannot be interrupted: then the thread is left behind,
  * and ends when the client lets it go.
  *
  * @param deadline
  *   the longest wait for one answer
  */
private[offload] final class StorageThread(val ledger: OffloadedLedger, firstEntryId: Long, deadline: FiniteDuration) {

  private val thread = Executors.newSingleThreadExecutor { task =>
    val made = new Thread(task, s"pulsar-spark-offloaded-${ledger.ledgerId}")
    made.setDaemon(true)
    made
  }
  private var nextEntryId              = firstEntryId
  private var asked: Option[Future[_]] = None

  /** From now on errors name this entry as the one that is wanted. */
  def reached(entryId: Long): Unit = nextEntryId = entryId

  def submit[A](work: Callable[A]): Future[A] = {
    val future = thread.submit(work)
    asked = Some(future)
    future
  }

  /** @param left
    *   of the deadline
    */
  def await[A](future: Future[A], left: FiniteDuration = deadline): A =
    try future.get(left.toMillis, TimeUnit.MILLISECONDS)
    catch {
      case e: ExecutionException => throw explain(e.getCause)
      case _: TimeoutException   => throw late
    }

  def late: RuntimeException with PulsarError =
    Conditions.OffloadTimeout(topic = ledger.topic, file = file, position = position,
      waited = deadline.toMillis.toString).exception

  /** Returns at once; what is under way is given up and then `release` is called. */
  def close(release: Runnable): Unit = if (!thread.isShutdown) {
    asked.foreach { work => // else there is nothing to release, and no thread
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

  private def explain(failure: Throwable): Throwable = failure match {
    case _: PulsarError           => failure
    case e: MalformedBytes        => corrupt(e, e.getMessage)
    case e: EOFException          => corrupt(e, "it ends too early")
    case e: ChecksumException     => corrupt(e, "the file system's own checksum does not fit")
    case e: FileNotFoundException =>
      Conditions.OffloadGone(topic = ledger.topic, file = file, position = position).causedBy(e)
    case e: UnsupportedOffload =>
      Conditions.OffloadUnsupported(topic = ledger.topic, file = file, position = position, form = e.form).exception
    case e if NonFatal(e) || e.isInstanceOf[LinkageError] =>
      Conditions.OffloadFailed(topic = ledger.topic, file = file, position = position, cause = firstLine(e)).causedBy(e)
    case fatal => fatal
  }

  private def corrupt(e: Throwable, problem: String) =
    Conditions.OffloadCorrupt(topic = ledger.topic, file = file, position = position, problem = problem).causedBy(e)

  private def file: String = OffloadedFiles.data(ledger).toString

  private def position: String = Position(ledger.ledgerId, nextEntryId).toString

  private def firstLine(e: Throwable) = e.toString.linesIterator.nextOption().getOrElse("").stripSuffix(".")
}

private object StorageThread {
  private val log = LoggerFactory.getLogger(classOf[StorageThread])
}
