package io.github.pulsarspark.storage.offload

import java.util.concurrent.Future

import scala.collection.mutable
import scala.concurrent.duration._
import scala.util.control.NoStackTrace
import scala.util.{Failure, Success, Try}

import org.apache.hadoop.conf.Configuration

import io.github.pulsarspark.common.BoundedParallel
import io.github.pulsarspark.storage.offload.format.OffloadedLedger
import io.github.pulsarspark.storage.segment.SegmentUnreadable

/** Reads the split points of offloaded ledgers, several at a time and all of them by one deadline. The storage counts
  * as silent when it did not respond to a request within half of it; then, and after the deadline, nothing more is
  * requested.
  */
private[offload] final class SplitPointLoader(configuration: Configuration, deadline: FiniteDuration)
    extends AutoCloseable {
  import SplitPointLoader._

  private val until    = deadline.fromNow
  private val patience = deadline / 2
  private val threads  = mutable.ArrayBuffer.empty[StorageThread]
  private var isSilent = false

  /** Split points in the order of the ledgers; [[SplitPointLoader.NoTime]] for those that were not requested, or not
    * for long enough.
    */
  def of(ledgers: Seq[OffloadedLedger]): Seq[Try[Seq[Long]]] =
    BoundedParallel(ledgers, Parallelism)(request)((_, response) => response())

  /** Requests the split points. Returns a function that waits for the response. */
  private def request(ledger: OffloadedLedger): () => Try[Seq[Long]] = ledger.location.format.splitPoints match {
    case None                               => () => Success(Nil)
    case _ if isSilent || until.isOverdue() => () => Failure(NoTime)
    case Some(read)                         =>
      val storage = new StorageThread(ledger, 0, patience)
      threads += storage
      val own      = patience.fromNow
      val response = storage.submit(() => read(ledger, configuration))
      () => take(storage, response, own)
  }

  private def take(storage: StorageThread, response: Future[Seq[Long]], own: Deadline): Try[Seq[Long]] = {
    val points = Try(storage.await(response, own.timeLeft.min(until.timeLeft).max(Duration.Zero) + 1.milli))
    storage.close(() => ())
    points match {
      case Failure(e: SegmentUnreadable) if e.isSilent && own.hasTimeLeft() => Failure(NoTime)
      case Failure(e: SegmentUnreadable) if e.isSilent                      =>
        isSilent = true
        points
      case _ => points
    }
  }

  /** Cancels pending requests. */
  override def close(): Unit = threads.foreach(_.close(() => ()))
}

private[offload] object SplitPointLoader {

  /** Ledgers that are read at the same time; each may keep a thread and a connection busy. */
  private val Parallelism = 16

  /** Failure that proves nothing about the storage. */
  object NoTime extends RuntimeException("there was no time to request them") with NoStackTrace
}
