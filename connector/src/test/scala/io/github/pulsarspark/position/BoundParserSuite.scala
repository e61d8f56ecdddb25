package io.github.pulsarspark.position

import io.github.pulsarspark.UnitSuite
import io.github.pulsarspark.errors.PulsarError

class BoundParserSuite extends UnitSuite {

  private def each(text: String, option: String = "startingOffsets") =
    BoundParser.offsets(option, text, PositionSpec.Latest) match {
      case BoundSpec.Each(_, specs, _, _) => specs
      case other                          => fail(s"$other")
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

  test("a position stands alone, and so does a number of the newest messages") {
    def everywhere(option: String, text: String) = BoundParser.offsets(option, text, PositionSpec.Latest) match {
      case BoundSpec.Everywhere(_, spec) => spec
      case other                         => fail(s"$other")
    }
    assertEquals[Any, Any](everywhere("startingOffsets", " 12:34:5 "), PositionSpec.From(Position(12, 34, 5)))
    assertEquals[Any, Any](everywhere("startingOffsets", "After 12:34"), PositionSpec.After(Position(12, 34)))
    assertEquals[Any, Any](everywhere("endingOffsets", "12:34:5"), PositionSpec.After(Position(12, 34, 5)))
    assertEquals[Any, Any](everywhere("startingOffsets", " Last  10 "), PositionSpec.Newest(10))
    assertEquals(each("""{"a":"last 3"}"""), Map[String, PositionSpec]("a" -> PositionSpec.Newest(3)))
  }

  test("the JSON of a stream's progress starts after its positions, and ends with them") {
    val name  = "persistent://public/default/a-partition-1"
    val specs = Map[String, PositionSpec](name -> PositionSpec.After(Position(1, 2)))
    Seq(s"""{"version":1,"positions":{"$name":"1:2"}}""", PulsarOffset.of(Seq(name -> Position(1, 2))).json).foreach {
      progress =>
        def parsed(option: String) = BoundParser.offsets(option, progress, PositionSpec.Latest)
        assertEquals(parsed("startingOffsets"),
          BoundSpec.Each("startingOffsets", specs, PositionSpec.Earliest, isProgress = true))
        assertEquals(parsed("endingOffsets"),
          BoundSpec.Each("endingOffsets", specs, PositionSpec.After(Position.BeforeAll), isProgress = true))
    }
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
    Seq(
      "{",
      "[1]",
      "nonsense",
      """{"a":"1"}""",
      """{"a":[1,2]}""",
      """{"a":{}}""",
      """{"a":"after"}""",
      """{"a":"after latest"}""",
      """{"a":"last"}""",
      "last 0",
      "last -1",
      "last 99999999999",
      "last ten",
      "after",
      """{"version":3,"positions":{}}""",
      """{"version":{},"positions":{}}"""
    ).foreach(
      refused("startingOffsets", _)
    )
    refused("endingOffsets", """{"version":3,"positions":{}}""")
    Seq("""{"a":"after 1:2:3"}""", "after 1:2:3", "last 10", """{"a":"last 10"}""").foreach(refused("endingOffsets", _))
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
