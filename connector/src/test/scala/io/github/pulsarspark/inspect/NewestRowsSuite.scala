package io.github.pulsarspark.inspect

import scala.jdk.CollectionConverters._

import io.github.pulsarspark.cluster.ReadSuite
import io.github.pulsarspark.options.registry.RawOptions

/** The newest messages of a read, without Spark running, by [[NewestRows]]. */
class NewestRowsSuite extends ReadSuite {

  /** Places of the rows, the newest first. */
  private def newest(limit: Int, options: (String, String)*): Seq[String] = {
    val found   = NewestRows(new RawOptions(Map("service.url" -> cluster.serviceUrl) ++ options, _ => Nil), limit)
    val columns = found.path("columns").elements.asScala.map(_.path("name").asText).toSeq
    val places  = Seq("__ledgerId", "__entryId").map(columns.indexOf(_))
    found.path("rows").elements.asScala.map(row => places.map(i => row.get(i).asText).mkString(":")).toSeq
  }

  test("as many rows as the limit, the newest first, whatever the topic has") {
    stored("whole", 10L -> 3, 11L -> 2)
    val all = Seq("11:1", "11:0", "10:2", "10:1", "10:0")
    for (limit <- Seq(0, 1, 3, 5, 9)) assertEquals(newest(limit, "topic" -> "whole"), all.take(limit), limit)
  }

  test("the newest rows of all partitions together") {
    stored("parts-partition-0", 20L -> 3)
    stored("parts-partition-1", 21L -> 1)
    assertEquals(newest(2, "topic" -> "parts"), Seq("21:0", "20:2"))
  }

  test("the rows of the read that the options describe") {
    stored("ended", 30L -> 4)
    val end = s"""{"${full("ended")}": "30:1"}"""
    assertEquals(newest(9, "topic" -> "ended", "endingOffsets" -> end), Seq("30:1", "30:0"))
  }
}
