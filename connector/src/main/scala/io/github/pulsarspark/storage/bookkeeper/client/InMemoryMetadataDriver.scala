package io.github.pulsarspark.storage.bookkeeper.client

import java.util.Optional
import java.util.concurrent.{CompletableFuture, ScheduledExecutorService}

import org.apache.bookkeeper.conf.ClientConfiguration
import org.apache.bookkeeper.discover.RegistrationClient
import org.apache.bookkeeper.meta.{LayoutManager, LedgerManagerFactory, MetadataClientDriver}
import org.apache.bookkeeper.stats.StatsLogger

/** A metadata driver for BookKeeper's client without a store: ledgers come from [[InMemoryLedgerMetadata]], bookies are
  * where their ids or the user say. Everything that would change something is refused, so not even a mistake in this
  * connector can fence, close or delete a ledger.
  *
  * BookKeeper makes it by its class, so it finds what it serves in the client's configuration.
  */
private[bookkeeper] final class InMemoryMetadataDriver extends MetadataClientDriver {
  import InMemoryMetadataDriver._

  private var served: Served = _

  override def initialize(
      conf: ClientConfiguration,
      scheduler: ScheduledExecutorService,
      statsLogger: StatsLogger,
      context: Optional[AnyRef]
  ): MetadataClientDriver = {
    conf.getProperty(Property) match {
      case given: Served => served = given
      case _             => throw new IllegalStateException(s"$Property is not set")
    }
    this
  }

  override def getScheme: String                             = Scheme
  override def getRegistrationClient: RegistrationClient     = new StaticBookieRegistry(served.addresses)
  override def getLedgerManagerFactory: LedgerManagerFactory =
    new ReadOnlyLedgersFactory(() => new ReadOnlyLedgers(served.ledgers))
  override def getLayoutManager: LayoutManager                                                    = refuse()
  override def setSessionStateListener(listener: MetadataClientDriver.SessionStateListener): Unit = ()
  override def isHealthCheckEnabled: CompletableFuture[java.lang.Boolean] = CompletableFuture.completedFuture(false)
  override def close(): Unit                                              = ()
}

private[bookkeeper] object InMemoryMetadataDriver {
  val Scheme   = "pulsarspark"
  val Property = "pulsarspark.served"

  /** @param addresses
    *   `host:port` of bookies whose ids are something else
    */
  final case class Served(ledgers: InMemoryLedgerMetadata, addresses: Map[String, String])

  private[bookkeeper] def refuse(): Nothing =
    throw new UnsupportedOperationException("this BookKeeper client only reads")
}
