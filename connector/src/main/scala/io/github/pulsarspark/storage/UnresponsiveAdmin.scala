package io.github.pulsarspark.storage

import java.util.concurrent.atomic.AtomicInteger

import scala.collection.concurrent.TrieMap
import scala.concurrent.duration._

import org.slf4j.LoggerFactory

import io.github.pulsarspark.pulsar.admin.{AdminApi, JsonFields, LedgerSink}

/** Admin services that gave this JVM no answer in time. Where reads can do without, they are not waited for again,
  * since otherwise each micro-batch would wait until the deadline. One request at a time, for which nobody waits, finds
  * out when a service answers again, at longer and longer intervals.
  */
private[storage] object UnresponsiveAdmin {

  private final class Silence {
    private val attempts      = new AtomicInteger
    @volatile private var due = System.nanoTime() + FirstPause.toNanos

    /** Whether the service may be tried now; then the caller does. */
    def isDue: Boolean = synchronized {
      val isDue = System.nanoTime() - due >= 0
      if (isDue) due = System.nanoTime() +
        (FirstPause * (1L << math.min(attempts.incrementAndGet(), MostDoublings))).toNanos
      isDue
    }
  }

  private val log           = LoggerFactory.getLogger("io.github.pulsarspark.storage.UnresponsiveAdmin")
  private val silent        = TrieMap.empty[String, Silence]
  private val FirstPause    = 10.seconds
  private val MostDoublings = 5

  def add(admin: AdminApi): Unit =
    if (silent.putIfAbsent(admin.url, new Silence).isEmpty)
      log.warn("{} gives no answer; reads do without it until it does", admin.url)

  /** Why it is not asked.
    *
    * @param partition
    *   what it is tried with
    */
  def obstacle(admin: AdminApi, partition: => String): Option[String] = silent.get(admin.url).map { silence =>
    if (silence.isDue) admin.internalStats(partition, withMetadata = false)(Ignored).thenAccept(_ => remove(admin))
    s"${admin.url} gave no answer lately"
  }

  private object Ignored extends LedgerSink[Unit] {
    override def ledger(fields: JsonFields): Unit = ()
    override def end(fields: JsonFields): Unit    = ()
  }

  private def remove(admin: AdminApi): Unit =
    if (silent.remove(admin.url).nonEmpty) log.info("{} answers again", admin.url)
}
