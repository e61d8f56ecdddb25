package io.github.pulsarspark.read.stream.limits

import scala.collection.mutable

import io.netty.buffer.{ByteBuf, Unpooled}

import io.github.pulsarspark.errors.LostRanges
import io.github.pulsarspark.format.{DecodeDepth, EntryDecoder, Sent, StoredEntry}
import io.github.pulsarspark.position.{Interval, OffsetRange, Position}
import io.github.pulsarspark.pulsar.broker.GrowingEntrySource

/** Topic partitions in memory: what a broker would deliver.
  *
  * @param entries
  *   by partition and place, the number of messages of each entry; 0 is an entry without a batch
  */
private[stream] final class FakeEntries(entries: => Map[String, Seq[(Position, Int)]]) {

  /** Ranges that were opened, and those that were closed. */
  val opened: mutable.Buffer[OffsetRange] = mutable.Buffer.empty
  val closed: mutable.Buffer[OffsetRange] = mutable.Buffer.empty

  /** Entries that were read, and buffers that were made. */
  val read: mutable.Buffer[(String, Position)] = mutable.Buffer.empty
  private val buffers                          = mutable.Buffer.empty[ByteBuf]
  var failing: Set[Position]                   = Set.empty

  def leaked: Int = buffers.count(_.refCnt > 0)

  def walk(range: OffsetRange, level: DecodeDepth = DecodeDepth.Entry): PartitionWalk = {
    opened.synchronized(opened += range)
    new PartitionWalk(range, new Source(range), new EntryDecoder(range.topic, level), Interval.Always)
  }

  private final class Source(range: OffsetRange) extends GrowingEntrySource {
    private var last             = range.startExclusive
    private var until            = range.endInclusive
    private var current: ByteBuf = Unpooled.EMPTY_BUFFER

    override def next(): Boolean = {
      release()
      val isInside = !range.startExclusive.isWholeEntry && last == range.startExclusive
      val after    = if (isInside) last.copy(entryId = last.entryId - 1, batchIndex = -1) else last
      val found    = entries(range.topic).find { case (p, _) => p > after && p <= until }
      found.foreach { case (position, messages) =>
        if (failing(position)) throw new IllegalStateException(s"no entry at $position")
        last = position
        current = FakeEntries.stored(messages).bytes
        read.synchronized {
          read += range.topic -> position
          buffers += current
        }
      }
      found.isDefined
    }

    override def extendTo(position: Position): Unit = until = position
    override def release(): Unit  = if (current.refCnt > 0 && current.isReadable) { current.release(); () }
    override def ledgerId: Long   = last.ledgerId
    override def entryId: Long    = last.entryId
    override def entry: ByteBuf   = current
    override def lost: LostRanges = LostRanges.none
    override def close(): Unit    = { release(); closed.synchronized { closed += range; () } }
  }
}

private[stream] object FakeEntries {

  def stored(messages: Int): StoredEntry = {
    val batch = Seq.tabulate(math.max(1, messages))(n => Sent.text(s"message $n"))
    StoredEntry(batch, batched = messages > 0)
  }

  def bytes(messages: Int): Long = {
    val buffer = stored(messages).bytes
    try buffer.readableBytes.toLong
    finally { buffer.release(); () }
  }
}
