package io.github.pulsarspark.client

import java.util.concurrent.{Executors, ScheduledExecutorService, TimeUnit}

import scala.collection.mutable
import scala.util.control.NonFatal

import org.apache.pulsar.client.impl.PulsarClientImpl
import org.slf4j.LoggerFactory

import io.github.pulsarspark.options.ClientOptions

/** A client in use. Closing it twice does no harm. */
private[pulsarspark] final class ClientLease private[client] (val client: PulsarClientImpl, val options: ClientOptions, release: () => Unit)
    extends AutoCloseable {
  private val open = new java.util.concurrent.atomic.AtomicBoolean(true)

  /** Fails unless a broker answers and accepts the credentials. Over HTTP there is no connection before there is a topic. */
  def checkConnection(): Unit =
    if (!options.serviceUrl.startsWith("http")) new Answers(options).await("Connecting")(client.getConnectionToServiceUrl)

  override def close(): Unit = if (open.compareAndSet(true, false)) release()
}

/** The Pulsar clients of this JVM, one for equal options, counted: one that is in use is never closed, and one that is not is kept for a while, because the next
  * micro-batch wants it again.
  */
private[pulsarspark] object ClientPool {

  private val IdleSeconds = 60L
  private val log         = LoggerFactory.getLogger(getClass)

  private final class Shared(val client: PulsarClientImpl) {
    var leases    = 0
    var idleSince = 0L
  }

  private val clients = mutable.Map.empty[ClientOptions, Shared]

  private lazy val janitor: ScheduledExecutorService = Executors.newSingleThreadScheduledExecutor { task =>
    val thread = new Thread(task, "pulsar-spark-client-pool")
    thread.setDaemon(true)
    thread
  }

  def acquire(options: ClientOptions): ClientLease = synchronized {
    val shared = clients.getOrElseUpdate(options, new Shared(ClientFactory(options)))
    shared.leases += 1
    new ClientLease(shared.client, options, () => release(options, shared))
  }

  /** Clients that exist now, in use or idle. */
  private[pulsarspark] def size: Int = synchronized(clients.size)

  private def release(options: ClientOptions, shared: Shared): Unit = synchronized {
    shared.leases -= 1
    if (shared.leases == 0) {
      shared.idleSince = System.nanoTime()
      janitor.schedule((() => closeIfIdle(options, shared)): Runnable, IdleSeconds, TimeUnit.SECONDS)
    }
  }

  private def closeIfIdle(options: ClientOptions, shared: Shared): Unit = {
    val close = synchronized {
      val idle = shared.leases == 0 && System.nanoTime() - shared.idleSince >= TimeUnit.SECONDS.toNanos(IdleSeconds) &&
        clients.get(options).contains(shared)
      if (idle) clients.remove(options)
      idle
    }
    if (close)
      try shared.client.shutdown()
      catch { case NonFatal(e) => log.debug("closing an idle Pulsar client of {}", options.serviceUrl, e) }
  }
}
