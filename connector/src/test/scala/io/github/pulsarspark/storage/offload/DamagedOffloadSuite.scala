package io.github.pulsarspark.storage.offload

import java.nio.ByteBuffer
import java.nio.file.{Files, Path => FilePath}

import scala.concurrent.duration._
import scala.util.{Failure, Success, Try, Using}

import io.netty.buffer.ByteBufUtil
import org.apache.hadoop.fs.Path
import org.apache.hadoop.io.LongWritable
import org.scalacheck.Gen
import org.scalacheck.Prop.forAll

import io.github.pulsarspark.PropertySuite
import io.github.pulsarspark.errors.PulsarError
import io.github.pulsarspark.storage.offload.format.{BlockFormat, OffloadLocation, OffloadedLedger}
import io.github.pulsarspark.storage.segment.SegmentUnreadable

/** Tests that every damage to offloaded files is a named error with topic, ledger and file, and never yields entries
  * that were not offloaded.
  */
class DamagedOffloadSuite extends PropertySuite {
  import OffloadWriter._

  private val writer  = new OffloadWriter(Files.createTempDirectory("damaged"))
  private val entries = Seq.tabulate(20)(i => Array.fill(50 + i)(i.toByte))
  private val whole   = blocks(entries, 800, metadata(19))

  private def read(ledger: OffloadedLedger, first: Long = 0, last: Long = 19): Seq[String] =
    Using.resource(OffloadedLedgers.open(ledger, first, last, writer.configuration, 1, 30.seconds)) { source =>
      Iterator.continually(source.next()).takeWhile(identity).map(_ => ByteBufUtil.hexDump(source.entry)).toVector
    }

  private def failure(ledger: OffloadedLedger, first: Long = 0, last: Long = 19): Throwable with PulsarError =
    Try(read(ledger, first, last)) match {
      case Failure(Unreadable(e)) =>
        Seq(Topic, s"${ledger.ledgerId}:", ledger.data.toString).foreach(part =>
          assert(e.getMessage.contains(part), e.getMessage)
        )
        e
      case Failure(other) => throw other
      case Success(found) => fail(s"read ${found.size} entries")
    }

  /** The named error behind an unreadable segment, whose text is the same. */
  private object Unreadable {
    def unapply(failure: Throwable): Option[Throwable with PulsarError] = failure match {
      case e: SegmentUnreadable => Option(e.getCause).collect {
          case named: PulsarError if named.getMessage == e.getMessage => named
        }
      case _ => None
    }
  }

  private def damaged(blocks: Blocks): OffloadedLedger = {
    val ledger = writer.blockLedger()
    writer.writeBlocks(ledger, blocks)
    ledger
  }

  private def changed(bytes: Array[Byte])(change: ByteBuffer => Unit): Array[Byte] = {
    val copy = bytes.clone()
    change(ByteBuffer.wrap(copy))
    copy
  }

  private def check(
      ledger: OffloadedLedger,
      condition: String,
      words: String,
      first: Long = 0,
      last: Long = 19
  ): Unit = {
    val error = failure(ledger, first, last)
    assertEquals(error.condition, condition)
    assert(error.getMessage.contains(words), error.getMessage)
  }

  private def badIndex(words: String)(change: ByteBuffer => Unit): Unit =
    check(damaged(whole.copy(index = changed(whole.index)(change))), "PULSAR_OFFLOAD_CORRUPT", words)

  private def badData(words: String)(change: ByteBuffer => Unit): Unit =
    check(damaged(whole.copy(data = changed(whole.data)(change))), "PULSAR_OFFLOAD_CORRUPT", words)

  test("a ledger without damage, all entries are read") {
    assertEquals(read(damaged(whole)), entries.map(ByteBufUtil.hexDump))
  }

