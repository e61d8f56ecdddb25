package io.github.pulsarspark.read.stream.loss

import java.time.Instant

import io.github.pulsarspark.UnitSuite
import io.github.pulsarspark.position.{PartitionBounds, Position, PulsarOffset}

class RecreatedTopicsSuite extends UnitSuite {

  private val begun = Instant.parse("2026-01-01T00:00:00Z")
  private val read  = PulsarOffset.of(Seq("a" -> Position(3, 9), "b" -> Position(4, 2), "c" -> Position(5, -1)))

  private def bounds(first: (String, Position)*) =
    first.map { case (p, at) => p -> PartitionBounds(at, Position(at.ledgerId, 7)) }.toMap

  private val gone = bounds("a" -> Position(8, -1), "b" -> Position(4, -1), "c" -> Position(9, -1))

  private def among(
      created: Map[String, Instant],
      now: Map[String, PartitionBounds] = gone,
      existing: PulsarOffset = read,
      start: Option[Instant] = Some(begun)
  ) = new RecreatedTopics(existing, start, asked => created.filter(c => asked.contains(c._1))).among(read, now)

  private val later   = begun.plusSeconds(301)
  private val atAll   = Map("a" -> later, "b" -> later, "c" -> later)
  private def nothing = Map.empty[String, Instant]

  test("a partition was created again if its ledger is gone and it is younger than the stream") {
    assertEquals(among(atAll), Map("a" -> later))
    assertEquals(among(Map("a" -> begun.plusSeconds(299))), nothing)
    assertEquals(among(Map("a" -> begun.minusSeconds(9))), nothing)
    assertEquals(among(nothing), nothing)
  }

  test("nobody is asked while the ledger that was read last is there, or when nothing is lost") {
    val there    = gone + ("a" -> PartitionBounds(Position(3, -1), Position(8, 1)))
    val lossless = gone + ("a" -> PartitionBounds(Position(8, -1), Position(8, 1), emptyAfter = Some(Position(3, 9))))
    Seq(there, lossless).foreach { now =>
      assertEquals(new RecreatedTopics(read, Some(begun), _ => fail("asked")).among(read, now), nothing)
    }
  }

  test("what joined the stream later may be younger, and a stream without a beginning knows nothing") {
    assertEquals(among(atAll, existing = PulsarOffset.of(Nil)), nothing)
    assertEquals(among(atAll, start = None), nothing)
  }
}
