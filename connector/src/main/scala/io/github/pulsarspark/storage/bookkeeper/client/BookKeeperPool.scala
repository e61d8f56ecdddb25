package io.github.pulsarspark.storage.bookkeeper.client

import scala.concurrent.duration._

import org.apache.bookkeeper.auth.ClientAuthProvider
import org.apache.bookkeeper.client.BookKeeper
import org.apache.bookkeeper.conf.ClientConfiguration
import org.apache.bookkeeper.meta.MetadataDrivers

import io.github.pulsarspark.common.{NetworkMemory, SharedLease, SharedPool}
import io.github.pulsarspark.options.BookKeeperOptions
import io.github.pulsarspark.policy.PluginClass
import io.github.pulsarspark.storage.bookkeeper.bookies.{BookieConnections, BookieTlsFactory}
import io.github.pulsarspark.storage.segment.SegmentUnreadable

/** A BookKeeper client that reads the ledgers which tasks announce. */
private[bookkeeper] final class BookKeeperReader(options: BookKeeperOptions) extends AutoCloseable {
  val ledgers: InMemoryLedgerMetadata = new InMemoryLedgerMetadata
  private val tls                     = options.tls.map(new BookieConnections(_))
  private val configuration           = BookKeeperReader.configuration(options, ledgers, tls)
  val client: BookKeeper              = BookKeeper.forConfig(configuration).allocator(NetworkMemory.allocator).build()

  /** Time in milliseconds after which a read of many entries has its response or failure, unless the client has lost
    * it.
    */
  val batchMillis: Long = configuration.getReadEntryTimeout * 1000L + 1000L

  /** Possible reason why connections fail, if they use TLS. */
  def tlsProblem: Option[String] = tls.map(_.problem)

  override def close(): Unit = client.close()
}

private object BookKeeperReader {

  /** The broker's own bound on the size of an entry, with what BookKeeper adds to it; larger where the user allows
    * larger messages.
    */
  private val FrameBytes = 5 * 1024 * 1024 + 10 * 1024

  MetadataDrivers.registerClientDriver(InMemoryMetadataDriver.Scheme, classOf[InMemoryMetadataDriver], true)

  private def configuration(
      options: BookKeeperOptions,
      ledgers: InMemoryLedgerMetadata,
      tls: Option[BookieConnections]
  ): ClientConfiguration = {
    val conf = new ClientConfiguration()
    conf.setMetadataServiceUri(s"${InMemoryMetadataDriver.Scheme}://none/ledgers")
    conf.setEnsemblePlacementPolicy(classOf[RankedReplicas])
    conf.setUseV2WireProtocol(true) // the one that knows reads of many entries at once
    conf.setBatchReadEnabled(true)
    conf.setThrottleValue(0) // by default BookKeeper's client reads 5,000 entries a second and no more
    conf.setStickyReadsEnabled(true)
    conf.setReorderReadSequenceEnabled(true) // by RankedReplicas
    conf.setSpeculativeReadTimeout(2000)     // then another replica is read as well
    conf.setReadEntryTimeout(10)
    conf.setNumIOThreads(2)
    conf.setNumWorkerThreads(2)
    conf.setNumChannelsPerBookie(1)
    conf.setClientTcpNoDelay(true)
    conf.setNettyMaxFrameSizeBytes(FrameBytes)
    BookKeeperPool.settings(options).foreach { case (key, value) => conf.setProperty(key, value) }
    conf.setProperty(InMemoryMetadataDriver.Property, InMemoryMetadataDriver.Served(ledgers, options.addresses))
    tls.foreach { connections =>
      conf.setTLSProviderFactoryClass(classOf[BookieTlsFactory].getName)
      conf.setProperty(BookieTlsFactory.Property, connections)
    }
    conf
  }
}

/** The BookKeeper clients of this JVM, one for each cluster and its settings. */
private[storage] object BookKeeperPool {

  /** Timeout of its constructor, which opens no connection but resolves the name of this machine. */
  private val CreateTimeout = 30.seconds

  private val pool =
    new SharedPool[BookKeeperOptions, BookKeeperReader]("BookKeeper client", new BookKeeperReader(_), _.close(),
      _ => CreateTimeout, _ => late)

  private def late = new SegmentUnreadable(s"no BookKeeper client could be created within $CreateTimeout", null)

  /** The settings of the client as text. Fails with the name of the one that names no plug-in of this machine. */
  private[bookkeeper] def settings(options: BookKeeperOptions): Map[String, String] = options.settings.map {
    case (key @ "clientAuthProviderFactoryClass", name) =>
      key -> PluginClass(s"bookkeeper.$key", name.reveal, classOf[ClientAuthProvider.Factory]).getName
    case (key, value) => key -> value.reveal
  }

  private[bookkeeper] def acquire(options: BookKeeperOptions): SharedLease[BookKeeperReader] = pool.acquire(options)
}
