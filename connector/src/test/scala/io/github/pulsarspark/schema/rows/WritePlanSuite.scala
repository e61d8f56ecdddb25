package io.github.pulsarspark.schema.rows

import java.io.{ByteArrayInputStream, ByteArrayOutputStream, ObjectInputStream, ObjectOutputStream}

import org.apache.avro.Schema
import org.apache.spark.sql.types._

import io.github.pulsarspark.UnitSuite
import io.github.pulsarspark.schema.TopicSchema

class WritePlanSuite extends UnitSuite {
  private val topic = "persistent://a/b/t"

  private def columns(fields: (String, DataType)*) = StructType(fields.map { case (n, t) => StructField(n, t) })

  private def plan(input: StructType, own: Option[TopicSchema] = None, schemaType: String = "auto") =
    WritePlanner(input, Some(topic), own, schemaType)

  private def record(fields: String, schemaType: String = "AVRO") =
    TopicSchema(schemaType, s"""{"type":"record","name":"R","fields":[$fields]}""")

  test("a single column value is a primitive, all else a record") {
    val types = Seq(
      "BYTES"           -> BinaryType,
      "STRING"          -> StringType,
      "BOOLEAN"         -> BooleanType,
      "INT8"            -> ByteType,
      "INT16"           -> ShortType,
      "INT32"           -> IntegerType,
      "INT64"           -> LongType,
      "FLOAT"           -> FloatType,
      "DOUBLE"          -> DoubleType,
      "LOCAL_DATE"      -> DateType,
      "INSTANT"         -> TimestampType,
      "LOCAL_DATE_TIME" -> TimestampNTZType
    )
    types.foreach { case (name, dataType) =>
      assertEquals(plan(columns("__key" -> StringType, "value" -> dataType)).schema, TopicSchema(name))
    }
    assertEquals(plan(columns("v" -> LongType)).schema.schemaType, "AVRO")
    assertEquals(plan(columns("value" -> columns("a" -> LongType))).schema.schemaType, "AVRO")
    assertEquals(plan(columns("value" -> ArrayType(LongType))).schema.schemaType, "AVRO")
    assertEquals(plan(columns("a" -> LongType), schemaType = "JSON").schema.schemaType, "JSON")
  }

  test(
    "a schema made from columns: nullable ones have the default null, times are microseconds, nested records are named by path"
  ) {
    val input = new StructType()
      .add("id", LongType, nullable = false)
      .add(StructField("at", TimestampType).withComment("when"))
      .add("local", TimestampNTZType)
      .add("day", DateType)
      .add("price", DecimalType(10, 2))
      .add("r", ArrayType(new StructType().add("r", new StructType().add("x", ByteType)), containsNull = false))
      .add("r2", MapType(StringType, BinaryType))
    val schema = new Schema.Parser().parse(plan(input).schema.definition)
    assertEquals(
      schema,
      new Schema.Parser().parse(
        """{"type":"record","name":"Row","fields":[
          |{"name":"id","type":"long"},
          |{"name":"at","type":["null",{"type":"long","logicalType":"timestamp-micros"}],"doc":"when","default":null},
          |{"name":"local","type":["null",{"type":"long","logicalType":"local-timestamp-micros"}],"default":null},
          |{"name":"day","type":["null",{"type":"int","logicalType":"date"}],"default":null},
          |{"name":"price","type":["null",{"type":"bytes","logicalType":"decimal","precision":10,"scale":2}],"default":null},
          |{"name":"r","type":["null",{"type":"array","items":{"type":"record","name":"r","namespace":"Row","fields":[
          |  {"name":"r","type":["null",{"type":"record","name":"r","namespace":"Row.r","fields":[{"name":"x","type":["null","int"],"default":null}]}],"default":null}]}}],
          |  "default":null},
          |{"name":"r2","type":["null",{"type":"map","values":["null","bytes"]}],"default":null}]}""".stripMargin
      )
    )
    assertEquals(SchemaTranslation.toStruct(topic, plan(input).schema).fieldNames.toSeq, input.fieldNames.toSeq)
  }

  test("the topic's schema is used as it is, and bytes go anywhere") {
    val own = record("""{"name":"a","type":"long"}""")
    assertEquals(plan(columns("a" -> LongType), Some(own)).schema, own)
    assertEquals(plan(columns("a" -> LongType), Some(own), "avro").schema, own)
    assertEquals(plan(columns("value" -> BinaryType), Some(own), "bytes").schema, TopicSchema.Bytes)
    assertEquals(plan(columns("value" -> IntegerType), Some(TopicSchema("INT64"))).schema, TopicSchema("INT64"))
    assertEquals(plan(columns("value" -> StringType), Some(TopicSchema("NONE"))).schema, TopicSchema("STRING"))
  }

