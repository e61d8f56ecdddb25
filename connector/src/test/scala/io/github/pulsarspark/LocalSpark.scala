package io.github.pulsarspark

import munit.Suite
import org.apache.spark.sql.SparkSession

/** A suite with a session of Spark in this JVM. */
trait LocalSpark extends Suite {

  private lazy val spark: SparkSession = SparkSession.builder()
    .master("local[2]")
    .config("spark.ui.enabled", "false")
    .config("spark.driver.bindAddress", "127.0.0.1")
    .config("spark.driver.host", "127.0.0.1")
    .getOrCreate()

  override def beforeAll(): Unit = SparkSession.setDefaultSession(spark)

  override def afterAll(): Unit = {
    spark.stop()
    SparkSession.clearDefaultSession()
    SparkSession.clearActiveSession()
  }
}
