package io.github.pulsarspark.storage.bookkeeper.protocol

import scala.util.hashing.MurmurHash3

import io.netty.buffer.ByteBuf
import org.slf4j.LoggerFactory

import io.github.pulsarspark.errors.LostRanges
import io.github.pulsarspark.format.entry.EntrySource
import io.github.pulsarspark.options.ReadOptions
import io.github.pulsarspark.storage.bookkeeper.bookies.ReadAhead
import io.github.pulsarspark.storage.segment.{BookieLocation, Segment}

/** Entries of a ledger by the bookies' own protocol, without BookKeeper's client, which handles each entry by itself in
  * threads of its own. For ledgers each of whose bookies has all entries, without TLS and authentication; see
  * [[BookieProtocolEntrySource.of]].
  *
  * A task picks a replica of the best rank by a hash and keeps it until it fails; then another one continues. A
  * connection that ends is replaced once for an entry before its bookie counts as failed. When no replica returns an
  * entry within a quarter of `pollTimeoutMs`, the source fails with [[NoReplicaLeft]].
  */
private[bookkeeper] final class BookieProtocolEntrySource private (
    location: BookieLocation,
    digest: EntryDigest,
    segment: Segment,
    options: ReadOptions,
    connections: WireConnections
) extends EntrySource {
  import BookieProtocolEntrySource._

  private val patience     = options.pollTimeout / 4 / location.ensembleSize.toLong
  private val stall        = connections.stall.min(patience)
  private lazy val batches = new ReadAhead(segment, options.readAheadBytes, MaxWindows, WindowBytes)
  private lazy val singles = new ReadAhead(segment, options.readAheadBytes, MaxSingles, WindowBytes, mostEntries = 1)

  private val lot                   = MurmurHash3.productHash((segment.ledgerId, segment.first))
  private var expected              = segment.first
  private var until                 = 0L                // the deadline of the expected entry
  private var reader: ReplicaReader = _
  private var bookie                = ""
  private var failed                = Set.empty[String] // which did not return the expected entry
  private var ended                 = Set.empty[String] // which ended a connection instead of returning it
  private var problem               = ""

  override def ledgerId: Long   = segment.ledgerId
  override def entryId: Long    = expected - 1
  override def entry: ByteBuf   = reader.entry
  override def lost: LostRanges = LostRanges.none

  /** Requests the first entries, so that they arrive before they are needed. */
  private def prepare(): Unit = {
    attempt(open())
    ()
  }

  override def next(): Boolean =
    if (expected > segment.last) false
    else {
      until = 0L
      while (!attempt(advance())) ()
      expected += 1
      if (failed.nonEmpty) failed = Set.empty
      if (ended.nonEmpty) ended = Set.empty
      true
    }

  private def advance(): Unit = {
    if (reader != null && reader.isDone) closeReader()
    if (reader == null) open()
    reader.next()
  }

  /** Deadline of a replica: its share of a quarter of `pollTimeoutMs`. */
  private def deadline(): Long = {
    val now = System.nanoTime()
    if (until == 0L) until = now + patience.toNanos * location.ensembleSize
    math.min(until, now + patience.toNanos)
  }

  /** False if the replica failed; this entry is not requested from it again. */
  private def attempt(work: => Unit): Boolean =
    try {
      work
      true
    } catch {
      case e: ReplicaFailed =>
        closeReader()
        problem = e.getMessage
        e match {
          case _: ConnectionEnded if !ended(bookie) =>
            log.info(s"ledger ${segment.ledgerId}, entry $expected: connecting to bookie $bookie again: $problem")
            ended += bookie
          case _ =>
            log.info(s"ledger ${segment.ledgerId}, entry $expected: bookie $bookie did not return it: $problem")
            if (e.isSlow) connections.ranks.addSlow(bookie)
            failed += bookie
        }
        false
    }

  private def open(): Unit = {
    val (bookies, lastOfThem) = ensemble
    bookie = inTurn(bookies, lot).filterNot(failed).minByOption(connections.ranks(_)).getOrElse(
      throw new NoReplicaLeft(problem)
    )
    val connection = connections.to(bookie, stall)
    val ahead      = if (connection.isBatch) batches else singles
    reader =
      new ReplicaReader(connection, segment.ledgerId, expected, lastOfThem, digest, ahead, stall, () => deadline())
    reader.requestAhead()
  }

  /** The bookies of the expected entry, and the last entry they have. */
  private def ensemble: (Seq[String], Long) = {
    val (bookies, next) = location.ensembleOf(expected)
    (bookies, next.fold(segment.last)(first => math.min(segment.last, first - 1)))
  }

  private def closeReader(): Unit = if (reader != null) {
    reader.close()
    reader = null
  }

  override def close(): Unit = closeReader()
}

private[bookkeeper] object BookieProtocolEntrySource {
  private val log        = LoggerFactory.getLogger(classOf[BookieProtocolEntrySource])
  private val MaxWindows = 8

  /** Size of a window: it stays in a processor's cache from the socket to the row. Smaller windows cost requests. */
  private val WindowBytes = 256L * 1024

  /** Limit of concurrent reads of single entries. */
  private val MaxSingles = 32

  /** Reports that no bookie returns an entry, with the last failure. */
  final class NoReplicaLeft(why: String) extends RuntimeException(why)

  /** Opens a source; None for a ledger that this protocol does not read. Settings for BookKeeper's client select that
    * client.
    *
    * @param connections
    *   of the task; this does not close them
    */
  def of(
      location: BookieLocation,
      segment: Segment,
      options: ReadOptions,
      connections: WireConnections
  ): Option[BookieProtocolEntrySource] =
    EntryDigest
      .of(location.digestType)
      .filter(_ =>
        location.ensembleSize == location.writeQuorum && options.bookKeeper.tls.isEmpty &&
          options.bookKeeper.settings.isEmpty
      )
      .map { digest =>
        val source = new BookieProtocolEntrySource(location, digest, segment, options, connections)
        source.prepare()
        source
      }

  private def inTurn(bookies: Seq[String], lot: Int): Seq[String] = {
    val (before, from) = bookies.splitAt(Math.floorMod(lot, bookies.size))
    from ++ before
  }
}
