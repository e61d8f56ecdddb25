package io.github.pulsarspark.functions

import scala.util.Using

import org.apache.spark.sql.SparkSession

import io.github.pulsarspark.cluster.{ScriptedCluster, StoredTopic, TopicLedger}
import io.github.pulsarspark.errors.PulsarError
import io.github.pulsarspark.{LocalSpark, UnitSuite}

/** Options and topics of which [[PulsarFunctions]] makes functions, and those of which none can be made. */
class PulsarFunctionsSuite extends UnitSuite with LocalSpark {

  private val nobody = "service.url" -> "pulsar://localhost:1"

  private def option(body: => Any): (String, String) = {
    val e = intercept[RuntimeException with PulsarError](body)
    (e.condition, e.parameters("option"))
  }

  private val refused = Seq(
    Seq("topics" -> "a,b")                                                 -> "topics",
    Seq("topicsPattern" -> "public/default/a.*")                           -> "topicsPattern",
    Seq("topic" -> "a", "schemaMode" -> "raw")                             -> "schemaMode",
    Seq("topic" -> "a", "onDecodeError" -> "drop")                         -> "onDecodeError",
    Seq("topic" -> "a", "onDecodeError" -> "dlq", "dlqTopic" -> "letters") -> "onDecodeError"
  )

  for ((options, name) <- refused) test(s"from_pulsar with ${options.mkString(", ")} is refused before any request") {
    assertEquals(option(PulsarFunctions.fromPulsar(SparkSession.active, (nobody +: options).toMap)),
      ("PULSAR_OPTION_INVALID", name))
  }

  test("to_pulsar takes the schema of the topic alone") {
    assertEquals(
      option(PulsarFunctions.toPulsar(SparkSession.active, Map(nobody, "topic" -> "a", "schemaType" -> "json"))),
      ("PULSAR_OPTION_INVALID", "schemaType")
    )
  }

  test("a topic without a schema has bytes, one that does not exist has no function") {
    Using.resource(new ScriptedCluster) { cluster =>
      cluster.add(StoredTopic("persistent://public/default/there", Vector(TopicLedger(1, Vector.empty))))
      def options(topic: String) = Map("service.url" -> cluster.serviceUrl, "topic" -> topic)
      val spark                  = SparkSession.active
      PulsarFunctions.fromPulsar(spark, options("there"))
      PulsarFunctions.toPulsar(spark, options("there"))
      for (
        function <- Seq[() => Any](
          () => PulsarFunctions.fromPulsar(spark, options("missing")),
          () => PulsarFunctions.toPulsar(spark, options("missing"))
        )
      )
        assertEquals(intercept[RuntimeException with PulsarError](function()).condition, "PULSAR_TOPIC_NOT_FOUND")
    }
  }
}
