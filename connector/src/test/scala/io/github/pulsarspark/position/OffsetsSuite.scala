package io.github.pulsarspark.position

import java.nio.file.Files

import scala.collection.immutable.SortedMap

import org.apache.hadoop.conf.Configuration
import org.scalacheck.Gen
import org.scalacheck.Prop._

import io.github.pulsarspark.PropertySuite
import io.github.pulsarspark.UnitSuite
import io.github.pulsarspark.errors.PulsarError
import io.github.pulsarspark.read.stream.InitialOffsetLog

class PositionSuite extends PropertySuite {

  private val position = for {
    l <- Gen.choose(0L, 5L)
    e <- Gen.choose(-1L, 5L)
    b <- Gen.choose(-1, 3)
  } yield Position(l, e, b)

  property("every position is parsed from its text") {
    forAll(PositionSuite.any)(p => assertEquals(Position.parse(p.toString), Some(p)))
  }

  property("positions sort by ledger, entry, then batch index, a whole entry after all its messages") {
    forAll(position, position) { (a, b) =>
      def key(p: Position) = (p.ledgerId, p.entryId, if (p.batchIndex < 0) Long.MaxValue else p.batchIndex.toLong)
      assertEquals(a.compare(b).sign, Ordering[(Long, Long, Long)].compare(key(a), key(b)).sign)
    }
  }

  property("a range that starts before a position reads it first: all its messages, and none before") {
    forAll(PositionSuite.message, position) { (message, start) =>
      val isFirstOrLater = message >= start || message.wholeEntry == start
      assertEquals(message > start.preceding, isFirstOrLater)
    }
  }

  test("texts of other forms, no position") {
    Seq("", "1", "1:", "a:b", "1:2:3:4", "-1:2", "1:-2", "9223372036854775808:1", "1:9223372036854775808",
      "1:2:2147483648").foreach(s =>
      assertEquals(Position.parse(s), None, s)
    )
    assertEquals(Position.parse(" 12:34 "), Some(Position(12, 34)))
    assertEquals(Position.parse("12:34:5"), Some(Position(12, 34, 5)))
  }
}

object PositionSuite {

  private def number(most: Long): Gen[Long] =
    Gen.oneOf(Gen.choose(0L, most),
      Gen.oneOf(Seq(0L, most, most - 1) ++ Seq(18, 9).flatMap(d => Seq.fill(d)('9').mkString.toLongOption)))

  /** The position of a message near others. */
  val message: Gen[Position] = for {
    l <- Gen.choose(0L, 5L)
    e <- Gen.choose(0L, 5L)
    b <- Gen.choose(-1, 3)
  } yield Position(l, e, b)

  /** Any position that there can be. */
  val any: Gen[Position] = for {
    ledger <- number(Long.MaxValue)
    entry  <- Gen.oneOf(number(Long.MaxValue), Gen.const(-1L))
    batch  <- Gen.oneOf(number(Int.MaxValue.toLong).map(n => math.min(n, Int.MaxValue.toLong).toInt),
      Gen.const(Position.WholeEntry))
  } yield Position(ledger, entry, batch)
}

class PulsarOffsetSuite extends PropertySuite {

  private val p0 = "persistent://public/default/t-partition-0"
  private val p1 = "persistent://public/default/t-partition-1"

  test("the JSON of an offset writes what names have in common once, in alphabetical order") {
    val names = Seq("c/d/e", p1, p0, "persistent://public/default/alone", "t")
    assertEquals(
      PulsarOffset.of(names.map(_ -> Position(12, 34, 5))).json,
      """{"version":2,"positions":{"c/d/":{"e":"12:34:5"},"persistent://public/default/":{"alone":"12:34:5",""" +
        """"t":{"0":"12:34:5","1":"12:34:5"}},"":{"t":"12:34:5"}}}"""
    )
  }

  test("an offset of version 1 is parsed, and written in the current version") {
    val text = s"""{"version":1,"positions":{"$p0":"12:34","$p1":"7:0"},"added":{"$p1":"7:-1"},"missing":{"x":"3:4"}}"""
    val offset = PulsarOffset.parse(text, "here")
    assertEquals(offset.positions.toMap, Map(p0 -> Position(12, 34), p1 -> Position(7, 0)))
    assertEquals(offset.added.toMap, Map(p1 -> Position(7, -1)))
    assertEquals(offset.missing.toMap, Map("x" -> Position(3, 4)))
    assert(offset.json.startsWith("""{"version":2,"""), offset.json)
    assertEquals(PulsarOffset.parse(offset.json, "here"), offset)
  }

