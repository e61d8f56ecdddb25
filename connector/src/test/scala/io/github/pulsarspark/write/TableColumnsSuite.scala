package io.github.pulsarspark.write

import org.apache.spark.sql.types._

import io.github.pulsarspark.UnitSuite
import io.github.pulsarspark.errors.PulsarError
import io.github.pulsarspark.schema.columns.{FieldNames, MetadataColumns}

class TableColumnsSuite extends UnitSuite {

  private def columns(fields: (String, DataType)*) = StructType(fields.map { case (n, t) => StructField(n, t) })

  private val trips =
    columns("city" -> StringType, "km" -> DoubleType, "__key" -> BinaryType, "__publishTime" -> TimestampType)

  private def table(own: StructType = trips, isCaseSensitive: Boolean = false) = new TableColumns(own, isCaseSensitive)

  private def rows(names: String*) = columns(names.map(_ -> StringType): _*)

  private def batch(names: String*): Seq[String]  = table().ofBatch(rows(names: _*)).fieldNames.toSeq
  private def stream(names: String*): Seq[String] = table().ofStream(rows(names: _*)).fieldNames.toSeq

  private def refused(text: String)(body: => Any)(implicit loc: munit.Location): Unit = {
    val error = intercept[IllegalArgumentException with PulsarError] { body; () }
    assertEquals(error.condition, "PULSAR_TABLE_COLUMN_UNKNOWN")
    assertEquals(error.parameters.get("reason"), Some(text))
  }

  test("names that the table has go before places, in any order, and may be fewer") {
    assertEquals(batch("km", "city"), Seq("km", "city"))
    assertEquals(batch("__deliverAfter", "km", "__key"), Seq("__deliverAfter", "km", "__key"))
    assertEquals(batch("city"), Seq("city"))
    assertEquals(batch("__key"), Seq("__key"))
    assertEquals(stream("km", "city"), Seq("km", "city"))
  }

  test("else each column of the table has one in its place, whatever the name, beside metadata columns") {
    assertEquals(batch("col1", "col2"), Seq("city", "km"))
    assertEquals(batch("upper(city)", "km"), Seq("city", "km"))
    assertEquals(batch("1", "1"), Seq("city", "km"))
    assertEquals(batch("__key", "upper(city)", "km", "__eventTime"), Seq("__key", "city", "km", "__eventTime"))
    val types = table().ofBatch(columns("col1" -> StringType, "col2" -> DecimalType(2, 1)))
    assertEquals(types, columns("city" -> StringType, "km" -> DecimalType(2, 1)))
  }

  test("what is neither is refused with the reason") {
    refused("`cty` is not one of them; they are taken by their places, and there are 1")(batch("cty"))
    refused("`col1` is not one of them; they are taken by their places, and there are 3")(batch("col1", "col2", "col3"))
    refused("`town` is not one of them; they are taken by their places, and `city` is at place 2 instead of 1")(
      batch("town", "city")
    )
    refused("`town` is not one of them; they are taken by their places, and `km` is at place 1 instead of 2")(
      batch("km", "town")
    )
    refused("`city` is there twice")(batch("city", "city"))
    refused("`__key` is there twice")(batch("__key", "city", "__KEY"))
    refused("`upper(city)` is not one of them; a stream is written by name")(stream("upper(city)", "km"))
    refused("`col1` is not one of them; a stream is written by name")(stream("col1", "col2"))
  }

  test("a column that is almost a metadata column is not taken by its place") {
    Seq("__keys", "__evenTime").foreach { name =>
      val error = intercept[IllegalArgumentException with PulsarError](batch(name, "km"))
      assertEquals(error.condition, "PULSAR_METADATA_COLUMN_NEAR")
    }
    assertEquals(batch("__op", "km"), Seq("city", "km"))
    assertEquals(table(rows("__keys")).ofBatch(rows("__keys")).fieldNames.toSeq, Seq("__keys"))
  }

  test("columns that do not fit, both lists are in the error") {
    val error = intercept[IllegalArgumentException](batch("town", "city"))
    assert(error.getMessage.contains("The rows have the columns town, city, and the table has city, km: "),
      error.getMessage)
  }

  test("names that Spark gives to values are places, also where the table has such columns") {
    def own(table: String*)(row: String*) = this.table(rows(table: _*)).ofBatch(rows(row: _*)).fieldNames.toSeq
    assertEquals(own("col1", "x")("col1", "col2"), Seq("col1", "x"))
    assertEquals(own("col1", "col2")("col1", "col2"), Seq("col1", "col2"))
    assertEquals(own("col2", "col1")("col2"), Seq("col2"))
    assertEquals(own("x", "col1")("col1", "x"), Seq("col1", "x"))
    refused("they are taken by their places, and `col1` is at place 1 instead of 2")(
      own("col2", "col1")("col1", "col2")
    )
    refused("they are taken by their places, and there are 1")(own("x", "col1")("col1"))
    assertEquals(table(rows("x", "col1")).ofStream(rows("col1")).fieldNames.toSeq, Seq("col1"))
  }

  test("the case of a name counts where Spark says so, or where it distinguishes columns") {
    assertEquals(batch("KM", "City", "__KEY"), Seq("km", "city", "__key"))
    refused("`KM` is not one of them; they are taken by their places, and there are 1")(
      table(isCaseSensitive = true).ofBatch(rows("KM"))
    )
    val both = table(rows("a", "A"))
    assertEquals(both.ofBatch(rows("A", "a")).fieldNames.toSeq, Seq("A", "a"))
    assertEquals(table(rows("a", "A", "b")).ofBatch(rows("B")).fieldNames.toSeq, Seq("b"))
  }

  test("a field that is named like a metadata column is one") {
    val own    = StructType(Seq(FieldNames.marked(StructField("__key", LongType)), StructField("x", StringType)))
    val mapped = table(own).ofBatch(rows("__key", "__eventTime"))
    assertEquals(mapped.fields.map(MetadataColumns.written(_).map(_.name)).toSeq, Seq(None, Some("__eventTime")))
    assertEquals(table(own).ofBatch(rows("col1", "col2")).fieldNames.toSeq, Seq("__key", "x"))
    val copied = StructType(Seq(FieldNames.marked(StructField("__key", StringType)), StructField("km", DoubleType)))
    assertEquals(table().ofBatch(copied).fieldNames.toSeq, Seq("city", "km"))
  }

  test("a topic without a schema gets the table's columns, unless they are bytes") {
    assertEquals(table().declared, Some(columns("city" -> StringType, "km" -> DoubleType)))
    assertEquals(table(columns("value" -> BinaryType, "__key" -> BinaryType)).declared, None)
    assertEquals(table(columns("__key" -> BinaryType)).declared, None)
  }
}
