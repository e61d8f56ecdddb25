package io.github.pulsarspark.format

import scala.util.Random

import io.netty.buffer.{ByteBuf, Unpooled}
import org.apache.pulsar.common.api.proto.CompressionType

import io.github.pulsarspark.UnitSuite
import io.github.pulsarspark.errors.{LostRanges, PulsarError}
import io.github.pulsarspark.format.entry.{EntrySource, MessageView, PrecedingEntries}
import io.github.pulsarspark.position.Position

/** Messages in chunks, as [[ChunkAssembler]] puts them together, are those of Pulsar's client. */
class ChunkedMessagesSuite extends UnitSuite {

  private val topic = "persistent://a/b/t"
  private val start = Position(0, -1)

  private def decoder(
      earlier: Option[PrecedingEntries] = None,
      level: DecodeDepth = DecodeDepth.Message,
      limit: Int = 1 << 20,
      ownBytes: Boolean = true
  ) = new EntryDecoder(topic, level, limit, ownBytes, earlier)

  private def value(m: MessageView): Seq[Byte] = m.bytes.slice(m.valueOffset, m.valueOffset + m.valueLength).toSeq

  /** Place and value of the messages of a range, each looked at before the next is decoded. */
  private def read(
      log: ChunkedLog,
      from: Position,
      to: Position,
      decoder: EntryDecoder
  ): Vector[(Position, Seq[Byte])] = {
    val source = log.source(from, to)
    val found  = Vector.newBuilder[(Position, Seq[Byte])]
    while (source.next()) {
      decoder.open(source.ledgerId, source.entryId, source.entry, -1, Int.MaxValue)
      while (decoder.next()) found +=
        Position(decoder.message.ledgerId, decoder.message.entryId) -> value(decoder.message)
    }
    found.result()
  }

  private def inMemory(chunks: Vector[io.netty.buffer.ByteBuf]): ChunkedLog =
    ChunkedLog(chunks.zipWithIndex.map { case (bytes, i) =>
      LogEntry(Position(1, i.toLong), "u", i, chunks.size, 5, Nil, bytes)
    })

