package io.github.pulsarspark.metrics

import java.lang.reflect.Modifier
import java.nio.file.{Files, Path}

import scala.jdk.CollectionConverters._
import scala.util.Using

import org.apache.spark.sql.connector.metric.CustomMetric

import io.github.pulsarspark.UnitSuite
import io.github.pulsarspark.format.Tier

class MetricsSuite extends UnitSuite {

  private val all = Metrics.ofReads ++ Metrics.ofWrites

  test("Spark creates each metric by the name of its class") {
    all.foreach { metric =>
      val created = metric.getClass.getConstructor().newInstance().asInstanceOf[CustomMetric]
      assertEquals((created.name, created.description), (metric.name, metric.description))
      assertEquals(created.aggregateTaskMetrics(Array(2L, 3L)), if (metric.isInstanceOf[DirectMemory]) "3" else "5")
    }
    assertEquals(all.map(_.name).distinct.length, all.length)
    assertEquals(all.map(_.getClass).distinct.length, all.length)
  }

  test("every defined metric is in the list, and every metric of a read is counted") {
    val folder = Path.of(classOf[Metric].getProtectionDomain.getCodeSource.getLocation.toURI)
      .resolve(classOf[Metric].getPackageName.replace('.', '/'))
    val defined = Using.resource(Files.list(folder))(_.iterator.asScala.map(_.getFileName.toString).toSeq)
      .filter(_.endsWith(".class"))
      .map(name => Class.forName(s"${classOf[Metric].getPackageName}.${name.stripSuffix(".class")}"))
      .filter(c => classOf[CustomMetric].isAssignableFrom(c) && !Modifier.isAbstract(c.getModifiers))
    assertEquals(defined.filterNot(all.map(_.getClass.asInstanceOf[Class[_]]).contains), Nil)
    assertEquals(
      (Metrics.ofTask(new ReadCounts(None)) ++ Metrics.ofPlan(Planned)).map(_.name).toSet,
      Metrics.ofReads.map(_.name).toSet
    )
  }

  private object Planned extends PlanCounts {
    override def partitionsSkipped: Long = 2
    override def ledgersSkipped: Long    = 3
  }

  test("there is a metric for each tier and measure, by its number") {
    assertEquals(TierMetric.all.map(m => (m.level, m.measure)),
      for { level <- Tier.all; measure <- Measure.all } yield (level, measure))
    assertEquals(Measure.all.map(_.ordinal), Measure.all.indices)
    assertEquals(Tier.all.map(_.ordinal), Tier.all.indices)
  }

  test("counts of several tasks, their sums") {
    val total = new TierCounts
    assert(total.isZero)
    val task = new TierCounts
    task.addEntry(Tier.Bookies, 10)
    task.addEntry(Tier.Bookies, 20)
    task.addEntry(Tier.Tiered, 5)
    (1 to 7).foreach(_ => task.addRow(Tier.Tiered))
    total.add(task)
    total.merge(total.copyAndReset())
    total.merge(task.copy())
    assertEquals(Measure.all.map(total.of(Tier.Bookies, _)), Seq(4L, 60L, 0L))
    assertEquals(Measure.all.map(total.of(Tier.Tiered, _)), Seq(2L, 10L, 14L))
    assertEquals(Measure.all.map(total.of(Tier.Broker, _)), Seq(0L, 0L, 0L))
    assertEquals(Measure.all.map(total.sum), Seq(6L, 70L, 14L))
  }
}
