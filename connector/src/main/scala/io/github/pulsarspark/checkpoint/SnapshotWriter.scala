package io.github.pulsarspark.checkpoint

import java.util.UUID
import java.util.concurrent.TimeUnit
import java.util.concurrent.atomic.AtomicBoolean

import scala.concurrent.duration.FiniteDuration
import scala.util.control.NonFatal

import org.slf4j.LoggerFactory

import io.github.pulsarspark.checkpoint.LogFollower.Arrival
import io.github.pulsarspark.checkpoint.log.{Apart, Change, LogSize, LogState, Outcome, SnapshotFormat}
import io.github.pulsarspark.pulsar.journal.JournalTopic

/** Writes snapshots of a store into its log, on a thread of their own, and moves the root of the log to the newest: the
  * brokers then delete what is before it. Old contents apart from the log are stored anew, so that brokers can delete
  * those around them too. Of several JVMs that begin at once, the first in the log goes on. A failure costs nothing but
  * space.
  */
private[checkpoint] final class SnapshotWriter(
    journal: JournalTopic,
    writer: LogWriter,
    contents: ContentStore,
    patience: FiniteDuration,
    least: LogSize
) {
  import SnapshotWriter._

  private val isBusy = new AtomicBoolean

  /** Begins one if the state needs it. Does not wait. */
  def check(state: LogState): Unit =
    if (state.isSnapshotDue(least) && isBusy.compareAndSet(false, true)) {
      val thread = new Thread(() => run(), s"pulsar-spark: snapshot of ${journal.name}")
      thread.setDaemon(true)
      thread.start()
    }

  private def run(): Unit =
    try {
      val id    = UUID.randomUUID()
      val begin = folded(Change.SnapshotBegin(id))
      if (begin.folded.outcome == Outcome.Done) {
        val old = begin.folded.state.old(least)
        old.foreach { case (path, content) => copy(path, content) }
        // it begins again after copies, for the floor above what they replaced
        write(id, if (old.isEmpty) begin else folded(Change.SnapshotBegin(id)))
      }
    } catch {
      case NonFatal(e) => log.warn(s"A snapshot of ${journal.name} failed; a later change begins another: $e")
    } finally isBusy.set(false)

  /** A content that is not there was replaced or deleted meanwhile. */
  private def copy(path: Seq[String], content: Apart): Unit =
    contents.read(content).foreach(bytes => folded(Change.Copied(path, content.places, contents.write(bytes))))

  private def write(id: UUID, begin: Arrival): Unit = {
    SnapshotFormat.changes(id, begin.folded.state, writer.maxContent).foreach(folded)
    journal.moveRoot(begin.before)
    contents.forget(begin.folded.state.floor)
    log.debug("wrote a snapshot of {}", journal.name)
  }

  /** Waits for each record, so that other changes do not wait for all of them. */
  private def folded(change: Change): Arrival = writer.append(change).get(patience.toMillis, TimeUnit.MILLISECONDS)
}

private object SnapshotWriter {
  private val log = LoggerFactory.getLogger(classOf[SnapshotWriter])
}
