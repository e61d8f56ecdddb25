package io.github.pulsarspark.position

import io.github.pulsarspark.fuzz.TextFuzzTarget

/** Texts of `startingOffsets`, `endingOffsets`, `startingTime`; the first character selects the option. */
object BoundFuzz extends TextFuzzTarget {
  override def texts: Seq[String] = Seq(
    "0last 10",
    "1{\"t\": \"12:34:5\", \"u\": \"latest\"}",
    "0after 12:34",
    "0{\"version\":2,\"positions\":{\"persistent://public/default/\":{\"t\":{\"0\":\"12:34:5\"}}}}",
    "22026-01-02T03:04:05Z",
    "2{\"t\": 1700000000000, \"u\": \"2026-01-02T03:04:05+01:00\"}"
  )

  override def decode(text: String): Any = text.take(1) match {
    case "0" => BoundParser.offsets("startingOffsets", text.drop(1), PositionSpec.Latest)
    case "1" => BoundParser.offsets("endingOffsets", text.drop(1), PositionSpec.Latest)
    case _   => BoundParser.times("startingTime", text.drop(1), PositionSpec.Earliest)
  }
}