  test("a plan sent to a task, equal to the one of the driver") {
    val sent = plan(columns("a" -> LongType, "__key" -> BinaryType))
    val out  = new ByteArrayOutputStream
    new ObjectOutputStream(out).writeObject(sent)
    assertEquals(new ObjectInputStream(new ByteArrayInputStream(out.toByteArray)).readObject(), sent: AnyRef)
  }

  private def refused(text: String)(body: => Any)(implicit loc: munit.Location): Unit =
    assertEquals(intercept[IllegalArgumentException] { body; () }.getMessage, text)

  private def misfit(column: String, schemaType: String, reason: String) =
    s"[PULSAR_WRITE_COLUMN_MISMATCH] Column `$column` does not match the $schemaType schema for topic $topic: $reason. What to do: Select, rename or cast columns " +
      "to match the schema."

  test("rows of metadata columns alone, refused with their names") {
    refused(
      s"[PULSAR_WRITE_NO_VALUE_COLUMN] No value column to write to topic $topic: all columns (__key, __topic) are metadata columns. What to do: Add the " +
        "columns of the value."
    )(plan(columns("__key" -> StringType, "__topic" -> StringType)))
  }

  test("metadata columns of a wrong type, and those that cannot be set") {
    val hint = "What to do: Cast the column, or rename it: its name belongs to a metadata column."
    refused(s"[PULSAR_WRITE_COLUMN_TYPE] Column `__key` is INT, but must be STRING or BINARY. $hint")(plan(columns(
      "value" -> StringType,
      "__key" -> IntegerType
    )))
    refused(s"[PULSAR_WRITE_COLUMN_TYPE] Column `__eventTime` is STRING, but must be TIMESTAMP or BIGINT. $hint")(
      plan(columns(
        "value"       -> StringType,
        "__eventTime" -> StringType
      ))
    )
    refused(s"[PULSAR_WRITE_COLUMN_TYPE] Column `__topic` is BINARY, but must be STRING. $hint")(plan(columns(
      "value"   -> StringType,
      "__topic" -> BinaryType
    )))
    refused(
      s"[PULSAR_WRITE_COLUMN_TYPE] Column `__messageProperties` is MAP<STRING, INT>, but must be MAP<STRING, STRING>. $hint"
    )(
      plan(columns("value" -> StringType, "__messageProperties" -> MapType(StringType, IntegerType)))
    )
    val others = Seq(
      "__orderingKey"         -> "STRING or BINARY",
      "__deliverAt"           -> "TIMESTAMP",
      "__deliverAfter"        -> "INTERVAL DAY TO SECOND",
      "__sequenceId"          -> "BIGINT",
      "__partition"           -> "INT",
      "__replicationClusters" -> "ARRAY<STRING>"
    )
    for ((name, types) <- others)
      refused(s"[PULSAR_WRITE_COLUMN_TYPE] Column `$name` is DATE, but must be $types. $hint")(
        plan(columns("value" -> StringType, name -> DateType))
      )
  }

  test("other names that begin with __ are values") {
    assertEquals(
      new Schema.Parser().parse(plan(columns("__mine" -> LongType)).schema.definition).getField("__mine").pos,
      0
    )
  }

  test("columns that do not fit the topic's schema are named with their path") {
    val own = record(
      """{"name":"a","type":"int"},{"name":"s","type":["null",{"type":"record","name":"S","fields":[{"name":"x","type":"string"}]}]}"""
    )
    refused(misfit("a", "AVRO", "the field is int, the column is DATE"))(plan(columns("a" -> DateType), Some(own)))
    refused(misfit("b", "AVRO", "the schema has no such field; it has a, s"))(
      plan(columns("a" -> IntegerType, "b" -> LongType), Some(own))
    )
    refused(misfit("a", "AVRO", "there is no such column, and the field has no default and cannot be null"))(plan(
      columns("s" -> columns("x" -> StringType)),
      Some(own)
    ))
    refused(misfit("s.x", "AVRO", "the field is string, the column is BINARY"))(plan(
      columns("a" -> IntegerType, "s" -> columns("x" -> BinaryType)),
      Some(own)
    ))
    refused(misfit("a", "JSON", "the field is int, the column is STRING"))(plan(
      columns("a" -> StringType),
      Some(own.copy(schemaType = "JSON"))
    ))
    val decimal = record("""{"name":"d","type":{"type":"bytes","logicalType":"decimal","precision":10,"scale":2}}""")
    refused(
      misfit("d", "AVRO", "the field is bytes (decimal of 10 digits, 2 after the point), the column is STRING")
    )(plan(
      columns("d" -> StringType),
      Some(decimal)
    ))
    val union = record("""{"name":"u","type":["null","int","string"]}""")
    refused(misfit("u", "AVRO", "the field is a union of null, int, string, the column is BINARY"))(plan(
      columns("u" -> BinaryType),
      Some(union)
    ))
    val time = record("""{"name":"t","type":{"type":"long","logicalType":"timestamp-millis"}}""")
    refused(misfit("t", "AVRO", "the field is long (timestamp-millis), the column is BIGINT"))(
      plan(columns("t" -> LongType), Some(time))
    )
  }

