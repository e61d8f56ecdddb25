package io.github.pulsarspark.storage.tiered

import java.util.concurrent.Future

import scala.collection.mutable
import scala.concurrent.duration._
import scala.util.{Failure, Success, Try}

import org.apache.hadoop.conf.Configuration

import io.github.pulsarspark.client.InTurn
import io.github.pulsarspark.storage.{OffloadBlock, OffloadLocation, OffloadedLedger}

/** Reads which blocks offloaded ledgers have, several at a time and all of them by one deadline, from its making on. */
private[tiered] final class BlockLists(configuration: Configuration, deadline: FiniteDuration) extends AutoCloseable {
  import BlockLists._

  private val until   = deadline.fromNow
  private val threads = mutable.ArrayBuffer.empty[StorageThread]

  def of(ledgers: Seq[OffloadedLedger]): Seq[Try[Seq[OffloadBlock]]] = InTurn(ledgers, AtOnce)(ask) {
    case (_, None)                    => Success(Nil)
    case (_, Some((storage, answer))) =>
      val blocks = answer.fold[Try[Seq[OffloadBlock]]](Failure(storage.late))(a => Try(storage.await(a, until.timeLeft.max(Duration.Zero))))
      storage.close(() => ())
      blocks
  }

  /** None for a ledger without blocks. After the deadline nothing is asked any more. */
  private def ask(ledger: OffloadedLedger): Option[(StorageThread, Option[Future[Vector[OffloadBlock]]])] = ledger.location match {
    case _: OffloadLocation.MapFiles     => None
    case _: OffloadLocation.BlockObjects =>
      val storage = new StorageThread(ledger, 0, deadline)
      threads += storage
      Some(storage -> Option.when(until.hasTimeLeft())(storage.submit { () =>
        val index = OffloadedFiles.readIndex(ledger, configuration)
        index.ledger.check(ledger.managedLedger, index.ledger.lastEntryId)
        index.blocks
      }))
  }

  /** Gives up what is under way. */
  override def close(): Unit = threads.foreach(_.close(() => ()))
}

private object BlockLists {

  /** Indexes that are read at the same time; each may keep a thread and a connection busy. */
  private val AtOnce = 16
}
