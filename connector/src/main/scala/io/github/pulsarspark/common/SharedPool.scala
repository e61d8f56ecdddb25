package io.github.pulsarspark.common

import java.util.concurrent._
import java.util.concurrent.atomic.AtomicBoolean

import scala.collection.mutable
import scala.concurrent.duration._
import scala.util.control.NonFatal

import org.slf4j.LoggerFactory

/** A client of a [[SharedPool]] in use. Closing it twice does no harm. */
private[pulsarspark] final class SharedLease[V] private[pulsarspark] (val value: V, release: () => Unit)
    extends AutoCloseable {
  private val open           = new AtomicBoolean(true)
  override def close(): Unit = if (open.compareAndSet(true, false)) release()
}

/** Clients of this JVM, one for equal keys. Users are counted: a client in use is never closed, and one without users
  * is kept for a while, because the next micro-batch uses it again.
  *
  * A client is created on its own thread and never under the lock, so a slow one delays only callers that wait for it.
  * All of them wait for the same attempt and its one deadline. The next acquirer after a failure or after the deadline
  * starts a new attempt. A client that arrives when no caller waits any more is closed like any other without users.
  *
  * Pools of libraries lend an object to one user at a time, caches close what is still in use, and neither has a
  * deadline for making one.
  *
  * @param what
  *   the kind of client, for logs and names of threads
  * @param patience
  *   how long an attempt may take
  * @param late
  *   the error for an attempt that takes longer
  * @param idle
  *   how long a client without users is kept
  * @param isUsable
  *   whether a client may be handed out again
  */
private[pulsarspark] final class SharedPool[K, V](
    what: String,
    make: K => V,
    dispose: V => Unit,
    patience: K => FiniteDuration,
    late: K => Throwable,
    idle: FiniteDuration = 60.seconds,
    isUsable: V => Boolean = (_: V) => true
) {
  import SharedPool._

  /** A value and its users. The pool's lock guards everything except `made`. */
  private final class Shared(val key: K) {
    val made      = new CompletableFuture[V]
    val deadline  = System.nanoTime() + patience(key).toNanos
    var users     = 0
    var idleSince = 0L
    var isRetired = false // no longer handed out
    var isClosed  = false

    def isOverdue: Boolean = !made.isDone && System.nanoTime() >= deadline
    def isSpoilt: Boolean  = made.isDone && !made.isCompletedExceptionally && !isUsable(made.join())
  }

  private val current = mutable.Map.empty[K, Shared]

  /** Waits until the client is there; fails with the exception of `make`, or with `late`. */
  def acquire(key: K): SharedLease[V] = {
    val shared = join(key)
    try new SharedLease(await(shared), () => leave(shared))
    catch { case e: Throwable => leave(shared); throw e }
  }

  /** Clients that exist or are being made, in use or idle. */
  def size: Int = synchronized(current.size)

  private def join(key: K): Shared = synchronized {
    val shared = current.get(key).filterNot(s => s.isOverdue || s.isSpoilt).getOrElse(start(key))
    shared.users += 1
    shared
  }

  private def start(key: K): Shared = {
    current.get(key).foreach(retire)
    val shared = new Shared(key)
    inBackground(s"make $what")(run(shared))
    current.put(key, shared)
    shared
  }

  private def run(shared: Shared): Unit = {
    try shared.made.complete(make(shared.key))
    catch {
      case e: Throwable =>
        synchronized(retire(shared)) // first, so that whoever learns of the failure and tries again starts anew
        shared.made.completeExceptionally(e)
    }
    closeIfUnused(shared)
  }

  private def await(shared: Shared): V =
    try shared.made.get(shared.deadline - System.nanoTime(), TimeUnit.NANOSECONDS)
    catch {
      case e: ExecutionException => throw e.getCause
      case _: TimeoutException   =>
        synchronized(retire(shared))
        throw late(shared.key)
    }

  private def leave(shared: Shared): Unit = {
    synchronized {
      shared.users -= 1
      shared.idleSince = System.nanoTime()
      if (shared.users == 0 && !shared.isRetired)
        janitor.schedule((() => retireIfIdle(shared)): Runnable, idle.toNanos, TimeUnit.NANOSECONDS)
    }
    closeIfUnused(shared)
  }

  private def retireIfIdle(shared: Shared): Unit = {
    synchronized(if (shared.users == 0 && System.nanoTime() - shared.idleSince >= idle.toNanos) retire(shared))
    closeIfUnused(shared)
  }

  private def retire(shared: Shared): Unit = {
    shared.isRetired = true
    if (current.get(shared.key).contains(shared)) current.remove(shared.key)
  }

  private def closeIfUnused(shared: Shared): Unit = {
    val closes = synchronized {
      val unused = shared.isRetired && shared.users == 0 && shared.made.isDone && !shared.isClosed
      if (unused) shared.isClosed = true
      unused
    }
    if (closes && !shared.made.isCompletedExceptionally) inBackground(s"close $what") {
      try dispose(shared.made.join())
      catch { case NonFatal(e) => log.debug("closing a {}", what, e) }
    }
  }
}

private object SharedPool {
  private val log = LoggerFactory.getLogger(classOf[SharedPool[_, _]])

  private lazy val janitor: ScheduledExecutorService =
    Executors.newSingleThreadScheduledExecutor(daemon("pulsar-spark-client-pool", _))

  /** Runs `body` on a new thread with the caller's class loader, where names of plug-ins are looked up. */
  private def inBackground(what: String)(body: => Unit): Unit = daemon(s"pulsar-spark: $what", () => body).start()

  private def daemon(name: String, body: Runnable): Thread = {
    val thread = new Thread(body, name)
    thread.setDaemon(true)
    thread
  }
}
