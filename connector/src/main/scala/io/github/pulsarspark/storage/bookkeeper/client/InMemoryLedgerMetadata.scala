package io.github.pulsarspark.storage.bookkeeper.client

import java.util.concurrent.{CompletableFuture, ConcurrentHashMap}

import scala.jdk.CollectionConverters._

import org.apache.bookkeeper.client.BKException
import org.apache.bookkeeper.client.LedgerMetadataBuilder
import org.apache.bookkeeper.client.api.{DigestType, LedgerMetadata}
import org.apache.bookkeeper.net.BookieId
import org.apache.bookkeeper.versioning.{LongVersion, Versioned}

import io.github.pulsarspark.storage.segment.BookieLocation

/** The metadata of ledgers that tasks of this JVM read, brought by the tasks themselves, in place of a metadata store.
  *
  * Every ledger is said to be closed at an entry that the broker has confirmed, also the one that is being written. So
  * opening it sends no request, needs no recovery (which would fence the writer), and plain reads cannot go beyond that
  * entry.
  */
private[bookkeeper] final class InMemoryLedgerMetadata {
  import InMemoryLedgerMetadata.Known

  private val known = new ConcurrentHashMap[Long, Known]

  /** Announces a ledger to be read up to `lastEntry`; several tasks may read it, each up to another entry. */
  def add(ledgerId: Long, location: BookieLocation, lastEntry: Long): Unit = {
    known.compute(
      ledgerId,
      (_, before) =>
        if (before == null) Known(describe(ledgerId, location, lastEntry, 0), 1)
        else {
          val end     = math.max(lastEntry, before.metadata.getValue.getLastEntryId)
          val version = before.metadata.getVersion.asInstanceOf[LongVersion].getLongVersion
          Known(describe(ledgerId, location, end, version + 1), before.users + 1)
        }
    )
    ()
  }

  /** Removes one use of a ledger. Call it once for each [[add]]. */
  def remove(ledgerId: Long): Unit = {
    known.computeIfPresent(ledgerId,
      (_, before) => if (before.users == 1) null else before.copy(users = before.users - 1))
    ()
  }

  def find(ledgerId: Long): CompletableFuture[Versioned[LedgerMetadata]] = Option(known.get(ledgerId)) match {
    case Some(ledger) => CompletableFuture.completedFuture(ledger.metadata)
    case None         => CompletableFuture.failedFuture(new BKException.BKNoSuchLedgerExistsOnMetadataServerException)
  }

  def size: Int = known.size

  private def describe(
      ledgerId: Long,
      location: BookieLocation,
      lastEntry: Long,
      version: Long
  ): Versioned[LedgerMetadata] = {
    val builder = LedgerMetadataBuilder
      .create()
      .withId(ledgerId)
      .withMetadataFormatVersion(location.formatVersion)
      .withEnsembleSize(location.ensembleSize)
      .withWriteQuorumSize(location.writeQuorum)
      .withAckQuorumSize(location.ackQuorum)
      .withDigestType(DigestType.valueOf(location.digestType))
      .withPassword(InMemoryLedgerMetadata.NoPassword)
    location.ensembles.foreach { case (first, bookies) =>
      builder.newEnsembleEntry(first, bookies.map(BookieId.parse).asJava)
    }
    val closed = builder.withClosedState().withLastEntryId(lastEntry).withLength(0).build()
    new Versioned(closed, new LongVersion(version))
  }
}

private[bookkeeper] object InMemoryLedgerMetadata {

  private final case class Known(metadata: Versioned[LedgerMetadata], users: Int)

  /** Reads do not send it; BookKeeper's client compares it with the metadata above, which has the same. */
  val NoPassword: Array[Byte] = Array.emptyByteArray
}
