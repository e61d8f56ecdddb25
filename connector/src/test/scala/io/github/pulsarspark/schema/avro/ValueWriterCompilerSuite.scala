package io.github.pulsarspark.schema.avro

import org.apache.spark.sql.types.StructType

import io.github.pulsarspark.UnitSuite
import io.github.pulsarspark.errors.PulsarError
import io.github.pulsarspark.schema.convert.ColumnMismatch
import io.github.pulsarspark.schema.{TopicSchema, WritePlan}

/** Columns that fit the fields of an AVRO schema, and those that do not, by [[ValueWriterCompiler]]. */
class ValueWriterCompilerSuite extends UnitSuite {

  /** The column that does not fit, with the reason; None if all fit. */
  private def misfit(fields: Seq[(String, String)], columns: String): Option[(String, String)] = {
    val all        = fields.map { case (name, schema) => s"""{"name":"$name","type":$schema}""" }
    val definition = all.mkString("""{"type":"record","name":"R","fields":[""", ",", "]}")
    val struct     = StructType.fromDDL(columns)
    val plan       =
      WritePlan(TopicSchema("AVRO", definition), struct, Some("t"), Map.empty, struct.indices, cutsTimes = false)
    try {
      new ValueWriterCompiler(plan).record(AvroSchemas.parse(definition), struct, struct.indices.toArray)
      None
    } catch { case e: ColumnMismatch => Some(e.column -> e.reason) }
  }

  private val record  = """{"type":"record","name":"Inner","fields":[{"name":"a","type":"int"}]}"""
  private val decimal = """{"type":"bytes","logicalType":"decimal","precision":5,"scale":2}"""

  private val fitting = Seq(
    """"int""""                                            -> "TINYINT",
    """"int""""                                            -> "SMALLINT",
    """"long""""                                           -> "INT",
    """"double""""                                         -> "FLOAT",
    """["null","int"]"""                                   -> "INT",
    """["string","long","int"]"""                          -> "INT",
    """{"type":"int","logicalType":"date"}"""              -> "DATE",
    """{"type":"long","logicalType":"timestamp-millis"}""" -> "TIMESTAMP",
    """{"type":"enum","name":"E","symbols":["A"]}"""       -> "STRING",
    """{"type":"array","items":["null","string"]}"""       -> "ARRAY<STRING>",
    """{"type":"map","values":"long"}"""                   -> "MAP<STRING, INT>",
    record                                                 -> "STRUCT<a: INT>",
    decimal                                                -> "DECIMAL(5, 2)",
    """["int","string"]"""                                 -> "STRUCT<member0: INT, member1: STRING>"
  )

  for ((schema, column) <- fitting) test(s"$column fits $schema") {
    assertEquals(misfit(Seq("f" -> schema), s"f $column"), None)
  }

  private val misfits = Seq(
    (""""int"""", "STRING", "f", "the field is int, the column is STRING"),
    (""""string"""", "INT", "f", "the field is string, the column is INT"),
    ("""{"type":"int","logicalType":"date"}""", "INT", "f", "the field is int (date), the column is INT"),
    (decimal, "STRING", "f",
      "the field is bytes (decimal of 5 digits, 2 after the point), the column is STRING"),
    ("""["null","int","string"]""", "BOOLEAN", "f",
      "the field is a union of null, int, string, the column is BOOLEAN"),
    ("""["null","int"]""", "BOOLEAN", "f", "the field is int, the column is BOOLEAN"),
    ("""{"type":"array","items":"int"}""", "ARRAY<STRING>", "f[]", "the field is int, the column is STRING"),
    ("""{"type":"map","values":"int"}""", "MAP<STRING, STRING>", "f{}", "the field is int, the column is STRING"),
    ("""{"type":"map","values":"int"}""", "MAP<INT, INT>", "f", "the field is map, the column is MAP<INT, INT>"),
    (record, "STRUCT<a: STRING>", "f.a", "the field is int, the column is STRING"),
    (record, "STRUCT<a: INT, b: INT>", "f.b", "the schema has no such field; it has a")
  )

  for ((schema, column, path, reason) <- misfits) test(s"$column does not fit $schema: $path") {
    assertEquals(misfit(Seq("f" -> schema), s"f $column"), Some(path -> reason))
  }

  test("a field without a column needs a default, or may be null") {
    val f = "f" -> """"int""""
    assertEquals(misfit(Seq(f, "g" -> """["null","int"]"""), "f INT"), None)
    assertEquals(misfit(Seq(f, "g" -> """"int","default":7"""), "f INT"), None)
    assertEquals(misfit(Seq(f, "g" -> """"int""""), "f INT"),
      Some("g" -> "there is no such column, and the field has no default and cannot be null"))
  }

  test("a column of nulls is for a field that may be null") {
    assertEquals(misfit(Seq("f" -> """["null","int"]"""), "f VOID"), None)
    val e = intercept[RuntimeException with PulsarError](misfit(Seq("f" -> """"int""""), "f VOID"))
    assertEquals((e.condition, e.parameters("field")), ("PULSAR_WRITE_NULL_VALUE", "f"))
  }
}
