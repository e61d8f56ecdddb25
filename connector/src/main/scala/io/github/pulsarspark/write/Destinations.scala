package io.github.pulsarspark.write

import java.util.{ArrayDeque, LinkedHashMap}
import java.util.concurrent.{CompletableFuture, ExecutionException}

import scala.jdk.CollectionConverters._

import org.apache.spark.sql.catalyst.InternalRow
import org.apache.spark.sql.catalyst.expressions.UnsafeRow
import org.apache.spark.unsafe.types.UTF8String

/** Keeps a bounded number of topics open that a task's rows name. Over the limit, it gives back the least recently used
  * ones, several at once. A topic that was given back is opened again when a row names it.
  *
  * Several topics open at the same time. Rows of a topic that is not open yet wait for it in their order; their bytes
  * are bounded for all topics together. For one thread.
  *
  * @param most
  *   that are open at a time
  * @param open
  *   opens the resources of a topic, without waiting for it
  * @param send
  *   sends a row to what is open
  * @param giveBack
  *   ends their use; they stay when it fails
  */
private[write] final class Destinations[A <: AnyRef](
    most: Int,
    open: String => CompletableFuture[A],
    send: (A, InternalRow) => Unit,
    giveBack: Seq[A] => Unit
) {
  import Destinations._

  private final class Slot(val opening: CompletableFuture[A]) {
    val waiting   = new ArrayDeque[InternalRow]
    var bytes     = 0L // of the rows that wait
    var opened: A = _  // when they are sent
  }

  private val byName       = new LinkedHashMap[UTF8String, Slot](16, 0.75f, true) // in the order of their last use
  private var waitingBytes = 0L

  /** Sends the row, or keeps a copy of it until its topic is open.
    *
    * @param name
    *   of the topic, only valid during the call
    */
  def send(name: UTF8String, row: InternalRow): Unit = {
    val found = byName.get(name)
    val slot  = if (found == null) add(name) else found
    if (slot.opened == null && slot.opening.isDone) finish(slot)
    if (slot.opened != null) send(slot.opened, row)
    else {
      slot.waiting.add(row.copy())
      slot.bytes += bytes(row)
      waitingBytes += bytes(row)
      if (waitingBytes >= MaxWaitingBytes) openAll()
    }
  }

  /** Waits until every topic is open and its rows are sent. Throws the failure of a topic. */
  def openAll(): Unit = byName.values.forEach(finish(_))

  /** Topics that are open and whose waiting rows were sent. */
  def all: Iterable[A] = byName.values.asScala.view.map(_.opened).filter(_ != null)

  /** Openings of all topics; that of a topic which cannot be opened fails. */
  def eventually: Seq[CompletableFuture[A]] = byName.values.asScala.map(_.opening).toSeq

  private def add(name: UTF8String): Slot = {
    if (byName.size >= most) shrink()
    val slot = new Slot(open(name.toString))
    byName.put(name.copy(), slot)
    slot
  }

  private def finish(slot: Slot): Unit = if (slot.opened == null) {
    val opened =
      try slot.opening.get()
      catch { case e: ExecutionException => throw e.getCause }
    while (!slot.waiting.isEmpty) send(opened, slot.waiting.poll())
    waitingBytes -= slot.bytes
    slot.opened = opened
  }

  private def shrink(): Unit = {
    openAll()
    val oldest = byName.asScala.iterator.take(math.max(1, most / ReleaseDivisor)).toSeq
    giveBack(oldest.map(_._2.opened))
    oldest.foreach { case (name, _) => byName.remove(name) }
  }
}

private[write] object Destinations {

  /** Producers of one task; each has a buffer, and a request to open it. */
  val MaxOpen = 256

  /** Limit of bytes of all rows that wait for their topics. */
  val MaxWaitingBytes: Long = 4 << 20

  /** Divisor of the number of topics: a quarter is given back at a time, so that one wait for acknowledgements serves
    * many.
    */
  private val ReleaseDivisor = 4

  /** Bytes of a waiting row. Spark writes unsafe rows; other rows are small, so their size is a guess. */
  private def bytes(row: InternalRow): Long = row match {
    case unsafe: UnsafeRow => unsafe.getSizeInBytes.toLong + RowOverhead
    case _                 => RowOverhead
  }

  private val RowOverhead = 128L
}
