package io.github.pulsarspark

import scala.jdk.CollectionConverters._

import io.github.pulsarspark.errors.PulsarError

class TablePropertiesSuite extends UnitSuite {

  /** Properties with which Spark passes a table that was created with OPTIONS and TBLPROPERTIES. */
  private def properties(options: Map[String, String], more: (String, String)*) =
    (options ++ options.map { case (key, value) => s"option.$key" -> value } ++ more).asJava

  test("only names with the prefix are stored options, and only in a table of the catalog") {
    val options = Map("service.url" -> "u", "topic" -> "t")
    val added   =
      Seq("provider" -> "pulsar", "owner" -> "me", "path" -> "/p", "is_managed_location" -> "true", "colour" -> "blue")
    assertEquals(TableProperties.storedOptions(properties(options, added: _*)), Some(options))
    assertEquals(TableProperties.storedOptions(Map("provider" -> "pulsar").asJava), Some(Map.empty[String, String]))
    assertEquals(TableProperties.storedOptions(Map("service.url" -> "u").asJava), None)
  }

  test("options of Spark that would be ignored are refused, unless a table of the catalog has them") {
    Seq("path"      -> "PULSAR_TOPIC_AS_PATH", "Paths" -> "PULSAR_TOPIC_AS_PATH",
      "versionasof" -> "PULSAR_AS_OF_WITHOUT_CATALOG").foreach { case (option, condition) =>
      val error = intercept[RuntimeException with PulsarError](TableProperties.check(Map(option -> "x").asJava))
      assertEquals(error.condition, condition)
      TableProperties.check(Map(option -> "x", "provider" -> "pulsar").asJava)
    }
    TableProperties.check(Map("topic" -> "t").asJava)
  }

  test("known stored options without secrets are shown, properties always") {
    val public  = Map("Topic" -> "t", "readLevel" -> "broker", "path" -> "/p")
    val secrets = Seq("auth.token", "AUTH.TOKEN", "auth.tokn", "pulsar.client.authParams", "pulsar.client.numIoThreads",
      "bookkeeper.x")
    val shown =
      TableProperties.shown(properties(
        public ++ secrets.map(_ -> "hunter2"),
        "provider" -> "pulsar",
        "colour"   -> "blue",
        "paths"    -> ""
      )).asScala
    assertEquals(shown.filterNot(_._2 == "***").toMap,
      properties(public, "provider" -> "pulsar", "colour" -> "blue").asScala.toMap)
    assertEquals(shown.keySet.filter(shown(_) == "***").toSet, secrets.flatMap(s => Seq(s, s"option.$s")).toSet)
    assert(TableProperties.shown(Map("auth.token" -> "hunter2").asJava).isEmpty)
  }
}
