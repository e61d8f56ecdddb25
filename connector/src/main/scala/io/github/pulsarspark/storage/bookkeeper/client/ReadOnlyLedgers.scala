package io.github.pulsarspark.storage.bookkeeper.client

import java.util.concurrent.CompletableFuture

import org.apache.bookkeeper.client.api.LedgerMetadata
import org.apache.bookkeeper.meta.LedgerManager
import org.apache.bookkeeper.proto.BookkeeperInternalCallbacks.{LedgerMetadataListener, Processor}
import org.apache.bookkeeper.versioning.{Version, Versioned}
import org.apache.zookeeper.AsyncCallback

/** A metadata store for reads alone; it refuses everything else. */
private[bookkeeper] final class ReadOnlyLedgers(ledgers: InMemoryLedgerMetadata) extends LedgerManager {
  import InMemoryMetadataDriver.refuse

  override def readLedgerMetadata(id: Long): CompletableFuture[Versioned[LedgerMetadata]] = ledgers.find(id)

  /** Ignores listeners: shipped metadata does not change. A reader that fails gets new metadata by opening the ledger
    * again.
    */
  override def registerLedgerMetadataListener(id: Long, listener: LedgerMetadataListener): Unit   = ()
  override def unregisterLedgerMetadataListener(id: Long, listener: LedgerMetadataListener): Unit = ()
  override def close(): Unit                                                                      = ()

  override def createLedgerMetadata(id: Long, metadata: LedgerMetadata): CompletableFuture[Versioned[LedgerMetadata]] =
    refused
  override def removeLedgerMetadata(id: Long, version: Version): CompletableFuture[Void] = refused
  override def writeLedgerMetadata(
      id: Long,
      metadata: LedgerMetadata,
      current: Version
  ): CompletableFuture[Versioned[LedgerMetadata]] =
    refused

  override def getLedgerRanges(timeoutMillis: Long): LedgerManager.LedgerRangeIterator = refuse()
  override def asyncProcessLedgers(
      processor: Processor[java.lang.Long],
      done: AsyncCallback.VoidCallback,
      context: AnyRef,
      success: Int,
      failure: Int
  ): Unit = refuse()

  private def refused[A]: CompletableFuture[A] =
    CompletableFuture.failedFuture(new UnsupportedOperationException("this BookKeeper client only reads"))
}
