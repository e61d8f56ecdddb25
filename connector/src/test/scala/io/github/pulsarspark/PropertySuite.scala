package io.github.pulsarspark

import scala.concurrent.duration._

import munit.ScalaCheckSuite
import org.scalacheck.Test

/** Properties, each of which is tried with so many random samples, and with many times as many by `make test-all`. */
abstract class PropertySuite(samples: Int = 100) extends ScalaCheckSuite {
  import PropertySuite.times

  override def scalaCheckTestParameters: Test.Parameters =
    super.scalaCheckTestParameters.withMinSuccessfulTests(samples * times)

  override def munitTimeout: Duration = UnitSuite.Patience * times.toLong
}

object PropertySuite {
  private val times = sys.env.get("PULSAR_SPARK_TEST_SAMPLES").fold(1)(_.toInt)
}
