package io.github.pulsarspark.storage.offload

import java.nio.file.Files

import scala.concurrent.duration._
import scala.util.{Success, Using}

import io.netty.buffer.ByteBufUtil
import org.apache.hadoop.io.SequenceFile.CompressionType
import org.scalacheck.Gen
import org.scalacheck.Prop.forAll

import io.github.pulsarspark.PropertySuite
import io.github.pulsarspark.errors.PulsarError
import io.github.pulsarspark.format.entry.EntrySource
import io.github.pulsarspark.storage.offload.format.{BlockFormat, OffloadBlock, OffloadedLedger}

/** Tests that offloaded ledgers are read in both formats: every entry of the range, once, in order. */
class OffloadedLedgersSuite extends PropertySuite(60) {
  import OffloadWriter._

  private val writer = new OffloadWriter(Files.createTempDirectory("offloaded"))

  private def drain(source: EntrySource): Seq[(Long, Long, String)] = Using.resource(source) { entries =>
    Iterator.continually(entries.next()).takeWhile(identity).map(_ =>
      (entries.ledgerId, entries.entryId, ByteBufUtil.hexDump(entries.entry))
    ).toVector
  }

  private def read(ledger: OffloadedLedger, first: Long, last: Long, readAhead: Long = 1 << 20) =
    drain(OffloadedLedgers.open(ledger, first, last, writer.configuration, readAhead, 30.seconds))

  /** Reads in chunks smaller than those of the product, so that everything crosses their borders. */
  private def readInChunks(ledger: OffloadedLedger, first: Long, last: Long, chunkBytes: Int) = drain(
    new OffloadedEntrySource(
      new StorageThread(ledger, first, 30.seconds),
      last,
      () => ledger.location.format.open(ledger, first, last, chunkBytes, writer.configuration)
    )
  )

  private def expected(entries: Seq[Array[Byte]], first: Long, last: Long) = (first to last).map(id =>
    (7L, id, ByteBufUtil.hexDump(entries(id.toInt)))
  )

  /** Sizes, and random bytes for entries of these sizes. */
  private def entriesOf(sizes: Seq[Int]): Seq[Array[Byte]] = {
    val random = new scala.util.Random(sizes.sum)
    sizes.map(random.nextBytes(_))
  }

  private val sizes =
    Gen.choose(1, 60).flatMap(
      Gen.listOfN(_, Gen.frequency(5 -> Gen.choose(0, 90), 2 -> Gen.choose(100, 900), 1 -> Gen.const(0)))
    )

  private val range = Gen.zip(Gen.choose(0.0, 1.0), Gen.choose(0.0, 1.0))

  private def bounds(count: Int, range: (Double, Double)): (Long, Long) = {
    val (a, b) = (((count - 1) * range._1).round, ((count - 1) * range._2).round)
    (math.min(a, b), math.max(a, b))
  }

  property("blocks: any range, any sizes of entries, blocks and chunks") {
    forAll(sizes, range, Gen.choose(1100, 4000), Gen.choose(HeaderLength, 3000)) {
      (sizes, range, blockBytes, chunkBytes) =>
        val (ledger, entries) = (writer.blockLedger(), entriesOf(sizes))
        val (first, last)     = bounds(entries.size, range)
        writer.writeBlocks(ledger, blocks(entries, blockBytes, metadata(entries.size - 1L)))
        assertEquals(readInChunks(ledger, first, last, chunkBytes), expected(entries, first, last))
    }
  }

  property("map files: any range, any sizes of entries and chunks, every compression") {
    forAll(sizes, range, Gen.choose(1, 3000), Gen.oneOf(CompressionType.values.toSeq)) {
      (sizes, range, chunkBytes, compression) =>
        val (ledger, entries) = (writer.mapLedger(), entriesOf(sizes))
        val (first, last)     = bounds(entries.size, range)
        writer.writeMapFile(
          ledger,
          (-1L -> metadata(entries.size - 1L)) +: entries.zipWithIndex.map { case (e, id) => (id.toLong, e) },
          compression
        )
        assertEquals(readInChunks(ledger, first, last, chunkBytes), expected(entries, first, last))
    }
  }

