package io.github.pulsarspark.storage.bookkeeper

import io.netty.buffer.ByteBuf
import org.slf4j.LoggerFactory

import io.github.pulsarspark.log.EntrySource
import io.github.pulsarspark.options.ReadOptions
import io.github.pulsarspark.storage.bookkeeper.wire.WireEntrySource
import io.github.pulsarspark.storage.{BookieLedger, Segment}

/** Entries of a ledger as bookies give them: in their own protocol where that will do, and by BookKeeper's client otherwise, also from the entry on that no bookie
  * would give: it knows more ways to get it, and says best why it cannot be had. No entry is waited for longer than `pollTimeoutMs`.
  */
private[storage] final class BookieEntrySource(ledger: BookieLedger, segment: Segment, options: ReadOptions) extends EntrySource {
  import BookieEntrySource._

  private var expected            = segment.first
  private var source: EntrySource = WireEntrySource
    .of(ledger, segment, options, BookieRanks.ofThisJvm)
    .getOrElse(new ClientEntrySource(ledger, segment, options, options.pollTimeout))

  override def ledgerId: Long   = source.ledgerId
  override def entryId: Long    = source.entryId
  override def entry: ByteBuf   = source.entry
  override def lostRanges: Long = 0

  override def next(): Boolean = {
    val more =
      try source.next()
      catch {
        case e: WireEntrySource.NoReplicaLeft =>
          log.info(s"ledger ${segment.ledgerId}: BookKeeper's client goes on at entry $expected: ${e.getMessage}")
          source.close()
          source = new ClientEntrySource(ledger, segment.copy(first = expected), options, options.pollTimeout * 3 / 4)
          source.next()
      }
    if (more) expected = source.entryId + 1
    more
  }

  override def close(): Unit = source.close()
}

private object BookieEntrySource {
  private val log = LoggerFactory.getLogger(classOf[BookieEntrySource])
}