  test("an index with one wrong number, the error names it") {
    val blockAt = whole.index.length - 20 * whole.starts.size
    badIndex("the index begins with 00000001 instead of de47de47")(_.putInt(0, 1))
    badIndex("and says that it has 5")(_.putInt(4, 5))
    badIndex("is at ")(_.putLong(8, 700))
    badIndex("is at ")(_.putLong(8, -1))
    badIndex("a header of 27 bytes")(_.putLong(16, 27))
    badIndex("a header of 9223372036854775807 bytes")(_.putLong(16, Long.MaxValue))
    for (count <- Seq(0, -1, 1, Int.MaxValue)) badIndex(s"claims $count blocks")(_.putInt(24, count))
    for (length <- Seq(0, -1, 1, Int.MaxValue)) badIndex(s"$length bytes of metadata")(_.putInt(28, length))
    badIndex("the first block of the index begins with entry 1 at 0")(_.putLong(blockAt, 1))
    badIndex("the first block of the index begins with entry 0 at 1")(_.putLong(blockAt + 12, 1))
    badIndex("block 2 of the index has number 3")(_.putInt(blockAt + 28, 3))
    badIndex("in the index, entry 0 is at 0 and entry 0 at 800")(_.putLong(blockAt + 20, 0))
    badIndex("in the index, entry 0 is at 0 and entry 9223372036854775807 at 800")(
      _.putLong(blockAt + 20, Long.MaxValue)
    )
    badIndex("at -1")(_.putLong(blockAt + 32, -1))
  }

  test("data unlike its index, the error names the number that differs") {
    val second = whole.starts(1)._2.toInt
    badData("block 1 begins with 00000001 instead of fbdbabcb")(_.putInt(0, 1))
    badData("block 2 begins with 00000001 instead of fbdbabcb")(_.putInt(second, 1))
    badData("but in the index a header of 128 bytes")(_.putLong(4, 129))
    badData("but in the index a header of 128 bytes")(_.putLong(second + 12, 1))
    badData("but in the index a header of 128 bytes")(_.putLong(second + 20, 1))
    badData("entry 1 is missing: entry 2 is in its place")(_.putLong(HeaderLength + 62 + 4, 2))
    badData("entry 1 is missing: there is padding in its place")(_.putInt(HeaderLength + 62, 0xfedcdead))
    badData("entry 1 is missing: its length is 2147483647")(_.putInt(HeaderLength + 62, Int.MaxValue))
    badData("entry 2 is missing: ")(_.putInt(HeaderLength + 62, 50))
    val lastOfBlock = whole.starts(1)._1.toInt - 1
    val lengthAt    = HeaderLength + entries.take(lastOfBlock).map(12 + _.length).sum
    for (other <- Seq(-50, -4, -1, 1, 2, 3, 5))
      badData(
        s"entry $lastOfBlock is missing: its length is wrong: neither padding nor the end of its block is behind it"
      )(b =>
        b.putInt(lengthAt, b.getInt(lengthAt) + other)
      )
  }

  test("damage in a later block, the error names the entry from which it reads") {
    val third = whole.starts(2)
    val error =
      failure(damaged(whole.copy(data = changed(whole.data)(_.putInt(third._2.toInt, 1)))), first = third._1 + 1)
    assert(error.getMessage.contains(s"read from 7:${third._1 + 1} on, is damaged: block 3 begins"), error.getMessage)
  }

  test("an index and an entry that claim more than any file has are believed as far as the file goes") {
    val data    = changed(whole.data)(_.putLong(12, 1L << 50))
    val claimed = Seq((1 << 29) -> "it ends too early", Int.MaxValue - 3 -> "more than any entry has")
    for ((length, words) <- claimed) {
      val long  = changed(data)(_.putInt(HeaderLength, length)) ++ new Array[Byte](8 << 20)
      val index = OffloadWriter.index(Seq((0L, 0L)), 1L << 50, metadata(19))
      check(damaged(Blocks(long, index, Seq((0L, 0L)))), "PULSAR_OFFLOAD_CORRUPT", words)
    }
  }