  for (padding <- 0 to 16) test(s"a block that ends with $padding bytes of padding") {
    val entries    = entriesOf(Seq(100, 100, 200, 50, 150, 7))
    val blockBytes = HeaderLength + 112 + 112 + padding // the third entry does not fit
    val ledger     = writer.blockLedger()
    val written    = blocks(entries, blockBytes, metadata(5))
    assertEquals(written.starts.take(2), Seq((0L, 0L), (2L, blockBytes.toLong)))
    writer.writeBlocks(ledger, written)
    for { from <- 0L to 5L; to <- from to 5L }
      assertEquals(readInChunks(ledger, from, to, HeaderLength), expected(entries, from, to))
  }

  test("a ledger of one entry, which may be empty") {
    for (size <- Seq(0, 1, 100000)) {
      val entries = entriesOf(Seq(size))
      val inBlock = writer.blockLedger()
      writer.writeBlocks(inBlock, blocks(entries, 200000, metadata(0)))
      assertEquals(read(inBlock, 0, 0), expected(entries, 0, 0))
      val inMap = writer.mapLedger()
      writer.writeMapFile(inMap, Seq(-1L -> metadata(0), 0L -> entries.head))
      assertEquals(read(inMap, 0, 0), expected(entries, 0, 0))
    }
  }

  test("entries larger than a chunk, and many chunks of the size the product takes") {
    val entries = entriesOf(Seq.tabulate(40)(i => if (i % 7 == 3) 300000 else 20000))
    val inBlock = writer.blockLedger()
    writer.writeBlocks(inBlock, blocks(entries, 1 << 20, metadata(39)))
    val inMap = writer.mapLedger()
    writer.writeMapFile(inMap, (-1L -> metadata(39)) +: entries.zipWithIndex.map { case (e, id) => (id.toLong, e) })
    for { ledger <- Seq(inBlock, inMap); (from, to) <- Seq((0L, 39L), (3L, 3L), (17L, 38L)) }
      assertEquals(read(ledger, from, to, readAhead = 1), expected(entries, from, to))
  }

  test("planning knows the blocks, and that a map file can be cut anywhere") {
    val entries = entriesOf(Seq.fill(20)(500))
    val ledger  = writer.blockLedger()
    val written = blocks(entries, 3000, metadata(19))
    writer.writeBlocks(ledger, written)
    val index = BlockFormat.readIndex(ledger, writer.configuration)
    assertEquals(index.blocks.map(b => (b.firstEntryId, b.offset)), written.starts.toVector)
    assertEquals(index.blocks.last, OffloadBlock(15, 9000, written.data.length - 9000L))
    val found = OffloadedLedgers.splitPoints(Seq(ledger, writer.mapLedger(), writer.blockLedger(), ledger),
      writer.configuration, 30.seconds)
    assertEquals(found.head.get, written.starts.map(_._1))
    assertEquals(found(1), Success(Nil))
    assertEquals(Option(found(2).failed.get.getCause).collect { case e: PulsarError => e.condition },
      Some("PULSAR_OFFLOAD_GONE"))
    assertEquals(found(3), found.head)
  }

  test("a ledger without the name of its managed ledger is read") {
    val ledger = writer.blockLedger()
    writer.writeBlocks(ledger, blocks(entriesOf(Seq(5)), 200, metadata(0, managedLedger = None)))
    assertEquals(read(ledger, 0, 0).size, 1)
  }

  test("closing early, twice, and before anything was read") {
    val entries = entriesOf(Seq.fill(50)(30000))
    val ledger  = writer.blockLedger()
    writer.writeBlocks(ledger, blocks(entries, 1 << 20, metadata(49)))
    for (count <- 0 to 3) {
      val source = OffloadedLedgers.open(ledger, 0, 49, writer.configuration, 1, 30.seconds)
      (0 until count).foreach(_ => assert(source.next()))
      source.close()
      source.close()
    }
  }
}
