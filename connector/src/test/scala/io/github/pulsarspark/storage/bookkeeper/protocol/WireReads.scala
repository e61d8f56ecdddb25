package io.github.pulsarspark.storage.bookkeeper.protocol

import scala.concurrent.duration._
import scala.util.Using

import io.netty.buffer.ByteBuf
import org.apache.bookkeeper.proto.DataFormats.LedgerMetadataFormat.DigestType

import io.github.pulsarspark.common.Recently
import io.github.pulsarspark.options.ReadOptions
import io.github.pulsarspark.options.registry.{CheckedOptions, Scope}
import io.github.pulsarspark.storage.bookkeeper.bookies.{BookieRanks, HostNames, OldBookies}
import io.github.pulsarspark.storage.bookkeeper.protocol.ScriptedBookie.{Reply, Request}
import io.github.pulsarspark.storage.segment.{BookieLocation, Segment}

/** A ledger, and reads of it from scripted bookies. */
private[bookkeeper] object WireReads {

  type Found = List[(Long, Long, String)] // ledger, entry, payload

  val LedgerId = 4711L

  /** Longer than a busy machine takes to respond. */
  val Patient: FiniteDuration = 1.minute

  /** Options with deadlines that nothing but silence misses. */
  def options(more: (String, String)*): ReadOptions = {
    val all = Map("service.url" -> "pulsar://localhost:1", "topic" -> "t", "pollTimeoutMs" -> "400000") ++ more
    ReadOptions(CheckedOptions(all, Scope.BatchRead, _ => Nil))
  }

  val plain: ReadOptions = options()

  def payloads(count: Int): Seq[Array[Byte]] = (0 until count).map(n => s"entry $n".getBytes)

  def stored(
      payloads: Seq[Array[Byte]],
      digest: DigestType = DigestType.CRC32C,
      ledgerId: Long = LedgerId
  ): IndexedSeq[Array[Byte]] =
    payloads.zipWithIndex.map { case (bytes, id) =>
      ScriptedBookie.stored(ledgerId, id.toLong, bytes, digest)
    }.toIndexedSeq

  def ledger(digest: String, ensembles: (Long, Seq[String])*): BookieLocation =
    BookieLocation(3, ensembles.head._2.size, ensembles.head._2.size, 1, digest, ensembles, None)

  def segment(ledger: BookieLocation, first: Long, last: Long, ledgerId: Long = LedgerId): Segment =
    Segment(ledgerId, first, last, (last - first + 1) * 100, ledger)

  def connections(
      options: ReadOptions = plain,
      ranks: BookieRanks = new BookieRanks,
      old: Recently[String] = OldBookies.none(),
      names: HostNames = HostNames.ofThisJvm,
      stall: FiniteDuration = Patient
  ): WireConnections = new WireConnections(options.bookKeeper, ranks, old, names, stall = stall)

  def source(
      ledger: BookieLocation,
      first: Long,
      last: Long,
      connections: WireConnections,
      options: ReadOptions = plain,
      ledgerId: Long = LedgerId
  ): BookieProtocolEntrySource =
    BookieProtocolEntrySource.of(ledger, segment(ledger, first, last, ledgerId), options, connections).get

  /** Reads in a task of its own. */
  def read(
      ledger: BookieLocation,
      first: Long,
      last: Long,
      options: ReadOptions = plain,
      ranks: BookieRanks = new BookieRanks,
      stall: FiniteDuration = Patient
  ): Found =
    Using.resource(connections(options, ranks, stall = stall))(readBy(_, ledger, first, last, options))

  def readBy(
      connections: WireConnections,
      ledger: BookieLocation,
      first: Long,
      last: Long,
      options: ReadOptions = plain
  ): Found =
    Using.resource(source(ledger, first, last, connections, options))(restOf)

  def restOf(source: BookieProtocolEntrySource): Found =
    Iterator.continually(source).takeWhile(_.next()).map(s => (s.ledgerId, s.entryId, textOf(s.entry))).toList

  def wanted(payloads: Seq[Array[Byte]], first: Int, last: Int, ledgerId: Long = LedgerId): Found = (first to last).map(
    n =>
      (ledgerId, n.toLong, new String(payloads(n), "ISO-8859-1"))
  ).toList

  /** Gives what is requested, at most so many entries at a time. */
  def gives(all: IndexedSeq[Array[Byte]], most: Request => Int = _ => Int.MaxValue)(request: Request): Reply = {
    val entries =
      all.slice(request.entry.toInt, request.entry.toInt + math.min(request.count, math.max(1, most(request))))
    val sizes = entries.scanLeft(0L)(_ + _.length).tail
    if (entries.isEmpty) Reply.Code(2) else Reply.Entries(entries.take(math.max(1, sizes.count(_ <= request.bytes))))
  }

  private def textOf(entry: ByteBuf): String = {
    val bytes = new Array[Byte](entry.readableBytes)
    entry.getBytes(entry.readerIndex, bytes)
    new String(bytes, "ISO-8859-1")
  }
}