  test("an index or data cut off anywhere, PULSAR_OFFLOAD_CORRUPT") {
    for (length <- 0 until whole.index.length)
      assertEquals(failure(damaged(whole.copy(index = whole.index.take(length)))).condition, "PULSAR_OFFLOAD_CORRUPT")
    for (length <- Seq(0, 1, 127, 128, 200, 800, whole.data.length - 1))
      check(damaged(whole.copy(data = whole.data.take(length))), "PULSAR_OFFLOAD_CORRUPT", "it ends too early")
  }

  property(
    "any change of one byte gives an error or entries of the right number and length, but for padding as if it were theirs"
  ) {
    forAll(Gen.choose(0.0, 1.0), Gen.choose(1, 255), Gen.oneOf(true, false)) { (place, change, inIndex) =>
      def flip(bytes: Array[Byte]) = changed(bytes) { b =>
        val at = (place * (bytes.length - 1)).toInt; b.put(at, (b.get(at) ^ change).toByte); ()
      }
      val ledger = damaged(if (inIndex) whole.copy(index = flip(whole.index)) else whole.copy(data = flip(whole.data)))
      Try(read(ledger)) match {
        case Success(found)         => assertEquals(found.zip(entries).map(unpadded), entries.map(2 * _.length))
        case Failure(Unreadable(e)) => assertEquals(e.condition, "PULSAR_OFFLOAD_CORRUPT")
        case Failure(other)         => throw other
      }
    }
  }

  /** The length of a text without all padding that is behind it; the checksum of the entry shows that. */
  private def unpadded(both: (String, Array[Byte])): Int = {
    val (own, rest) = both._1.splitAt(2 * both._2.length)
    own.length + (if (rest.matches("(fedcdead)*")) 0 else rest.length)
  }

  test("another ledger than the one that is wanted") {
    val other =
      damaged(whole.copy(index = index(whole.starts, whole.data.length.toLong, metadata(19, Some("a/b/persistent/c")))))
    check(other, "PULSAR_OFFLOAD_CORRUPT", "it belongs to a/b/persistent/c")
    check(damaged(whole), "PULSAR_OFFLOAD_CORRUPT", "it ends with entry 19, before entry 20", last = 20)
    check(
      damaged(whole.copy(index = index(whole.starts, whole.data.length.toLong, Array.emptyByteArray))),
      "PULSAR_OFFLOAD_CORRUPT",
      "names no last entry"
    )
    check(damaged(whole).copy(ledgerId = 8), "PULSAR_OFFLOAD_GONE", "does not exist")
  }

  test("files that are deleted, PULSAR_OFFLOAD_GONE") {
    val ledger = damaged(whole)
    Files.delete(FilePath.of(ledger.data.toUri))
    check(ledger, "PULSAR_OFFLOAD_GONE", "does not exist")
    check(writer.blockLedger(), "PULSAR_OFFLOAD_GONE", "does not exist")
    check(writer.mapLedger(), "PULSAR_OFFLOAD_GONE", "does not exist")
    assertEquals(
      OffloadedLedgers.splitPoints(Seq(writer.blockLedger()), writer.configuration, 30.seconds).map(
        _.failed.get match {
          case Unreadable(e) => e.condition
          case other         => throw other
        }
      ),
      Seq("PULSAR_OFFLOAD_GONE")
    )
  }

  test("streaming offload is told from a copy that is gone") {
    val byMagic = damaged(whole.copy(index = changed(whole.index) { b => b.putInt(0, 0x3d1fb0bc); () }))
    check(byMagic, "PULSAR_OFFLOAD_UNSUPPORTED", "in the format of streaming offload")
    val byName = writer.blockLedger()
    writer.write(new Path(s"${byName.location.uri}/${byName.uuid}-index"), Array[Byte](1))
    check(byName, "PULSAR_OFFLOAD_UNSUPPORTED", "in the format of streaming offload")
  }

