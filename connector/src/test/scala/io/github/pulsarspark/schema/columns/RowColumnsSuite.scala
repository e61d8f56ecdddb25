package io.github.pulsarspark.schema.columns

import org.apache.spark.sql.types._

import io.github.pulsarspark.UnitSuite
import io.github.pulsarspark.errors.{PulsarError, PulsarInputException}

class RowColumnsSuite extends UnitSuite {

  private def rows(names: String*) = StructType(names.map(StructField(_, StringType)))

  private def named(names: String*)(isCaseSensitive: Boolean): Seq[String] =
    RowColumns(rows(names: _*), isCaseSensitive).fieldNames.toSeq

  private def refusal(body: => Any): (String, Map[String, String]) = {
    val error = intercept[PulsarInputException with PulsarError] { body; () }
    (error.condition, error.parameters)
  }

  private def twice(one: String, other: String) = ("PULSAR_WRITE_COLUMN_TWICE", Map("one" -> one, "other" -> other))

  test("a metadata column in another case is one, for each of them, unless case counts") {
    MetadataColumns.inWrites.map(_.name).foreach { name =>
      assertEquals(named(name.toUpperCase, "KM")(isCaseSensitive = false), Seq(name, "KM"))
      assertEquals(named(name.toUpperCase, "KM")(isCaseSensitive = true), Seq(name.toUpperCase, "KM"))
    }
  }

  test("a field of a topic that is named like a metadata column stays what it is, in any case") {
    Seq("__key", "__KEY").foreach { name =>
      val field = FieldNames.marked(StructField(name, LongType))
      assertEquals(RowColumns(StructType(Seq(field)), isCaseSensitive = false), StructType(Seq(field)))
      val both = StructType(Seq(field, StructField("__Key", StringType)))
      assertEquals(RowColumns(both, isCaseSensitive = false).fieldNames.toSeq, Seq(name, "__key"))
      RowColumns.checkNew(StructType(Seq(field)), "topic t")
    }
  }

  test("two columns of one name are refused, of values, metadata and fields of structs") {
    assertEquals(refusal(named("a", "b", "a")(isCaseSensitive = true)), twice("a", "a"))
    assertEquals(refusal(named("a", "b", "A")(isCaseSensitive = false)), twice("a", "A"))
    assertEquals(refusal(named("a", "__key", "__KEY")(isCaseSensitive = false)), twice("__key", "__KEY"))
    val nested = new StructType().add("s", ArrayType(rows("x", "X")))
    assertEquals(refusal(RowColumns(nested, isCaseSensitive = false)), twice("s.x", "s.X"))
    assertEquals(named("a", "A")(isCaseSensitive = true), Seq("a", "A"))
    assertEquals(RowColumns(nested, isCaseSensitive = true), nested)
  }

  Seq(
    "__keys"         -> "__key",
    "__kye"          -> "__key",
    "__KEY"          -> "__key",
    "__evenTime"     -> "__eventTime",
    "__event_time"   -> "__eventTime",
    "__evnetTime"    -> "__eventTime",
    "__ordering_key" -> "__orderingKey",
    "__topics"       -> "__topic",
    "__partitions"   -> "__partition"
  ).foreach { case (name, nearest) =>
    test(s"a new field $name is refused, because $nearest is near") {
      assertEquals(
        refusal(RowColumns.checkNew(rows("city", name), "topic t")),
        ("PULSAR_METADATA_COLUMN_NEAR", Map("column" -> name, "nearest" -> nearest, "target" -> "topic t"))
      )
    }
  }

  test("names that are like no metadata column are fields: those of change data capture, and without underscores") {
    val names =
      Seq("__op", "__deleted", "__table", "__lsn", "__ts_ms", "__source_ts_ms", "__eventType", "__id", "__v", "__",
        "key", "_key", "keys", "eventtime", "topic", "value")
    RowColumns.checkNew(rows(names ++ MetadataColumns.inWrites.map(_.name): _*), "topic t")
  }
}
