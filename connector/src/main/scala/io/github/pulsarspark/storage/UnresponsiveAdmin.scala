package io.github.pulsarspark.storage

import java.util.concurrent.atomic.AtomicInteger

import scala.collection.concurrent.TrieMap
import scala.concurrent.duration._

import org.slf4j.LoggerFactory

import io.github.pulsarspark.pulsar.admin.{AdminApi, JsonFields, LedgerSink}

/** A circuit breaker for admin services, by URL: a service that did not respond in time to this JVM is not requested by
  * reads that can do without it. Otherwise each micro-batch would wait until the deadline. While the circuit is open,
  * one request at a time probes the service, at longer and longer intervals; no read waits for it. A response closes
  * the circuit.
  */
private[storage] object UnresponsiveAdmin {

  private final class Silence {
    private val attempts      = new AtomicInteger
    @volatile private var due = System.nanoTime() + FirstPause.toNanos

    /** True if the caller is to probe the service now. Then sets the time of the next probe. */
    def isDue: Boolean = synchronized {
      val isDue = System.nanoTime() - due >= 0
      if (isDue) due = System.nanoTime() +
        (FirstPause * (1L << math.min(attempts.incrementAndGet(), MaxDoublings))).toNanos
      isDue
    }
  }

  private val log          = LoggerFactory.getLogger("io.github.pulsarspark.storage.UnresponsiveAdmin")
  private val silent       = TrieMap.empty[String, Silence]
  private val FirstPause   = 10.seconds
  private val MaxDoublings = 5

  def add(admin: AdminApi): Unit =
    if (silent.putIfAbsent(admin.url, new Silence).isEmpty)
      log.warn("{} does not respond; reads do without it until it does", admin.url)

  /** Reason not to request the service; None if it may be requested.
    *
    * @param partition
    *   the topic partition of the probe
    */
  def obstacle(admin: AdminApi, partition: => String): Option[String] = silent.get(admin.url).map { silence =>
    if (silence.isDue) admin.internalStats(partition, withMetadata = false)(Ignored).thenAccept(_ => remove(admin))
    s"${admin.url} did not respond recently"
  }

  private object Ignored extends LedgerSink[Unit] {
    override def ledger(fields: JsonFields): Unit = ()
    override def end(fields: JsonFields): Unit    = ()
  }

  private def remove(admin: AdminApi): Unit =
    if (silent.remove(admin.url).nonEmpty) log.info("{} responds again", admin.url)
}
