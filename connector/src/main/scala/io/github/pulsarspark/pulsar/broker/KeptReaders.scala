package io.github.pulsarspark.pulsar.broker

import scala.concurrent.duration._

import io.netty.buffer.ByteBuf

import io.github.pulsarspark.common.ExclusiveCache
import io.github.pulsarspark.errors.LostRanges
import io.github.pulsarspark.format.RangeGuard
import io.github.pulsarspark.format.entry.EntrySource
import io.github.pulsarspark.options.ReadOptions
import io.github.pulsarspark.position.{OffsetRange, Position}
import io.github.pulsarspark.pulsar.feed.WaitingRoom

/** Readers that a task of a stream leaves to the next micro-batch: its range begins where theirs ended, and what
  * arrives between the two is there already. Only a reader that stands exactly at the end of its range is kept.
  */
private[pulsar] object KeptReaders {

  /** @param stream
    *   one run of a query, all of whose tasks have the same options
    */
  private final case class Topic(stream: String, name: String)

  /** @param position
    *   the last entry read
    */
  private final class Kept(val source: BrokerEntrySource, val position: Position) {

    /** Reconnects that tasks have reported. */
    val reconnects: Long = source.reconnects
  }

  /** Memory of all waiting readers in one executor: what has arrived for them. One that needs more ends. */
  private val room = new WaitingRoom(256L << 20)

  private val kept = new ExclusiveCache[Topic, Kept](
    lasts = 20.seconds,
    most = Int.MaxValue, // the room limits them
    isUsable = _.source.isAtEnd,
    close = kept => { kept.source.closeAsync(); () }
  )

  /** The entries of a range, from the reader that an earlier task left there, if there is one. */
  def entries(range: OffsetRange, options: ReadOptions, guard: RangeGuard, stream: String): EntrySource = {
    val topic = Topic(stream, range.topic)
    val found = kept.take(topic, _.position == range.startExclusive)
    found.foreach(_.source.continueTo(range.endInclusive, guard))
    new Lent(
      found.fold(BrokerEntrySource(range, options, guard))(_.source),
      found.fold(0L)(_.reconnects),
      keep(topic, range.endInclusive, _)
    )
  }

  /** Keeps a reader for the next task. One of the partition at an earlier position is useless: other executors have
    * read the entries between.
    */
  private def keep(topic: Topic, position: Position, source: BrokerEntrySource): Unit = {
    kept.closeOf(topic, _.position < position)
    if (source.waitIn(room)) kept.put(topic, new Kept(source, position)) else { source.closeAsync(); () }
  }

  /** Closes the readers of a stream that ends, as far as they are in this JVM; others end by themselves. */
  def closeAll(stream: String): Unit = kept.closeAll(_.stream == stream)

  /** A reader in the hands of one task.
    *
    * @param reported
    *   its reconnects that tasks have reported
    */
  private final class Lent(source: BrokerEntrySource, reported: Long, keep: BrokerEntrySource => Unit)
      extends EntrySource {
    private var isOpen            = true
    override def next(): Boolean  = source.next()
    override def ledgerId: Long   = source.ledgerId
    override def entryId: Long    = source.entryId
    override def entry: ByteBuf   = source.entry
    override def lost: LostRanges = source.lost
    override def reconnects: Long = source.reconnects - reported

    override def close(): Unit = if (isOpen) {
      isOpen = false
      if (source.isAtEnd) keep(source) else source.close()
    }
  }
}