  test("a primitive topic takes one column value of its type") {
    refused(misfit("value", "INT32", "values of type INT32 cannot be made of BOOLEAN"))(plan(
      columns("value" -> BooleanType),
      Some(TopicSchema("INT32"))
    ))
    refused(misfit("v", "STRING", "values are not records, so that there must be one value column, called value"))(plan(
      columns("v" -> StringType),
      Some(TopicSchema("STRING"))
    ))
    refused(misfit("b", "STRING", "values are not records, so that there must be one value column, called value"))(
      plan(columns("value" -> StringType, "b" -> StringType), Some(TopicSchema("STRING")))
    )
  }

  test("a topic without a schema gets that of the table's columns, and keeps its own") {
    val rows  = columns("price" -> DecimalType(2, 1), "__key" -> StringType)
    val table = columns("city" -> StringType, "price" -> DoubleType)
    def schema(own: Option[TopicSchema], schemaType: String) =
      WritePlanner(rows, Some(topic), own, schemaType, declared = Some(table)).schema
    for (schemaType <- Seq("avro", "json"))
      assertEquals(SchemaTranslation.toStruct(topic, schema(None, schemaType)), table)
    val own = record("""{"name":"price","type":"float"}""")
    assertEquals(schema(Some(own), "auto"), own)
  }

  test("a column without any value is null where the schema has a null, a tombstone, or refused before a task") {
    val own = record("""{"name":"a","type":"int"},{"name":"b","type":["null","int"]}""")
    assertEquals(plan(columns("a" -> IntegerType, "b" -> NullType, "__key" -> NullType), Some(own)).metadata,
      Map.empty[String, Int])
    assertEquals(plan(columns("value" -> NullType)).schema, TopicSchema.Bytes)
    assertEquals(plan(columns("value" -> NullType), Some(TopicSchema("INT32"))).schema, TopicSchema("INT32"))
    val error = intercept[RuntimeException](plan(columns("a" -> NullType), Some(own)))
    assert(error.getMessage.startsWith("[PULSAR_WRITE_NULL_VALUE] Field `a` is null"), error.getMessage)
  }

  test("columns without a counterpart in the schema, refused with the reason") {
    refused(misfit(
      "a-b",
      "AVRO",
      "names of Avro fields are made of the letters A to Z, digits and _, and do not begin with a digit"
    ))(plan(columns("a-b" -> LongType)))
    refused(misfit("a.m", "AVRO", "Avro has no counterpart of MAP<INT, INT>"))(plan(columns("a" ->
      columns("m" -> MapType(IntegerType, IntegerType)))))
    refused(misfit("value", "TIMESTAMP", "values of type TIMESTAMP cannot be made of DATE"))(
      plan(columns("value" -> DateType), None, "timestamp")
    )
  }

  test("a schema type that the topic does not have, or that is not written") {
    val hint = "What to do: Set the option schemaType to auto, or to a type that fits."
    refused(
      s"[PULSAR_WRITE_SCHEMA_TYPE] Values cannot be written as JSON to topic $topic: the schema of the topic is of type AVRO. $hint"
    )(
      plan(columns("a" -> LongType), Some(record("""{"name":"a","type":"long"}""")), "json")
    )
    refused(
      s"[PULSAR_WRITE_SCHEMA_TYPE] Values cannot be written as PROTOBUF_NATIVE to topic $topic: such a schema is made from a message and " +
        s"not from columns, and the topic does not have one yet. $hint"
    )(
      plan(columns("a" -> LongType), None, "protobuf_native")
    )
    refused(
      s"[PULSAR_SCHEMA_TYPE_NOT_SUPPORTED] Topic $topic has a schema of type EXTERNAL, which is not supported. What to do: " +
        "Set schemaMode=raw to read the bytes of the values."
    )(plan(columns("a" -> LongType), Some(TopicSchema("EXTERNAL"))))
  }

  test("rows that name their topic are spoken of as such") {
    refused(
      "[PULSAR_WRITE_NO_VALUE_COLUMN] No value column to write to the topics of the rows: all columns (__topic) are metadata columns. What to do: Add " +
        "the columns of the value."
    )(WritePlanner(columns("__topic" -> StringType), None, None, "auto"))
  }
}
