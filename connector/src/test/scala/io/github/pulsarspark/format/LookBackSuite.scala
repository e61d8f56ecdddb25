package io.github.pulsarspark.format

import io.netty.buffer.{ByteBuf, Unpooled}

import io.github.pulsarspark.UnitSuite
import io.github.pulsarspark.errors.LostRanges
import io.github.pulsarspark.format.entry.{EntrySource, PrecedingEntries}
import io.github.pulsarspark.position.Position

/** Searches by [[LookBack]]: where it looks for the chunks of a message, how far, and what it keeps of them. */
class LookBackSuite extends UnitSuite {
  import LookBack.MaxEntries

  private val chunks = ChunkedLog.split(Array.fill[Byte](60)(1), 6, "u", 5) // of ten bytes each
  private val other  = StoredEntry(Seq(Sent.text("v")), batched = true).bytes

  /** A topic partition with these entries and others around them, in each ledger from entry 0 on. */
  private final class Topic(entries: Map[Position, ByteBuf], places: => Iterator[Position] = fail("looked further"))
      extends PrecedingEntries {
    var opened: Seq[(Position, Position)] = Nil
    var read                              = 0L

    override def placesBefore(publishTime: Long): Iterator[Position] = places

    override def open(startExclusive: Position, endInclusive: Position): EntrySource = new EntrySource {
      opened :+= ((startExclusive, endInclusive))
      private var at = startExclusive

      override def next(): Boolean = {
        at = Position(endInclusive.ledgerId, (if (at.ledgerId == endInclusive.ledgerId) at.entryId else -1) + 1)
        if (at <= endInclusive) read += 1
        at <= endInclusive
      }
      override def ledgerId: Long   = at.ledgerId
      override def entryId: Long    = at.entryId
      override def entry: ByteBuf   = entries.getOrElse(at, other)
      override def lost: LostRanges = LostRanges.none
      override def close(): Unit    = ()
    }
  }

  private def stored(entries: (Long, ByteBuf)*) = entries.map { case (id, bytes) => Position(1, id) -> bytes }.toMap

  private def lookBack(topic: Topic, last: Position, count: Int, limit: Long = 1000): Vector[Chunk] =
    new LookBack(
      topic,
      "u",
      limit,
      (header, at, entry) => Chunk(header.metadata.chunkId, at, Array.emptyByteArray, header.payload(entry))
    ).before(last, count, publishTime = 5)

  test("chunks nearby are found in twice as many entries as the message has, and nobody looks further") {
    val topic = new Topic(stored(14L -> chunks(0), 17L -> chunks(1)))
    assertEquals(lookBack(topic, Position(1, 20), count = 3).map(_.at.entryId), Vector(14L, 17L))
    assertEquals(topic.opened, Seq(Position(1, 13) -> Position(1, 19)))
    val first = new Topic(stored(0L -> chunks(0)))
    assertEquals(lookBack(first, Position(1, 1), count = 2).map(_.at.entryId), Vector(0L))
    assertEquals(first.opened, Seq(Position(1, -1) -> Position(1, 0)))
  }

  test("chunks further away are found place by place, each entry once, up to the first chunk") {
    val places = Iterator(Position(1, 30), Position(1, 4), Position(1, 4), Position(0, -1))
    val topic  = new Topic(stored(5L -> chunks(0), 9L -> chunks(1), 38L -> chunks(2)), places)
    assertEquals(lookBack(topic, Position(1, 40), count = 4).map(_.at.entryId), Vector(5L, 9L, 38L))
    assertEquals(topic.opened,
      Seq(31L -> 39L, 30L -> 31L, 4L -> 30L).map { case (from, to) =>
        Position(1, from) -> Position(1, to)
      })
    assertEquals(places.toSeq, Seq(Position(1, 4), Position(0, -1)))
    val nothing = new Topic(stored(38L -> chunks(2)), Iterator(Position(1, 31), Position(1, 35), Position(1, 30)))
    assertEquals(lookBack(nothing, Position(1, 40), count = 4), Vector.empty, "the first chunk is nowhere")
    assertEquals(nothing.opened.map(_._1.entryId), Seq(31L, 30L), "each place comes before the last one")
  }

  test("a message that began again has its last beginning") {
    val again = new Topic(stored(30L -> chunks(0), 31L -> chunks(1), 33L -> chunks(0), 35L -> chunks(1)))
    assertEquals(lookBack(again, Position(1, 40), count = 5).map(_.at.entryId), Vector(33L, 35L))
  }

  test("chunks of other messages, and damaged entries, are none of this one") {
    val others  = ChunkedLog.split(Array.fill[Byte](20)(2), 2, "v", 5)
    val whole   = ChunkedLog.split(Array[Byte](3), 1, "u", 5, describe = m => { m.setUuid("u"); () })
    val damaged = Unpooled.wrappedBuffer(Array[Byte](1, 2))
    val topic = new Topic(stored(34L -> chunks(0), 35L -> damaged, 36L -> others(0), 37L -> whole(0), 38L -> chunks(1)))
    assertEquals(lookBack(topic, Position(1, 40), count = 3).map(_.at.entryId), Vector(34L, 38L))
  }

  test("no more entries are read than the limit, and one more that is there makes the search end in vain") {
    for ((between, isFound) <- Seq(MaxEntries - 2 -> true, MaxEntries - 1 -> false)) {
      val last  = between + 2 // chunk 0, the entries between, chunk 1
      val topic = new Topic(stored(0L -> chunks(0), last - 1 -> chunks(1)), Iterator(Position(1, -1)))
      assertEquals(lookBack(topic, Position(1, last), count = 3).map(_.at.entryId),
        if (isFound) Vector(0L, last - 1) else Vector.empty, s"$between")
      assert(topic.read <= MaxEntries + 1, topic.read)
    }
  }

  test("a message that claims very many chunks is looked for in as many entries as the limit") {
    val topic = new Topic(Map.empty, Iterator(Position(0, -1)))
    assertEquals(lookBack(topic, Position(1, 10 * MaxEntries), count = Int.MaxValue), Vector.empty)
    assertEquals(topic.opened.map(_._1), Seq(Position(1, 9 * MaxEntries - 1)))
  }

  test("of a message that is too large, the first chunk above the limit is kept, and no other") {
    val topic             = new Topic(stored((0 until 5).map(i => 30L + i -> chunks(i)): _*))
    def kept(limit: Long) = lookBack(topic, Position(1, 40), count = 6, limit).map(_.payload.length)
    assertEquals(kept(50), Vector(10, 10, 10, 10, 10))
    assertEquals(kept(19), Vector(10, 10, 0, 0, 0))
    assertEquals(kept(20), Vector(10, 10, 10, 0, 0))
    assertEquals(kept(21), Vector(10, 10, 10, 0, 0))
  }
}
