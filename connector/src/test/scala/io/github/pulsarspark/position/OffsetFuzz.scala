package io.github.pulsarspark.position

import scala.util.Try

import io.github.pulsarspark.fuzz.TextFuzzTarget

/** Offsets in the files of a checkpoint: of this connector, of the incumbent, of other sources. */
object OffsetFuzz extends TextFuzzTarget {
  private val own =
    "{\"version\":2,\"positions\":{\"persistent://public/default/\":{\"t\":{\"0\":\"12:34:5\",\"\":\"1:2\"}," +
      "\"u\":\"7:0\"}},\"added\":{\"persistent://public/default/\":{\"w\":\"1:-1\"}},\"marks\":" +
      "{\"persistent://public/default/\":{\"u\":\"7:0 1732780000123 9f3c\"}}"

  override def texts: Seq[String] = Seq(
    s"$own}",
    s"$own,\"notBefore\":{\"*\":17},\"notBeforeUntil\":{\"persistent://public/default/u\":\"7:1\"}}",
    """{"version":1,"positions":{"persistent://public/default/t-partition-0":"12:34:5"}}""",
    """{"persistent://public/default/t":[8,-84,1,16,34,24,0]}"""
  )

  override def decode(text: String): Any = {
    PulsarOffset.isProgress(text)
    PulsarOffset.writer(text)
    Try(PulsarOffset.parseIncumbentStart(PulsarOffset.logContent(text), "f")).recover(named).get
    val start = StreamStart.parse(text, "f")
    // what was read is written and read as the same
    val again = StreamStart.parse(start.json, "f")
    if (again != start) throw new IllegalStateException(s"$again is not $start")
    start
  }

  private def named: PartialFunction[Throwable, Any] = { case e: io.github.pulsarspark.errors.PulsarError =>
    e.condition
  }
}
