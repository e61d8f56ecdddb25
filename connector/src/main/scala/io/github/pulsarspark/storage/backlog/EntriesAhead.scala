package io.github.pulsarspark.storage.backlog

import java.util.concurrent.ConcurrentLinkedQueue
import java.util.concurrent.atomic.{AtomicBoolean, AtomicLong}

import scala.annotation.tailrec
import scala.util.control.NonFatal

import io.netty.buffer.{ByteBuf, ByteBufUtil, Unpooled}
import org.slf4j.LoggerFactory

import io.github.pulsarspark.format.Tier

/** The entries of slices for a reader that must not wait. They are read in the background and copied into a queue of
  * bounded size; no thread waits for room in it. A failure is raised at the place where it happened, after all entries
  * before it.
  *
  * @param entries
  *   used in the background alone
  * @param most
  *   bytes that wait, and one entry more
  * @param background
  *   runs work on another thread
  */
private[backlog] final class EntriesAhead(entries: SliceEntries, most: Long, background: (() => Unit) => Unit)
    extends AutoCloseable {
  import EntriesAhead._

  private val queue               = new ConcurrentLinkedQueue[Item]
  private val queuedBytes         = new AtomicLong
  private val isInUse             = new AtomicBoolean // the entries are being read, or closed
  @volatile private var isDone    = false             // the last item is in the queue
  @volatile private var isClosed  = false
  private var listener: Runnable  = () => ()
  private var last: Option[Entry] = None

  /** The entry that came last; only after [[next]] was [[Step.Entry]]. */
  def current: Entry = last.get

  /** Counts up to the entry that came last, or to the end. */
  var counts: SourceCounts = SourceCounts.none

  /** @param changed
    *   is called, on any thread, when [[next]] may deliver
    */
  def begin(changed: Runnable): Unit = {
    listener = changed
    fill()
  }

  /** Takes what comes next, without a wait. Not after an end or a failure. */
  def next(): Step = {
    val item = Option(queue.poll())
    if (queuedBytes.addAndGet(-item.fold(0L)(_.bytes)) <= most / 2) fill()
    item match {
      case Some(entry: Entry) =>
        last = Some(entry)
        counts = entry.counts
        Step.Entry
      case Some(Ended(all))    => counts = all; Step.End
      case Some(Failed(cause)) => throw cause
      case None                => Step.Silence
    }
  }

  /** Reads on, unless that is under way. */
  private def fill(): Unit = if (!isDone && isInUse.compareAndSet(false, true)) background { () =>
    try read()
    catch {
      case e: Throwable => add(Failed(e)) // for the reader's thread
    }
    isInUse.set(false)
    closeIfDue()
    listener.run() // it may have found the queue empty, and this not at its end
  }

  @tailrec
  private def read(): Unit = if (!isClosed && queuedBytes.get < most)
    if (entries.next()) {
      val source = entries.current
      val copy   = ByteBufUtil.getBytes(source.entry) // the source overwrites it
      add(new Entry(source.ledgerId, source.entryId, source.level, Unpooled.wrappedBuffer(copy), entries.counts))
      read()
    } else add(Ended(entries.counts))

  private def add(item: Item): Unit = {
    queuedBytes.addAndGet(item.bytes)
    queue.add(item)
    if (item.isLast) isDone = true
    listener.run()
  }

  /** Closes without waiting, after the work under way. */
  override def close(): Unit = {
    isClosed = true
    closeIfDue()
  }

  private def closeIfDue(): Unit = if (isClosed && isInUse.compareAndSet(false, true))
    try entries.close()
    catch { case NonFatal(e) => log.warn("closing the readers of a backlog: {}", e.toString: Any) }
}

private[backlog] object EntriesAhead {
  private val log = LoggerFactory.getLogger(classOf[EntriesAhead])

  /** Memory of an entry beside its bytes. */
  private val Overhead = 128L

  /** Result of one call of [[EntriesAhead.next]]. */
  sealed trait Step

  object Step {
    case object Entry   extends Step
    case object Silence extends Step
    case object End     extends Step
  }

  sealed trait Item {
    def bytes: Long     = 0
    def isLast: Boolean = true
  }

  /** A copy of a stored entry.
    *
    * @param counts
    *   up to this entry
    */
  final class Entry(
      val ledgerId: Long,
      val entryId: Long,
      val level: Tier,
      val buffer: ByteBuf,
      val counts: SourceCounts
  ) extends Item {
    override def bytes: Long     = Overhead + buffer.capacity
    override def isLast: Boolean = false
  }

  private final case class Ended(counts: SourceCounts) extends Item
  private final case class Failed(cause: Throwable)    extends Item
}
