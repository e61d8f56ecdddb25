package io.github.pulsarspark.storage.offload

import java.util.concurrent.Future

import scala.collection.mutable
import scala.concurrent.duration._
import scala.util.control.NoStackTrace
import scala.util.{Failure, Success, Try}

import org.apache.hadoop.conf.Configuration

import io.github.pulsarspark.common.BoundedParallel
import io.github.pulsarspark.errors.{Conditions, PulsarError}
import io.github.pulsarspark.storage.segment.{OffloadBlock, OffloadLocation, OffloadedLedger}

/** Reads which blocks offloaded ledgers have, several at a time and all of them by one deadline. The storage counts as
  * silent when it did not answer a request within half of it; then, and after the deadline, nothing more is requested.
  */
private[offload] final class BlockIndexLoader(configuration: Configuration, deadline: FiniteDuration)
    extends AutoCloseable {
  import BlockIndexLoader._

  private val until    = deadline.fromNow
  private val patience = deadline / 2
  private val threads  = mutable.ArrayBuffer.empty[StorageThread]
  private var isSilent = false

  /** In the order of the ledgers; [[BlockIndexLoader.NoTime]] for those that were not requested, or not for long
    * enough.
    */
  def of(ledgers: Seq[OffloadedLedger]): Seq[Try[Seq[OffloadBlock]]] =
    BoundedParallel(ledgers, AtOnce)(ask)((_, request) => request())

  /** What waits for the answer. */
  private def ask(ledger: OffloadedLedger): () => Try[Seq[OffloadBlock]] = ledger.location match {
    case _: OffloadLocation.MapFiles                                      => () => Success(Nil)
    case _: OffloadLocation.BlockObjects if isSilent || until.isOverdue() => () => Failure(NoTime)
    case _: OffloadLocation.BlockObjects                                  =>
      val storage = new StorageThread(ledger, 0, patience)
      threads += storage
      val own    = patience.fromNow
      val answer = storage.submit { () =>
        val index = OffloadedFiles.readIndex(ledger, configuration)
        index.ledger.check(ledger.managedLedger, index.ledger.lastEntryId)
        index.blocks
      }
      () => take(storage, answer, own)
  }

  private def take(
      storage: StorageThread,
      answer: Future[Vector[OffloadBlock]],
      own: Deadline
  ): Try[Seq[OffloadBlock]] = {
    val blocks = Try(storage.await(answer, own.timeLeft.min(until.timeLeft).max(Duration.Zero) + 1.milli))
    storage.close(() => ())
    blocks match {
      case Failure(e: PulsarError) if Conditions.OffloadTimeout.is(e) && own.hasTimeLeft() => Failure(NoTime)
      case Failure(e: PulsarError) if Conditions.OffloadTimeout.is(e)                      =>
        isSilent = true
        blocks
      case _ => blocks
    }
  }

  /** Gives up what is under way. */
  override def close(): Unit = threads.foreach(_.close(() => ()))
}

private[offload] object BlockIndexLoader {

  /** Indexes that are read at the same time; each may keep a thread and a connection busy. */
  private val AtOnce = 16

  /** Says nothing about the storage. */
  object NoTime extends RuntimeException("there was no time to ask for them") with NoStackTrace
}
