package io.github.pulsarspark.position

import java.nio.file.Files

import munit.{FunSuite, ScalaCheckSuite}
import org.apache.hadoop.conf.Configuration
import org.scalacheck.Gen
import org.scalacheck.Prop._

import io.github.pulsarspark.errors.PulsarError
import io.github.pulsarspark.read.stream.InitialOffsetLog

class PositionSuite extends ScalaCheckSuite {

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

  test("other texts are not positions") {
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

class PulsarOffsetSuite extends ScalaCheckSuite {

  private val p0 = "persistent://public/default/t-partition-0"
  private val p1 = "persistent://public/default/t-partition-1"

  test("the JSON of an offset is readable, topics in alphabetical order") {
    assertEquals(PulsarOffset.of(Seq(p0 -> Position(12, 34, 5))).json,
      s"""{"version":1,"positions":{"$p0":"12:34:5"}}""")
  }

  test("a checkpoint of version 1 with an added partition is parsed") {
    val text   = s"""{"version":1,"positions":{"$p0":"12:34","$p1":"7:0"},"added":{"$p1":"7:-1"}}"""
    val offset = PulsarOffset.parse(text, "here")
    assertEquals(offset.json, text)
    assertEquals(offset.positions(p0), Position(12, 34))
    assertEquals(offset.added(p1), Position(7, -1))
  }

  property("every offset is parsed from its JSON") {
    forAll(Gen.mapOf(Gen.zip(Gen.alphaStr, PositionSuite.any))) { positions =>
      val offset = PulsarOffset.of(positions)
      assertEquals(PulsarOffset.parse(offset.json, "here"), offset)
    }
  }

  test("an error names the damaged offset") {
    Seq("", "{}", "[]", "1.5", """{"version":1}""", """{"version":2,"positions":{}}""", """{"t":[8,5]}""",
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

class InitialOffsetLogSuite extends FunSuite {
  test("the start of a stream is written once and read by restarts, whatever would be resolved then") {
    val folder = Files.createTempDirectory("checkpoint").toString
    val first  =
      StreamStart(PulsarOffset.of(Seq("t" -> Position(1, 2))),
        scala.collection.immutable.SortedMap(StreamStart.AnyPartition -> 77L))
    val log = new InitialOffsetLog(folder, new Configuration())
    assertEquals(log.getOrWrite(first), first)
    val again = new InitialOffsetLog(folder, new Configuration()).getOrWrite(fail("resolved again"))
    assertEquals(again, first)
    assertEquals(again.times("any"), Interval(77L))
    assertEquals(
      Files.list(java.nio.file.Path.of(folder)).filter(p => p.toString.endsWith("initial-offset.json")).count(),
      1L
    )
  }
}

class BoundParserSuite extends FunSuite {

  private def each(text: String, option: String = "startingOffsets") =
    BoundParser.offsets(option, text, PositionSpec.Latest) match {
      case BoundSpec.Each(_, specs, _) => specs
      case other                       => fail(s"$other")
    }

  test("bounds are words, positions or whole streaming offsets") {
    assertEquals(BoundParser.offsets("startingOffsets", " Earliest ", PositionSpec.Latest),
      BoundSpec.Everywhere("startingOffsets", PositionSpec.Earliest))
    assertEquals(each("""{"a":"12:34:5","b":"latest"}"""),
      Map("a" -> PositionSpec.From(Position(12, 34, 5)), "b" -> PositionSpec.Latest))
    assertEquals(
      each("""{"a":"after 12:34:5","b":" After  12:34 "}"""),
      Map[String, PositionSpec]("a" -> PositionSpec.After(Position(12, 34, 5)),
        "b"                         -> PositionSpec.After(Position(12, 34)))
    )
    assertEquals(each("""{"a":"12:34:5"}""", "endingOffsets"),
      Map[String, PositionSpec]("a" -> PositionSpec.After(Position(12, 34, 5))))
  }

  test("the JSON of a stream's progress starts after its positions, and ends with them") {
    val progress = PulsarOffset.of(Seq("a" -> Position(1, 2))).json
    val specs    = Map[String, PositionSpec]("a" -> PositionSpec.After(Position(1, 2)))
    def parsed(option: String, others: PositionSpec) = BoundParser.offsets(option, progress, others)
    assertEquals(parsed("startingOffsets", PositionSpec.Latest),
      BoundSpec.Each("startingOffsets", specs, PositionSpec.Earliest))
    assertEquals(parsed("endingOffsets", PositionSpec.Latest),
      BoundSpec.Each("endingOffsets", specs, PositionSpec.After(Position.BeforeAll)))
  }

  test("message ids of the incumbent connector include the message in a start and in an end") {
    // MessageIdData(ledgerId = 12, entryId = 34, partition = 0, batch_index = 5), and the same not batched
    val batched = """{"a":[8,12,16,34,24,0,32,5]}"""
    val single  = """{"a":[8,12,16,34,24,0]}"""
    assertEquals(each(batched)("a"), PositionSpec.From(Position(12, 34, 5)): PositionSpec)
    assertEquals(each(single)("a"), PositionSpec.From(Position(12, 34)): PositionSpec)
    assertEquals(each(batched, "endingOffsets")("a"), PositionSpec.After(Position(12, 34, 5)): PositionSpec)
    assertEquals(
      each("""{"a":[8,-1,-1,-1,-1,-1,-1,-1,-1,-1,1,16,-1,-1,-1,-1,-1,-1,-1,-1,-1,1]}""")("a"),
      PositionSpec.Earliest: PositionSpec
    )
  }

  test("malformed offsets name the option and the place") {
    def refused(option: String, text: String) =
      assertEquals(intercept[IllegalArgumentException with PulsarError](each(text, option)).condition,
        "PULSAR_OFFSETS_MALFORMED", text)
    Seq("{", "[1]", "nonsense", """{"a":"1"}""", """{"a":[1,2]}""", """{"a":{}}""", """{"a":"after"}""",
      """{"a":"after latest"}""").foreach(refused("startingOffsets", _))
    refused("endingOffsets", """{"a":"after 1:2:3"}""")
  }

  test("times are milliseconds or ISO 8601 with a zone, also per topic; without a zone they are an error") {
    def millis(text: String) = BoundParser.times("startingTime", text, PositionSpec.Latest)
    assertEquals(millis("1700000000000"), BoundSpec.Everywhere("startingTime", PositionSpec.AtTime(1700000000000L)))
    assertEquals(millis("1970-01-01T01:00:00.001+01:00"), BoundSpec.Everywhere("startingTime", PositionSpec.AtTime(1L)))
    assertEquals(millis("1970-01-01T00:00:00Z"), BoundSpec.Everywhere("startingTime", PositionSpec.AtTime(0L)))
    assertEquals(
      millis("""{"a":5,"b":"1970-01-01T00:00:00Z"}"""),
      BoundSpec.Each("startingTime", Map("a" -> PositionSpec.AtTime(5), "b" -> PositionSpec.AtTime(0)),
        PositionSpec.Latest)
    )
    Seq("yesterday", "2026-01-01T00:00:00", "2026-01-01", "{").foreach { text =>
      assertEquals(intercept[IllegalArgumentException with PulsarError](millis(text)).condition,
        "PULSAR_TIME_MALFORMED", text)
    }
  }
}

class RangePlannerSuite extends FunSuite {

  private val t      = "persistent://public/default/t"
  private val topics = Map(t -> Seq(s"$t-partition-0", s"$t-partition-1"))
  private val full   =
    (name: String) => if (name.startsWith("persistent://")) name else s"persistent://public/default/$name"
  private val bounds = PartitionBounds(Position(3, -1), Position(5, 7))

  private def assign(specs: (String, PositionSpec)*) =
    RangePlanner.assign(BoundSpec.Each("startingOffsets", specs.toMap, PositionSpec.Earliest), topics, full,
      (_, _) => None, _ == full("later"))

  test("a topic that may be missing has no bound before it exists") {
    assertEquals(assign("later" -> PositionSpec.Latest), assign())
  }

  test("bounds apply to short names, partitions and whole topics") {
    val both =
      Map[String, PositionSpec](s"$t-partition-0" -> PositionSpec.Earliest, s"$t-partition-1" -> PositionSpec.Earliest)
    assertEquals(assign("t" -> PositionSpec.Earliest), both)
    assertEquals(
      RangePlanner.assign(BoundSpec.Everywhere("o", PositionSpec.Earliest), topics, full, (_, _) => None,
        _ => false),
      both
    )
    assertEquals(
      assign("t-partition-0" -> PositionSpec.Latest, "t-partition-1" -> PositionSpec.After(Position(1, 1))).size,
      2
    )
  }

  test("a partition that is not listed has the default") {
    assertEquals(
      assign("t-partition-0"                      -> PositionSpec.Latest),
      Map[String, PositionSpec](s"$t-partition-0" -> PositionSpec.Latest, s"$t-partition-1" -> PositionSpec.Earliest)
    )
  }

  test("unknown and ambiguous names are errors") {
    def refused(specs: (String, PositionSpec)*) =
      intercept[IllegalArgumentException with PulsarError](assign(specs: _*)).condition
    assertEquals(refused("other" -> PositionSpec.Earliest), "PULSAR_OFFSETS_UNKNOWN_TOPIC")
    assertEquals(refused("t-partition-7" -> PositionSpec.Earliest), "PULSAR_OFFSETS_UNKNOWN_TOPIC")
    assertEquals(refused("t" -> PositionSpec.After(Position(1, 1))), "PULSAR_OFFSETS_MALFORMED")
    assertEquals(refused("t" -> PositionSpec.From(Position(1, 1))), "PULSAR_OFFSETS_MALFORMED")
  }

  test("an end is at most the last message") {
    def end(spec: PositionSpec) = RangePlanner.end(spec, bounds, _ => Position(99, 0))
    assertEquals(end(PositionSpec.Latest), Position(5, 7))
    assertEquals(end(PositionSpec.After(Position(9, 9))), Position(5, 7))
    assertEquals(end(PositionSpec.After(Position(5, 7, 3))), Position(5, 7, 3))
    assertEquals(end(PositionSpec.AtTime(1)), Position(5, 7))
  }

  test("a start is resolved within the bounds of its partition") {
    def start(spec: PositionSpec) = RangePlanner.start(spec, bounds, time => Position(4, time))
    assertEquals(start(PositionSpec.Earliest), Position(3, -1))
    assertEquals(start(PositionSpec.Latest), Position(5, 7))
    assertEquals(start(PositionSpec.AtTime(2)), Position(4, 2))
    assertEquals(start(PositionSpec.From(Position(4, 2, 5))), Position(4, 2, 4))
    assertEquals(start(PositionSpec.From(Position(4, 2, 0))), Position(4, 1))
    assertEquals(start(PositionSpec.From(Position(4, 0))), Position(4, -1))
    assertEquals(start(PositionSpec.From(Position(4, -1))), Position(4, -1))
    assertEquals(start(PositionSpec.After(Position(4, 2, 5))), Position(4, 2, 5))
  }

  test("an end before its start is an error, equal ones are an empty range") {
    def order(s: PositionSpec, e: PositionSpec): Unit = RangePlanner.checkOrder(t, s, e)
    order(PositionSpec.After(Position(1, 1)), PositionSpec.After(Position(1, 1)))
    order(PositionSpec.From(Position(1, 1)), PositionSpec.After(Position(1, 1, 0)))
    order(PositionSpec.From(Position(1, -1)), PositionSpec.After(Position(1, -1)))
    order(PositionSpec.From(Position(1, 1)), PositionSpec.After(Position.BeforeAll)) // the end excludes the partition
    Seq(Position(1, 1, 4), Position(1, 1, 0), Position(1, 0), Position(0, 9)).foreach { end =>
      assertEquals(
        intercept[IllegalArgumentException with PulsarError](
          order(PositionSpec.From(Position(1, 1, 5)), PositionSpec.After(end))
        ).condition,
        "PULSAR_OFFSETS_REVERSED"
      )
    }
    assertEquals(
      intercept[IllegalArgumentException with PulsarError](order(
        PositionSpec.After(Position(1, 1)),
        PositionSpec.After(Position(1, 0))
      )).condition,
      "PULSAR_OFFSETS_REVERSED"
    )
    assertEquals(
      intercept[IllegalArgumentException with PulsarError](
        order(PositionSpec.AtTime(2), PositionSpec.AtTime(1))
      ).condition,
      "PULSAR_OFFSETS_REVERSED"
    )
    assert(OffsetRange(t, Position(1, 1), Position(1, 1)).isEmpty)
  }
}
