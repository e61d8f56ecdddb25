package io.github.pulsarspark.read.stream.loss

import java.nio.file.{Files, Path}

import scala.jdk.CollectionConverters._

import org.apache.hadoop.conf.Configuration

import io.github.pulsarspark.UnitSuite
import io.github.pulsarspark.errors.{Conditions, LostRanges}

class LossLogSuite extends UnitSuite {

  private val folder = FunFixture[Path](
    _ => Files.createTempDirectory("losses"),
    all => Files.walk(all).iterator.asScala.toSeq.reverse.foreach(Files.delete)
  )

  private def lost(topics: String*) = topics.foldLeft(LostRanges.none)((all, topic) =>
    all + Conditions.DataLossTrimmed(topic = topic, from = "1:1", to = "2:2", reason = "trimmed")
  )

  private def files(checkpoint: Path) = Files.list(checkpoint.resolve("losses")).iterator.asScala.toSeq
    .filter(_.getFileName.toString.matches(raw"\d+\.json")).sorted.map(Files.readString(_))

  folder.test("each loss is written once, whoever found it") { checkpoint =>
    val log = new LossLog(checkpoint.toString, new Configuration)
    log.keep(LostRanges.none, LostRanges.none)
    assert(!Files.exists(checkpoint.resolve("losses")))
    log.keep(LostRanges.none, lost("task"))
    log.keep(LostRanges.none, lost("task"))
    log.keep(lost("driver"), lost("task"))
    val written = files(checkpoint)
    assertEquals(written.size, 2)
    assert(written.head.contains("\"topic\":\"task\"") && !written.head.contains("driver"), written.head)
    assert(written.last.contains("\"topic\":\"driver\"") && !written.last.contains("task"), written.last)
  }
}
