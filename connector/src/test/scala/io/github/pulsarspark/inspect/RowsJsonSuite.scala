package io.github.pulsarspark.inspect

import org.apache.spark.sql.catalyst.InternalRow
import org.apache.spark.sql.catalyst.util.GenericArrayData
import org.apache.spark.sql.types._
import org.apache.spark.unsafe.types.UTF8String

import io.github.pulsarspark.UnitSuite

class RowsJsonSuite extends UnitSuite {

  private def text(s: String) = UTF8String.fromString(s)

  private val columns = StructType(Seq(
    StructField("text", StringType),
    StructField("int", IntegerType),
    StructField("long", LongType),
    StructField("double", DoubleType),
    StructField("is", BooleanType),
    StructField("at", TimestampType),
    StructField("list", ArrayType(StringType))
  ))

  private val row = InternalRow(text("a\"b"), 1, Long.MaxValue, 0.5, true, -1L,
    new GenericArrayData(Array[Any](text("x"), null)))

  private def json(names: String*) = RowsJson(columns, names, _ => Iterator(row))

  test("values of every type, times as ISO 8601 in UTC") {
    assertEquals(json(columns.fieldNames.toSeq: _*).path("rows").toString,
      s"""[["a\\"b",1,${Long.MaxValue},0.5,true,"1969-12-31T23:59:59.999999Z",["x",null]]]""")
  }

  test("the chosen columns in their order, which alone are requested, with their types") {
    val result = RowsJson(columns, Seq("long", "text"),
      requested => {
        assertEquals(requested, Seq("long", "text"))
        Iterator(row)
      })
    assertEquals(result.toString,
      """{"columns":[{"name":"long","type":"BIGINT"},{"name":"text","type":"STRING"}],""" +
        s""""rows":[[${Long.MaxValue},"a\\"b"]]}""")
  }

  test("nulls, and tables without rows") {
    val empty = InternalRow.fromSeq(Seq.fill(columns.size)(null))
    assertEquals(RowsJson(columns, columns.fieldNames.toSeq, _ => Iterator(empty)).path("rows").toString,
      Seq.fill(columns.size)("null").mkString("[[", ",", "]]"))
    assertEquals(RowsJson(columns, Seq("int"), _ => Iterator.empty).path("rows").toString, "[]")
  }
}
