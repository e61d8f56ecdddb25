package io.github.pulsarspark.storage.bookkeeper.wire

import java.net.InetSocketAddress

import scala.concurrent.duration._
import scala.util.hashing.MurmurHash3

import io.netty.buffer.ByteBuf
import org.slf4j.LoggerFactory

import io.github.pulsarspark.log.EntrySource
import io.github.pulsarspark.options.ReadOptions
import io.github.pulsarspark.storage.bookkeeper.{BookieRanks, ReadAhead}
import io.github.pulsarspark.storage.{BookieLedger, Segment}

/** Entries of a ledger in the bookies' own protocol, without BookKeeper's client, which handles each entry by itself in threads of its own. For ledgers each of
  * whose bookies has all entries, without TLS and authentication; see [[WireEntrySource.of]].
  *
  * Of the replicas of the best rank a task chooses one by lot, and stays with it until it fails; then another one goes on. When none gives an entry, within a
  * quarter of `pollTimeoutMs`, that is a [[NoReplicaLeft]].
  */
private[bookkeeper] final class WireEntrySource private (
    ledger: BookieLedger,
    digest: EntryDigest,
    segment: Segment,
    options: ReadOptions,
    ranks: BookieRanks
) extends EntrySource {
  import WireEntrySource._

  private val ahead                 = new ReadAhead(segment, options.readAheadBytes, MostWindows, WindowBytes)
  private val lot                   = MurmurHash3.productHash((ledger.id, segment.first))
  private var expected              = segment.first
  private var reader: ReplicaReader = _
  private var bookie                = ""
  private var failed                = Set.empty[String] // which did not give the expected entry
  private var problem               = ""

  attempt(open()) // so that entries come before they are wanted

  override def ledgerId: Long   = segment.ledgerId
  override def entryId: Long    = expected - 1
  override def entry: ByteBuf   = reader.entry
  override def lostRanges: Long = 0

  override def next(): Boolean =
    if (expected > segment.last) false
    else {
      while (!attempt(advance())) ()
      expected += 1
      if (failed.nonEmpty) failed = Set.empty
      true
    }

  private def advance(): Unit = {
    if (reader != null && reader.isDone) closeReader()
    if (reader == null) open()
    reader.next()
  }

  /** False when the replica failed, which is not asked for this entry again. */
  private def attempt(work: => Unit): Boolean =
    try {
      work
      true
    } catch {
      case e: ReplicaFailed =>
        log.info(s"ledger ${segment.ledgerId}, entry $expected: bookie $bookie did not give it: ${e.getMessage}")
        closeReader()
        if (e.isSlow) ranks.addSlow(bookie)
        failed += bookie
        problem = e.getMessage
        false
    }

  private def open(): Unit = {
    val (bookies, lastOfThem) = ensemble
    bookie = inTurn(bookies, lot).filterNot(failed).minByOption(ranks(_)).getOrElse(throw new NoReplicaLeft(problem))
    val patience = options.pollTimeout / 4 / bookies.size.toLong
    val socket   = new BookieSocket(address(options.bookKeeper.addresses.getOrElse(bookie, bookie)), patience.min(Stall), patience)
    reader = new ReplicaReader(socket, segment.ledgerId, expected, lastOfThem, digest, ahead)
    socket.connect()
  }

  /** The bookies of the expected entry, and the last entry they have. */
  private def ensemble: (Seq[String], Long) = {
    val (bookies, next) = ledger.ensembleOf(expected)
    (bookies, next.fold(segment.last)(first => math.min(segment.last, first - 1)))
  }

  private def closeReader(): Unit = if (reader != null) {
    reader.close()
    reader = null
  }

  override def close(): Unit = closeReader()
}

private[bookkeeper] object WireEntrySource {
  private val log         = LoggerFactory.getLogger(classOf[WireEntrySource])
  private val MostWindows = 8

  /** So much stays in a processor's cache from the socket to the row; smaller windows cost requests. */
  private val WindowBytes = 256L * 1024

  /** Then another replica is asked, as by BookKeeper's client (its `speculativeReadTimeout`). */
  private val Stall = 2.seconds

  /** No bookie gives an entry. Says what the last one did. */
  final class NoReplicaLeft(why: String) extends RuntimeException(why)

  /** None for a ledger that is not read like this. Who sets something for BookKeeper's client wants that one. */
  def of(ledger: BookieLedger, segment: Segment, options: ReadOptions, ranks: BookieRanks): Option[WireEntrySource] =
    EntryDigest
      .of(ledger.digestType)
      .filter(_ => ledger.ensembleSize == ledger.writeQuorum && options.bookKeeper.tls.isEmpty && options.bookKeeper.settings.isEmpty)
      .map(new WireEntrySource(ledger, _, segment, options, ranks))

  private def inTurn(bookies: Seq[String], lot: Int): Seq[String] = {
    val (before, from) = bookies.splitAt(Math.floorMod(lot, bookies.size))
    from ++ before
  }

  /** `host:port`, where the host may be an IPv6 address in brackets. */
  private def address(bookie: String): InetSocketAddress = {
    val host = BookieLedger.hostOf(bookie)
    bookie.drop(host.length + 1).toIntOption match {
      case Some(port) if host.nonEmpty && port >= 0 && port < 65536 =>
        new InetSocketAddress(host.stripPrefix("[").stripSuffix("]"), port)
      case _ => throw new ReplicaFailed("its id is no address (bookieAddresses)", isSlow = false)
    }
  }
}
