package io.github.pulsarspark.storage.bookkeeper

import io.netty.buffer.ByteBuf
import org.slf4j.LoggerFactory

import io.github.pulsarspark.errors.LostRanges
import io.github.pulsarspark.format.entry.EntrySource
import io.github.pulsarspark.options.ReadOptions
import io.github.pulsarspark.storage.bookkeeper.client.BookKeeperEntrySource
import io.github.pulsarspark.storage.bookkeeper.protocol.{BookieProtocolEntrySource, WireConnections}
import io.github.pulsarspark.storage.segment.{BookieLocation, Segment}

/** Uses the bookie protocol directly when possible; falls back to BookKeeper's client from the first entry that no
  * replica returned, since it retries more and reports better errors. No entry is waited for longer than
  * `pollTimeoutMs`.
  */
private[storage] final class BookieEntrySource private (
    location: BookieLocation,
    segment: Segment,
    options: ReadOptions,
    first: EntrySource
) extends EntrySource {
  import BookieEntrySource._

  private var expected = segment.first
  private var source   = first

  override def ledgerId: Long   = source.ledgerId
  override def entryId: Long    = source.entryId
  override def entry: ByteBuf   = source.entry
  override def lost: LostRanges = LostRanges.none

  override def next(): Boolean = {
    val more =
      try source.next()
      catch {
        case e: BookieProtocolEntrySource.NoReplicaLeft =>
          log.info(s"ledger ${segment.ledgerId}: BookKeeper's client goes on at entry $expected: ${e.getMessage}")
          source.close()
          source =
            BookKeeperEntrySource.open(location, segment.copy(first = expected), options, options.pollTimeout * 3 / 4)
          source.next()
      }
    if (more) expected = source.entryId + 1
    more
  }

  override def close(): Unit = source.close()
}

private[storage] object BookieEntrySource {
  private val log = LoggerFactory.getLogger(classOf[BookieEntrySource])

  /** Requests the first entries. Fails with [[io.github.pulsarspark.storage.segment.SegmentUnreadable]].
    *
    * @param connections
    *   of the task
    */
  def open(
      location: BookieLocation,
      segment: Segment,
      options: ReadOptions,
      connections: WireConnections
  ): BookieEntrySource =
    new BookieEntrySource(
      location,
      segment,
      options,
      BookieProtocolEntrySource.of(location, segment, options, connections).getOrElse(
        BookKeeperEntrySource.open(location, segment, options, options.pollTimeout)
      )
    )
}
