package io.github.pulsarspark.read.stream

import java.util.concurrent.atomic.AtomicLong

import org.apache.logging.log4j.Level
import org.apache.logging.log4j.core.config.Configurator

import io.github.pulsarspark.{LocalSpark, UnitSuite}
import io.github.pulsarspark.cluster.ScriptedCluster
import io.github.pulsarspark.errors.PulsarError

/** Decisions of the micro-batch source, behind Spark's interface and before the connector's real clients. */
abstract class StreamSuite extends UnitSuite with LocalSpark {

  protected val cluster = new ScriptedCluster
  private val ids       = new AtomicLong(100)

  override def beforeAll(): Unit = {
    StreamSuite.Loggers.foreach(Configurator.setLevel(_, Level.OFF))
    super.beforeAll()
  }

  override def afterAll(): Unit =
    try cluster.close()
    finally {
      super.afterAll()
      StreamSuite.Loggers.foreach(Configurator.setLevel(_, Level.INFO))
    }

  /** Gives a topic to a test, and takes it away afterwards. */
  private[stream] def using[A](test: StreamCase => A): A = {
    val topic = new StreamCase(cluster, ids.getAndAdd(100))
    try test(topic)
    finally topic.close()
  }

  protected def adminUrl: (String, String) = "admin.url" -> cluster.adminUrl

  protected val goOn: (String, String) = "failOnDataLoss" -> "false"

  /** The condition that a call fails with. */
  protected def condition(body: => Any): String = intercept[RuntimeException with PulsarError](body).condition
}

private object StreamSuite {

  /** Loggers that would write thousands of lines. */
  val Loggers: Seq[String] = Seq("org.apache.bookkeeper", "org.apache.hadoop", "org.apache.pulsar", "org.apache.spark",
    "io.github.pulsarspark")
}
