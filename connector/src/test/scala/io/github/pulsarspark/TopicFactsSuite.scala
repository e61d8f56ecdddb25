package io.github.pulsarspark

import scala.jdk.CollectionConverters._

import org.apache.spark.sql.util.CaseInsensitiveStringMap

import io.github.pulsarspark.errors.PulsarError

class TopicFactsSuite extends UnitSuite {

  private def facts(partitions: Int, asOf: Option[String] = None) =
    TopicFacts(partitions, "AVRO", asOf, () => Map("retentionTime" -> "7d"))

  test("properties as CREATE TABLE takes them, without a number of partitions where there are none") {
    val always = Map("provider" -> "pulsar", "schemaType" -> "avro", "retentionTime" -> "7d")
    assertEquals(facts(3).properties.asScala.toMap, always + ("partitions" -> "3"))
    assertEquals(facts(0).properties.asScala.toMap, always)
  }

  private def query(options: (String, String)*) = new CaseInsensitiveStringMap(options.toMap.asJava)

  test("a table as it was has an end, which a query cannot set as well") {
    val past = facts(1, asOf = Some("TIMESTAMP AS OF"))
    Seq("endingOffsets", "ENDINGTIME").foreach { option =>
      val e = intercept[RuntimeException with PulsarError](past.checkEnd("t", query(option -> "x")))
      assertEquals((e.condition, e.parameters("clause")), ("PULSAR_TIME_TRAVEL", "TIMESTAMP AS OF"))
    }
    past.checkEnd("t", query("startingOffsets" -> "earliest"))
    facts(1).checkEnd("t", query("endingOffsets" -> "x"))
  }
}
