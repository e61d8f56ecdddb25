package io.github.pulsarspark.catalog

import org.apache.spark.sql.types._

import io.github.pulsarspark.UnitSuite
import io.github.pulsarspark.errors.{PulsarError, PulsarInputException}

class TopicDefinitionSuite extends UnitSuite {

  private val columns = new StructType().add("city", StringType)

  private def definition(
      properties: Map[String, String],
      columns: StructType = columns,
      partitioning: Seq[String] = Nil,
      isFromRows: Boolean = false
  ) = TopicDefinition("t", columns, partitioning, properties, "parquet", isFromRows)

  private def refusal(body: => Any): (String, String) = {
    val error = intercept[PulsarInputException with PulsarError](body)
    (error.condition, error.getMessage)
  }

  test("properties in any case, once as options and once more with a prefix") {
    val found = definition(Map("owner" -> "me", "comment" -> "c", "Partitions" -> " 4", "SCHEMATYPE" -> "json",
      "option.schemaType" -> "json"))
    assertEquals(found, TopicDefinition(columns, 4, Map("schemaType" -> "json")))
    assertEquals(definition(Map.empty), TopicDefinition(columns, 0, Map.empty))
  }

  test("policies in any case") {
    val found = definition(Map("RETENTION.time" -> " 7d ", "deduplicationEnabled" -> "true")).policies
    assertEquals(found.values.map { case (p, v) => p.name -> v },
      Map[String, Option[Long]]("retention.time" -> Some(10080L), "deduplicationEnabled" -> Some(1L)))
    val (condition, text) = refusal(definition(Map("retention.time" -> "30s")))
    assertEquals(condition, "PULSAR_TABLE_PROPERTY")
    assert(text.contains("its value is `30s`") && text.contains("Use whole minutes"), text)
  }

  test("USING of this source, or the default one, which Spark names by itself") {
    Seq("pulsar", "Pulsar", "pulsar-spark", "parquet").foreach(p => definition(Map("provider" -> p)))
    val (condition, text) = refusal(definition(Map("provider" -> "csv")))
    assertEquals(condition, "PULSAR_TABLE_PROPERTY")
    assert(text.contains("USING csv"), text)
  }

  test("properties that are refused, each in its own words, without a value") {
    Seq(
      "location"                 -> "LOCATION",
      "external"                 -> "EXTERNAL",
      "collation"                -> "COLLATION",
      "partition"                -> "nearest name is `partitions`",
      "compactionTreshold"       -> "nearest name is `compactionThreshold`",
      "colour"                   -> "no such property",
      "service.url"              -> "option of queries",
      "auth.token"               -> "option of queries",
      "pulsar.client.authParams" -> "option of queries"
    ).foreach { case (property, words) =>
      val (condition, text) = refusal(definition(Map(property -> "hunter2")))
      assertEquals(condition, "PULSAR_TABLE_PROPERTY", property)
      assert(text.contains(words) && text.contains(property) && !text.contains("hunter2"), text)
    }
    Seq("-1", "four", "1.5", "", "1000000").foreach(n =>
      assertEquals(refusal(definition(Map("partitions" -> n)))._1, "PULSAR_TABLE_PROPERTY", n)
    )
  }

  test("partitions are no columns") {
    val (condition, text) = refusal(definition(Map.empty, partitioning = Seq("identity(city)")))
    assertEquals(condition, "PULSAR_CATALOG_STATEMENT")
    assert(text.contains("identity(city)") && text.contains("TBLPROPERTIES (partitions = n)"), text)
  }

  test("metadata columns come with rows, and with a provider that only Spark names") {
    val keyed = columns.add("__key", StringType)
    assertEquals(refusal(definition(Map.empty, keyed))._1, "PULSAR_CATALOG_STATEMENT")
    assertEquals(refusal(definition(Map("provider" -> "pulsar"), keyed))._1, "PULSAR_CATALOG_STATEMENT")
    assertEquals(definition(Map("provider" -> "parquet"), keyed).columns, keyed)
    assertEquals(definition(Map.empty, keyed, isFromRows = true).columns, keyed)
    assertEquals(refusal(definition(Map.empty, columns.add("__KEY", StringType)))._1, "PULSAR_CATALOG_STATEMENT")
  }

  private val collated = StringType("UTF8_LCASE")

  Seq[(DataType, String)](
    VarcharType(3)                      -> "VARCHAR(3)",
    CharType(4)                         -> "CHAR(4)",
    collated                            -> "STRING COLLATE UTF8_LCASE",
    ArrayType(VarcharType(3))           -> "VARCHAR(3)",
    MapType(StringType, collated)       -> "STRING COLLATE UTF8_LCASE",
    MapType(CharType(4), StringType)    -> "CHAR(4)",
    new StructType().add("x", collated) -> "STRING COLLATE UTF8_LCASE"
  ).foreach { case (dataType, words) =>
    test(s"texts have no length and no collation: ${dataType.sql}") {
      val declared          = columns.add("c", dataType)
      val (condition, text) = refusal(definition(Map.empty, declared))
      assertEquals(condition, "PULSAR_CATALOG_STATEMENT")
      assert(text.contains(s"the column `c` as $words is refused") && text.contains("Use STRING"), text)
      assertEquals(definition(Map.empty, declared, isFromRows = true).columns, declared)
    }
  }
}