  test("an offset of version 2, its positions") {
    val text =
      """{"version":2,"positions":{"persistent://public/default/":{"alone":"8:1:2","t":{"0":"12:34","1":"7:0"}}},""" +
        """"added":{"persistent://public/default/":{"t":{"1":"7:-1"}}}}"""
    val offset = PulsarOffset.parse(text, "here")
    assertEquals(offset.positions.toMap,
      Map(p0                                -> Position(12, 34), p1 -> Position(7, 0),
        "persistent://public/default/alone" -> Position(8, 1, 2)))
    assertEquals(offset.added.toMap, Map(p1 -> Position(7, -1)))
    assertEquals(offset.json, text)
  }

  test("a topic takes less than 28 bytes, and a partition 20 at most") {
    val topics     = (0 until 3000).map(n => f"persistent://public/default/topic-$n%04d" -> Position(123456, n))
    val partitions = (0 until 3000).map(n => s"persistent://public/default/topic-partition-$n" -> Position(123456, n))
    val bytes      = Seq(topics, partitions).map(PulsarOffset.of(_).json.length / 3000)
    assert(bytes.forall(_ < 28), bytes)
    assert(bytes.last <= 20, bytes)
  }

  property("every offset is parsed from its JSON") {
    val part = Gen.oneOf("", "/", "a", "b", "-partition-", "0", "07", "12", "-1", "99999999999", "-partition-0",
      "persistent://t/n/", "\"", "\\", "é", "\u0000", " ")
    val name  = Gen.listOf(part).map(_.mkString)
    val named = Gen.mapOf(Gen.zip(name, PositionSuite.any)).map(SortedMap.from(_))
    forAll(named, named, named) { (positions, added, missing) =>
      val offset = PulsarOffset(positions, added, missing)
      assertEquals(PulsarOffset.parse(offset.json, "here"), offset)
    }
  }

  test("a start of a stream with a time or a position that is none, an error that names the checkpoint") {
    val offset = "{\"version\":2,\"positions\":{}"
    for (
      wrong <-
        Seq("\"notBefore\":{\"*\":\"soon\"}", "\"notBefore\":{\"*\":1e300}", "\"notBeforeUntil\":{\"t\":\"far\"}")
    ) {
      val error = intercept[RuntimeException with PulsarError](StreamStart.parse(s"$offset,$wrong}", "the file"))
      assertEquals(error.condition, "PULSAR_CHECKPOINT_MALFORMED")
      assert(error.getMessage.contains("the file"), error.getMessage)
    }
  }

  test("a damaged offset, an error that names the checkpoint") {
    Seq("", "{}", "[]", "1.5", """{"version":1}""", """{"version":3,"positions":{}}""", """{"t":[8,5]}""",
      """{"version":1,"positions":{"t":"x"}}""").foreach {
      text =>
        val e = intercept[RuntimeException with PulsarError](PulsarOffset.parse(text, "the checkpoint c"))
        assertEquals(e.condition, "PULSAR_CHECKPOINT_MALFORMED", text)
        assert(e.getMessage.contains("the checkpoint c"))
    }
  }

  test("the ranges of a batch depend on its two offsets alone; an added partition starts where the end offset says") {
    val from = PulsarOffset.of(Seq(p0 -> Position(1, 5)))
    val to   =
      PulsarOffset.parse(s"""{"version":1,"positions":{"$p0":"1:9","$p1":"7:3"},"added":{"$p1":"7:-1"}}""", "here")
    assertEquals(
      RangePlanner.between(from, to),
      Seq(OffsetRange(p0, Position(1, 5), Position(1, 9)), OffsetRange(p1, Position(7, -1), Position(7, 3)))
    )
    assertEquals(RangePlanner.between(to, PulsarOffset(to.positions)), Nil)
    val moved = PulsarOffset.parse(s"""{"version":1,"positions":{"$p0":"4:2"},"added":{"$p0":"4:-1"}}""", "here")
    assertEquals(RangePlanner.between(from, moved), Seq(OffsetRange(p0, Position(4, -1), Position(4, 2))),
      "where the end says, before all")
    assertEquals(RangePlanner.between(from, PulsarOffset(moved.added, moved.added)), Nil)
  }
}

class InitialOffsetLogSuite extends UnitSuite {
  test("the start of a stream is written once and read by restarts, whatever would be resolved then") {
    val folder = Files.createTempDirectory("checkpoint").toString
    val first  =
      StreamStart(PulsarOffset.of(Seq("t" -> Position(1, 2))),
        SortedMap(StreamStart.AnyPartition -> 77L), SortedMap("t" -> Position(1, 5, 2)))
    val log = new InitialOffsetLog(folder, new Configuration())
    assertEquals(log.getOrWrite(first), first)
    val again = new InitialOffsetLog(folder, new Configuration()).getOrWrite(fail("resolved again"))
    assertEquals(again, first)
    assertEquals(again.times(OffsetRange("any", Position(9, 9), Position(9, 10))), Interval(77L))
    assertEquals(
      Files.list(java.nio.file.Path.of(folder)).filter(p => p.toString.endsWith("initial-offset.json")).count(),
      1L
    )
  }
}