  test("a scheme without a file system, PULSAR_OFFLOAD_FAILED names it") {
    val ledger = writer.blockLedger().copy(location = OffloadLocation(BlockFormat, "nofs://bucket"))
    check(ledger, "PULSAR_OFFLOAD_FAILED", """No FileSystem for scheme "nofs"""")
  }

  private def damagedMap(
      keys: Seq[Long],
      lastEntryId: Long = 19,
      managedLedger: String = ManagedLedger
  ): OffloadedLedger = {
    val ledger = writer.mapLedger()
    writer.writeMapFile(ledger,
      keys.map(id => id -> (if (id < 0) metadata(lastEntryId, Some(managedLedger)) else entries(id.toInt))))
    ledger
  }

  test("map files without metadata or an entry, the missing entry is named") {
    check(damagedMap(0L to 19L), "PULSAR_OFFLOAD_CORRUPT", "the ledger's metadata is missing: entry 0 is in its place")
    check(damagedMap(-1L to 18L), "PULSAR_OFFLOAD_CORRUPT", "entry 19 is missing: the file ends before it")
    check(damagedMap(-1L to 18L), "PULSAR_OFFLOAD_CORRUPT", "entry 19 is missing: the file ends before it", first = 19)
    check(damagedMap((-1L to 4L) ++ (6L to 19L)), "PULSAR_OFFLOAD_CORRUPT",
      "entry 5 is missing: entry 6 is in its place")
    check(damagedMap((-1L to 4L) ++ (6L to 19L)), "PULSAR_OFFLOAD_CORRUPT",
      "entry 5 is missing: entry 6 is in its place", first = 5)
    check(damagedMap(-1L to 19L, lastEntryId = 18), "PULSAR_OFFLOAD_CORRUPT", "it ends with entry 18, before entry 19")
    check(damagedMap(-1L to 19L, managedLedger = "a/b/persistent/c"), "PULSAR_OFFLOAD_CORRUPT",
      "it belongs to a/b/persistent/c")
  }

  test("a map file with other keys and values, PULSAR_OFFLOAD_CORRUPT") {
    val ledger = writer.mapLedger()
    writer.writeMap(ledger, classOf[LongWritable], Seq(-1L -> new LongWritable(1)))
    check(ledger, "PULSAR_OFFLOAD_CORRUPT", "its keys and values are")
  }

  test("bytes changed in a map file, found by the file system or not") {
    for (checksums <- Seq(true, false)) {
      val ledger = damagedMap(-1L to 19L)
      val data   = FilePath.of(new Path(ledger.data, "data").toUri)
      if (!checksums) Files.delete(data.resolveSibling(".data.crc"))
      val bytes = Files.readAllBytes(data)
      bytes.indices.drop(200).foreach(i => bytes(i) = 0x55)
      Files.write(data, bytes)
      if (checksums) check(ledger, "PULSAR_OFFLOAD_CORRUPT", "the file system's own checksum does not fit")
      else assert(failure(ledger).condition.matches("PULSAR_OFFLOAD_(CORRUPT|FAILED)"))
    }
  }

  test("storage that does not answer ends at the deadline, and closing does not wait for it") {
    val ledger  = writer.blockLedger()
    val release = new java.util.concurrent.CountDownLatch(1)
    val stuck   =
      new OffloadedEntrySource(new StorageThread(ledger, 5, 200.millis), 9,
        () => { release.await(); throw new IllegalStateException })
    val unreadable = intercept[SegmentUnreadable](stuck.next())
    stuck.close()
    release.countDown()
    assertEquals(unreadable.silent, Seq(ledger.location.uri))
    val error = Unreadable.unapply(unreadable).get
    assertEquals(error.condition, "PULSAR_OFFLOAD_TIMEOUT")
    assert(error.getMessage.contains("read from 7:5 on, did not respond within 200 ms"), error.getMessage)
  }
}
