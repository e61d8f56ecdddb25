package io.github.pulsarspark.metrics

import munit.FunSuite
import org.apache.spark.sql.connector.metric.CustomMetric

import io.github.pulsarspark.format.Tier

class MetricsSuite extends FunSuite {

  private val all = Metrics.ofReads ++ Metrics.ofWrites

  test("Spark makes each metric by the name of its class") {
    all.foreach { metric =>
      val made = metric.getClass.getConstructor().newInstance().asInstanceOf[CustomMetric]
      assertEquals((made.name, made.description), (metric.name, metric.description))
      assertEquals(made.aggregateTaskMetrics(Array(2L, 3L)), if (metric == Metrics.directMemory) "3" else "5")
    }
    assertEquals(all.map(_.name).distinct.length, all.length)
    assertEquals(all.map(_.getClass).distinct.length, all.length)
  }

  test("there is a metric for each level and measure, by its number") {
    assertEquals(TierMetric.all.map(m => (m.level, m.measure)),
      for { level <- Tier.all; measure <- Measure.all } yield (level, measure))
    assertEquals(Measure.all.map(_.ordinal), Measure.all.indices)
    assertEquals(Tier.all.map(_.ordinal), Tier.all.indices)
  }

  test("what tasks count is added up") {
    val total = new TierCounts
    assert(total.isZero)
    val task = new TierCounts
    task.addEntry(Tier.Bookies, 10)
    task.addEntry(Tier.Bookies, 20)
    task.addEntry(Tier.Tiered, 5)
    (1 to 7).foreach(_ => task.addRow())
    total.add(task)
    total.merge(total.copyAndReset())
    total.merge(task.copy())
    assertEquals(Measure.all.map(total.of(Tier.Bookies, _)), Seq(4L, 60L, 0L))
    assertEquals(Measure.all.map(total.of(Tier.Tiered, _)), Seq(2L, 10L, 14L))
    assertEquals(Measure.all.map(total.of(Tier.Broker, _)), Seq(0L, 0L, 0L))
    assertEquals(Measure.all.map(total.sum), Seq(6L, 70L, 14L))
  }
}
