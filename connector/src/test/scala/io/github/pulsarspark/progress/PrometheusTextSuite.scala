package io.github.pulsarspark.progress

import java.nio.file.{Files, Path}
import java.time.Instant

import scala.jdk.CollectionConverters._

import com.fasterxml.jackson.databind.{JsonNode, ObjectMapper}

import io.github.pulsarspark.UnitSuite

/** Compares the text with that of the Python package, of the same reports. */
class PrometheusTextSuite extends UnitSuite {
  import PrometheusTextSuite._

  private val folder = Seq("python/tests/progress", "../python/tests/progress").map(Path.of(_)).find(Files.exists(_))
    .getOrElse(fail("no tests of the Python package here"))

  private def lines(name: String): Seq[String] = Files.readAllLines(folder.resolve(name)).asScala.toSeq

  test("names, types, texts, labels and values are those of the Python package") {
    val reports       = lines("exported.jsonl").map(report)
    val (python, own) = (lines("exported.txt"), PrometheusText.of(reports).linesIterator.toSeq)
    assertEquals(own.filter(_.startsWith("#")), python.filter(_.startsWith("#")))
    assertEquals(own.filter(_.startsWith("# TYPE")).size, ExportedMetric.all.size, "each metric is there")
    assertEquals(samples(own), samples(python))
  }

  test("reports without Pulsar sources have no lines") {
    assertEquals(PrometheusText.of(lines("exported.jsonl").map(report(_).copy(sources = Nil))), "")
    assertEquals(PrometheusText.of(Nil), "")
  }

  test("rates that are no numbers have no lines") {
    val source = SourceReport("Pulsar[a]", Double.NaN, Double.PositiveInfinity, Map("pulsarDataLoss" -> "0"))
    val text   = PrometheusText.of(Seq(QueryReport("q", Instant.EPOCH, 1L, 250L, Seq(source))))
    assert(!text.contains("_per_second"), text)
    assert(text.contains("pulsar_spark_batch_duration_seconds{query=\"q\"} 0.25\n"), text)
    assert(text.contains("pulsar_spark_lost_ranges_total{query=\"q\",source=\"Pulsar[a]\"} 0\n"), text)
  }
}

private object PrometheusTextSuite {
  private val mapper = new ObjectMapper

  private def samples(lines: Seq[String]): Map[String, Double] =
    lines.filterNot(_.startsWith("#")).map { line =>
      val (name, value) = line.splitAt(line.lastIndexOf(' '))
      name -> value.trim.toDouble
    }.toMap

  private def report(json: String): QueryReport = {
    val node = mapper.readTree(json)
    QueryReport(
      Option(node.get("name")).filterNot(_.isNull).getOrElse(node.get("id")).asText,
      Instant.parse(node.get("timestamp").asText),
      node.get("batchId").asLong,
      node.get("batchDuration").asLong,
      node.get("sources").asScala.toSeq.map(source).filter(_.isPulsar)
    )
  }

  private def source(node: JsonNode): SourceReport = SourceReport(
    node.get("description").asText,
    node.get("inputRowsPerSecond").asDouble,
    node.get("processedRowsPerSecond").asDouble,
    node.get("metrics").properties.asScala.map(field => field.getKey -> field.getValue.asText).toMap
  )
}
