package io.github.pulsarspark.pulsar.broker

import scala.concurrent.duration._

import io.netty.buffer.ByteBuf

import io.github.pulsarspark.common.ExclusiveCache
import io.github.pulsarspark.errors.LostRanges
import io.github.pulsarspark.format.RangeGuard
import io.github.pulsarspark.format.entry.EntrySource
import io.github.pulsarspark.options.ReadOptions
import io.github.pulsarspark.position.{OffsetRange, Position}

/** Readers that a task of a stream leaves to the next micro-batch: its range begins where theirs ended, and what
  * arrives between the two is there already. Only a reader that stands exactly at the end of its range is kept.
  */
private[pulsar] object KeptReaders {

  /** @param stream
    *   one run of a query, all of whose tasks have the same options
    * @param position
    *   the last entry read
    */
  private final case class Place(stream: String, topic: String, position: Position)

  private final class Kept(val source: BrokerEntrySource) {

    /** Reconnects that tasks have reported. */
    val reconnects: Long = source.reconnects
  }

  /** Memory limit of all idle readers in one executor: their queued bytes and those that may be on their way. */
  private val MaxBytes = 256L << 20

  /** Memory counted for a reader with an empty queue. */
  private val LeastBytes = 64L << 10

  private val kept = new ExclusiveCache[Place, Kept](
    lasts = 20.seconds,
    most = MaxBytes,
    isUsable = _.source.isAtEnd,
    close = kept => { kept.source.closeAsync(); () },
    weight = kept => math.max(LeastBytes, kept.source.heldBytes)
  )

  /** The entries of a range, from the reader that an earlier task left there, if there is one. */
  def entries(range: OffsetRange, options: ReadOptions, guard: RangeGuard, stream: String): EntrySource = {
    val start = Option.when(range.startExclusive.isWholeEntry)(Place(stream, range.topic, range.startExclusive))
    val found = start.flatMap(kept.take)
    found.foreach(_.source.continueTo(range.endInclusive, guard))
    new Lent(
      found.fold(BrokerEntrySource(range, options, guard))(_.source),
      found.fold(0L)(_.reconnects),
      keep(Place(stream, range.topic, range.endInclusive), _)
    )
  }

  /** Keeps a reader for the next task. One of the partition at an earlier position is useless: other executors have
    * read the entries between.
    */
  private def keep(place: Place, source: BrokerEntrySource): Unit = {
    kept.closeAll(other =>
      other.stream == place.stream && other.topic == place.topic && other.position < place.position
    )
    kept.put(place, new Kept(source))
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
      if (source.isAtEnd) {
        source.release()
        keep(source)
      } else source.close()
    }
  }
}
