package io.github.pulsarspark.client

import java.util.concurrent.atomic.AtomicBoolean
import java.util.concurrent.{Executors, ScheduledExecutorService, TimeUnit}

import scala.collection.mutable
import scala.util.control.NonFatal

import org.slf4j.LoggerFactory

/** Something of a [[SharedPool]] in use. Closing it twice does no harm. */
private[pulsarspark] final class SharedLease[V] private[client] (val value: V, release: () => Unit) extends AutoCloseable {
  private val open           = new AtomicBoolean(true)
  override def close(): Unit = if (open.compareAndSet(true, false)) release()
}

/** Clients of this JVM, one for equal options, counted: one that is in use is never closed, and one that is not is kept for a while, because the next micro-batch
  * wants it again.
  *
  * @param what
  *   the kind of client, for logs
  */
private[pulsarspark] final class SharedPool[K, V](what: String, make: K => V, dispose: V => Unit) {
  import SharedPool._

  private final class Shared(val value: V) {
    var leases    = 0
    var idleSince = 0L
  }

  private val all = mutable.Map.empty[K, Shared]

  def acquire(key: K): SharedLease[V] = synchronized {
    val shared = all.getOrElseUpdate(key, new Shared(make(key)))
    shared.leases += 1
    new SharedLease(shared.value, () => release(key, shared))
  }

  /** Those that exist now, in use or idle. */
  def size: Int = synchronized(all.size)

  private def release(key: K, shared: Shared): Unit = synchronized {
    shared.leases -= 1
    if (shared.leases == 0) {
      shared.idleSince = System.nanoTime()
      janitor.schedule((() => closeIfIdle(key, shared)): Runnable, IdleSeconds, TimeUnit.SECONDS)
    }
  }

  private def closeIfIdle(key: K, shared: Shared): Unit = {
    val close = synchronized {
      val idle = shared.leases == 0 && System.nanoTime() - shared.idleSince >= TimeUnit.SECONDS.toNanos(IdleSeconds) &&
        all.get(key).contains(shared)
      if (idle) all.remove(key)
      idle
    }
    if (close)
      try dispose(shared.value)
      catch { case NonFatal(e) => log.debug("closing an idle {}", what, e) }
  }
}

private object SharedPool {
  private val IdleSeconds = 60L
  private val log         = LoggerFactory.getLogger(classOf[SharedPool[_, _]])

  private lazy val janitor: ScheduledExecutorService = Executors.newSingleThreadScheduledExecutor { task =>
    val thread = new Thread(task, "pulsar-spark-client-pool")
    thread.setDaemon(true)
    thread
  }
}