  test("every way to cut a topic into ranges returns the messages that the client reads, each once") {
    val seed = Random.nextLong()
    println(s"seed $seed")
    val dice = new Random(seed)
    for (round <- 1 to 400) {
      val log              = ChunkedLog.random(dice)
      val (wanted, absent) = log.asClient
      val cuts = (start +: log.entries.map(_.at).filter(_ => dice.nextInt(3) == 0)) ++ log.entries.lastOption.map(_.at)
      val ranges = cuts.zip(cuts.drop(1))
      val limit  = if (dice.nextBoolean()) 1 << 20 else 700 // the smaller one holds about two chunks
      for (level <- Seq(DecodeDepth.Entry, DecodeDepth.Message)) {
        val misleading = dice.nextBoolean()
        val parts      = ranges.map { case (from, to) =>
          val reader = decoder(Some(log.earlier(misleading)), level, limit, ownBytes = dice.nextBoolean())
          (read(log, from, to, reader), reader.incompleteMessages)
        }
        val clue =
          s"seed $seed, round $round, $level, limit $limit, misleading $misleading, cuts $cuts, log ${log.entries.map(
              e =>
                (e.at, e.uuid, e.id, e.chunks)
            )}"
        assertEquals(parts.flatMap(_._1).map(_._1), wanted.map(_._1), clue)
        if (level == DecodeDepth.Message) assertEquals(parts.flatMap(_._1), wanted, clue)
        assertEquals(parts.map(_._2).sum, absent.toLong, clue)
      }
    }
  }

  test("random logs contain every kind of chunked message") {
    val logs = Vector.fill(300)(ChunkedLog.random(new Random(Random.nextLong())))
    assert(logs.map(_.asClient._2).sum > 30, "messages that lack a chunk")
    assert(logs.map(l => l.entries.count(e => e.chunks > 1 && e.isLast) - l.asClient._1.size).exists(_ > 0))
    assert(logs.exists(l => l.entries.groupBy(_.uuid).values.exists(_.map(_.at.ledgerId).distinct.size > 1)),
      "messages over ledgers")
  }

  for (compression <- CompressionType.values) test(s"chunks are joined before they are unpacked: $compression") {
    val content = Array.tabulate[Byte](100000)(i => (i * i % 251).toByte)
    val log     = inMemory(ChunkedLog.split(
      content,
      7,
      "u",
      5,
      compression,
      m => { m.setPartitionKey("k").addProperty().setKey("n").setValue("v"); () }
    ))
    for (ownBytes <- Seq(true, false)) {
      val reader = decoder(ownBytes = ownBytes)
      assertEquals(read(log, start, log.entries.last.at, reader), Vector(Position(1, 6) -> content.toSeq))
      val m = reader.message
      assertEquals((m.firstLedgerId, m.firstEntryId, m.batchIndex, m.propertyCount, m.keyLength), (1L, 0L, -1, 1, 1))
    }
  }

  test("a message in one entry after one in chunks has no first chunk") {
    val reader = decoder()
    read(inMemory(ChunkedLog.split(Array[Byte](1, 2), 2, "u", 5)), start, Position(1, 1), reader)
    Received.byDecoder(reader, StoredEntry(Seq(Sent.text("v")), batched = true).bytes)
    assertEquals((reader.message.firstLedgerId, reader.message.firstEntryId), (-1L, -1L))
  }

  test("a range that ends inside a message returns nothing of it and requests nothing") {
    val log     = inMemory(ChunkedLog.split(Array.fill[Byte](50)(1), 5, "u", 5))
    val nothing = new PrecedingEntries {
      override def placesBefore(publishTime: Long): Iterator[Position] = fail("looked back")
      override def open(from: Position, to: Position): EntrySource     = fail("looked back")
    }
    val reader = decoder(Some(nothing))
    assertEquals(read(log, Position(1, 1), Position(1, 3), reader), Vector.empty)
    assertEquals(reader.incompleteMessages, 0L)
  }

  test("no earlier entries are read for a message that the query does not need") {
    val log    = inMemory(ChunkedLog.split(Array.fill[Byte](50)(1), 2, "u", 5))
    val reader = decoder(Some(new PrecedingEntries {
      override def placesBefore(publishTime: Long): Iterator[Position] = fail("looked back")
      override def open(from: Position, to: Position): EntrySource     = fail("looked back")
    }))
    reader.open(1, 1, log.entries(1).bytes, -1, Int.MaxValue)
    assertEquals(reader.message.publishTime, 5L) // outside of its bounds, say
    reader.open(1, 2, StoredEntry(Seq(Sent.text("v")), batched = true).bytes, -1, Int.MaxValue)
    assert(reader.next())
  }

  test("damaged entries in front of the range count as missing") {
    val whole   = inMemory(ChunkedLog.split(Array.fill[Byte](50)(1), 3, "u", 5))
    val damaged =
      whole.copy(
        entries = whole.entries.updated(1, whole.entries(1).copy(bytes = Unpooled.wrappedBuffer(Array[Byte](1, 2, 3))))
      )
    val reader = decoder(Some(damaged.earlier(misleading = false)))
    assertEquals(read(damaged, Position(1, 1), Position(1, 2), reader), Vector.empty)
    assertEquals(reader.incompleteMessages, 1L)
  }

  test("a message above the limit is an error, in the range and across its start, and the next one is read") {
    val log = inMemory(ChunkedLog.split(Array.fill[Byte](2001)(1), 3, "u", 5))
    for (from <- Seq(start, Position(1, 0), Position(1, 1))) {
      val reader = decoder(Some(log.earlier(misleading = false)), limit = 2000)
      val error  = intercept[RuntimeException with PulsarError](read(log, from, Position(1, 2), reader))
      assertEquals((error.condition, error.parameters("position"), error.parameters("bytes")),
        ("PULSAR_ENTRY_TOO_LARGE", "1:2", "2001"))
      assertEquals(Received.byDecoder(reader, StoredEntry(Seq(Sent.text("v")), batched = true).bytes).size, 1)
    }
  }

  test("a message that claims to be old and of many chunks is skipped at the cost of a bounded look back") {
    var opened, entries = 0L
    val filler          = StoredEntry(Seq(Sent.text("v")), batched = true).bytes
    val endless         = new PrecedingEntries {
      override def placesBefore(publishTime: Long): Iterator[Position] = Iterator(Position(1, -1), Position(0, -1))
      override def open(startExclusive: Position, end: Position): EntrySource = new EntrySource {
        opened += 1
        private var at                = startExclusive
        override def next(): Boolean  = { at = Position(end.ledgerId, at.entryId + 1); entries += 1; at <= end }
        override def ledgerId: Long   = at.ledgerId
        override def entryId: Long    = at.entryId
        override def entry: ByteBuf   = filler
        override def lost: LostRanges = LostRanges.none
        override def close(): Unit    = ()
      }
    }
    for (count <- Seq(3, 1000000000, Int.MaxValue); level <- Seq(DecodeDepth.Entry, DecodeDepth.Message)) {
      val forged = ChunkedLog.split(Array[Byte](1, 2), 2, "u", 0,
        describe = m => { m.setNumChunksFromMsg(count).setChunkId(count - 1); () }).head
      val reader = decoder(Some(endless), level)
      opened = 0
      entries = 0
      reader.open(9, 1000000000L, forged, -1, Int.MaxValue)
      assert(!reader.next())
      assertEquals(reader.incompleteMessages, 1L)
      assert(opened <= 3 && entries <= 100003, s"$count chunks: $entries entries in $opened reads")
    }
  }

  test("chunks in front of the range that are more than a message may have take no memory") {
    val log    = inMemory(ChunkedLog.split(Array.fill[Byte](20000)(1), 20, "u", 5))
    val reader = decoder(Some(log.earlier(misleading = false)), limit = 2000)
    val error  = intercept[RuntimeException with PulsarError](read(log, Position(1, 18), Position(1, 19), reader))
    assertEquals(error.condition, "PULSAR_ENTRY_TOO_LARGE")
    assert(error.parameters("bytes").toInt < 5000, error.parameters("bytes"))
  }

  test("metadata that makes no sense is an error") {
    val changes = Seq[org.apache.pulsar.common.api.proto.MessageMetadata => Any](
      _.setChunkId(2),
      _.setChunkId(-1),
      _.clearUuid(),
      _.setNumMessagesInBatch(1)
    )
    for (change <- changes; level <- Seq(DecodeDepth.Entry, DecodeDepth.Message)) {
      val chunk = ChunkedLog.split(Array.fill[Byte](50)(1), 2, "u", 5, describe = m => { change(m); () }).head
      val error =
        intercept[RuntimeException with PulsarError](decoder(level = level).open(1, 0, chunk, -1, Int.MaxValue))
      assertEquals(error.condition, "PULSAR_ENTRY_CORRUPT")
    }
  }
}
