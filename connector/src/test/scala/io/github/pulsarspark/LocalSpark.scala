package io.github.pulsarspark

import munit.Suite
import org.apache.spark.sql.SparkSession

/** A suite with a session of Spark in this JVM, which ends after what the suite itself has opened. */
trait LocalSpark extends Suite {

  private lazy val spark: SparkSession = SparkSession.builder()
    .master("local[2]")
    .config("spark.ui.enabled", "false")
    .config("spark.driver.bindAddress", "127.0.0.1")
    .config("spark.driver.host", "127.0.0.1")
    .getOrCreate()

  override def beforeAll(): Unit = {
    super.beforeAll()
    SparkSession.setDefaultSession(spark)
  }

  override def afterAll(): Unit =
    try super.afterAll()
    finally {
      spark.stop()
      SparkSession.clearDefaultSession()
      SparkSession.clearActiveSession()
    }
}
