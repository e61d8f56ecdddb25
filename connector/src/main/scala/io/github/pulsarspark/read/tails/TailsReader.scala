package io.github.pulsarspark.read.tails

import java.util.concurrent.TimeUnit

import scala.util.Using

import org.apache.spark.TaskContext
import org.apache.spark.sql.catalyst.InternalRow

import io.github.pulsarspark.metrics.{LatencyCounts, TaskTotals}
import io.github.pulsarspark.read.task.{ReadContext, SliceReader, TaskParts}
import io.github.pulsarspark.storage.backlog.FollowedEntries

/** Reads topic partitions for a task of a real-time batch: rows of whichever has something, each partition in its own
  * order. The task sleeps while none has. A tail with many messages takes turns with the others, and one that reads a
  * backlog lets others go first. What needs a response of a broker or of a storage is done in the background, so that a
  * slow one holds up no other.
  *
  * It does not order the rows of two partitions.
  *
  * @param stream
  *   the run of a stream, whose tasks leave their tails to those of the next batch
  * @param latencies
  *   what the tasks of all batches count
  */
private[read] final class TailsReader(
    partition: TailsPartition,
    context: ReadContext,
    stream: String,
    total: Option[TaskTotals],
    latencies: Option[LatencyCounts.Total]
) extends AutoCloseable {
  import TailsReader._

  private val parts   = new TaskParts(context, total)
  private val ready   = new ReadyTails[Tail](_.source.isBehind)
  private val options = context.options.copy(readAheadBytes =
    math.min(context.options.readAheadBytes,
      math.max(LeastReadAhead, ReadAheadOfTask / math.max(1, partition.tails.size)))
  )
  private val tails    = partition.tails.map(open)
  private val measured = new LatencyCounts

  private var current: Option[ReadyTails.Entry[Tail]] = None
  private var turn                                    = 0 // rows of the current tail
  private var turnBegan                               = 0L
  private var wasAsked                                = false
  private var isFinished                              = false
  private var lookedAt                                = System.nanoTime()

  private def open(tail: PlannedTail): ReadyTails.Entry[Tail] = {
    val range  = tail.planned.slice.range
    val source = FollowedEntries(range, tail.known, tail.backlog, options, stream, parts.storageInBackground)
    val result = ready.entry(new Tail(range.topic, source, new SliceReader(tail.planned, parts, source)))
    source.begin(result)
    result.run()
    result
  }

  /** Waits for a row until the time of `System.nanoTime`. */
  def next(deadline: Long): Boolean = {
    wasAsked = true
    while (true) {
      if (current.isEmpty) {
        current = waitUntil(deadline)
        turnBegan = System.nanoTime()
      }
      current match {
        case None        => return false
        case Some(entry) =>
          val mayGoOn = isItsTurn(entry.tail)
          if (mayGoOn && entry.tail.rows.next()) {
            turn += 1
            measured.add(System.currentTimeMillis - entry.tail.rows.publishTime)
            return true
          }
          if (!mayGoOn) entry.run() // behind the others
          current = None
          turn = 0
      }
    }
    false
  }

  /** True if the current tail goes on. Its turn ends after some time as well, because a query may take long for a row.
    */
  private def isItsTurn(tail: Tail) = turn == 0 ||
    turn < (if (tail.source.isBehind && ready.hasLive) RowsOfPassedTurn else RowsOfTurn) &&
    System.nanoTime() - turnBegan < TurnNanos

  private def waitUntil(deadline: Long): Option[ReadyTails.Entry[Tail]] = {
    var result = Option.empty[ReadyTails.Entry[Tail]]
    var now    = System.nanoTime()
    while (result.isEmpty && deadline - now > 0) {
      if (now - lookedAt >= LookNanos) {
        lookedAt = now
        tails.foreach(_.tail.source.look())
      }
      result = ready.poll(math.min(deadline - now, lookedAt + LookNanos - now))
      now = System.nanoTime()
    }
    result
  }

  /** The current row; valid after [[next]] was true. */
  def row: InternalRow = current.get.tail.rows.row

  /** Ends the reads, and returns what was read. Waits until copies of messages that do not decode are acknowledged. */
  def finish(): TailPositions = {
    parts.decodeErrors.flush()
    isFinished = true
    val isRetried = Option(TaskContext.get()).exists(_.attemptNumber() > 0)
    TailPositions(tails.map(t => t.tail.topic -> t.tail.rows.position).toMap, wasAsked || isRetried)
  }

  override def close(): Unit = {
    latencies.foreach(_.add(measured.counted))
    val all = tails.map(t => (() => end(t.tail)): AutoCloseable) ++ parts.closing
    Using.Manager(use => all.reverse.foreach(use(_))).get
  }

  private def end(tail: Tail): Unit = {
    tail.rows.finish()
    if (isFinished) tail.source.leave(stream, tail.rows.position)
    else tail.source.close()
  }
}

private object TailsReader {

  /** Rows of a tail until others that are ready have their turn. */
  private val RowsOfTurn = 1000

  /** Time until others that are ready have their turn. */
  private val TurnNanos = TimeUnit.MILLISECONDS.toNanos(10)

  /** Rows of a backlog before tails that have new messages have their turn. */
  private val RowsOfPassedTurn = 16

  /** Bytes that the tails of a task read ahead together. */
  private val ReadAheadOfTask = 64L << 20

  /** Bytes that each may read ahead, however many they are. */
  private val LeastReadAhead = 64L << 10

  private val LookNanos = TimeUnit.SECONDS.toNanos(1)

  private final class Tail(val topic: String, val source: FollowedEntries, val rows: SliceReader)
}
