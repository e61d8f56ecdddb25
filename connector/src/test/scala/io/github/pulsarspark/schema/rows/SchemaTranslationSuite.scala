package io.github.pulsarspark.schema.rows

import org.apache.spark.sql.types._

import io.github.pulsarspark.UnitSuite
import io.github.pulsarspark.schema.TopicSchema
import io.github.pulsarspark.schema.avro.AvroFormat
import io.github.pulsarspark.schema.columns.UserColumns

class SchemaTranslationSuite extends UnitSuite {

  private def avro(fields: String, schemaType: String = "AVRO") =
    SchemaTranslation.toStruct("t", TopicSchema(schemaType, s"""{"type":"record","name":"R","fields":[$fields]}"""))

  private def field(schema: String): StructField = avro(s"""{"name":"f","type":$schema}""")("f")

  private val table = Seq[(String, DataType)](
    """"null""""                                                                     -> NullType,
    """"boolean""""                                                                  -> BooleanType,
    """"int""""                                                                      -> IntegerType,
    """"long""""                                                                     -> LongType,
    """"float""""                                                                    -> FloatType,
    """"double""""                                                                   -> DoubleType,
    """"string""""                                                                   -> StringType,
    """"bytes""""                                                                    -> BinaryType,
    """{"type":"fixed","name":"F","size":4}"""                                       -> BinaryType,
    """{"type":"enum","name":"E","symbols":["A"]}"""                                 -> StringType,
    """{"type":"int","logicalType":"date"}"""                                        -> DateType,
    """{"type":"int","logicalType":"time-millis"}"""                                 -> IntegerType,
    """{"type":"long","logicalType":"time-micros"}"""                                -> LongType,
    """{"type":"long","logicalType":"timestamp-millis"}"""                           -> TimestampType,
    """{"type":"long","logicalType":"timestamp-micros"}"""                           -> TimestampType,
    """{"type":"long","logicalType":"timestamp-nanos"}"""                            -> LongType,
    """{"type":"long","logicalType":"local-timestamp-millis"}"""                     -> TimestampNTZType,
    """{"type":"long","logicalType":"local-timestamp-micros"}"""                     -> TimestampNTZType,
    """{"type":"string","logicalType":"uuid"}"""                                     -> StringType,
    """{"type":"bytes","logicalType":"decimal","precision":38,"scale":5}"""          -> DecimalType(38, 5),
    """{"type":"fixed","name":"F","size":4,"logicalType":"decimal","precision":9}""" -> DecimalType(9, 0),
    """{"type":"array","items":["null","int"]}""" -> ArrayType(IntegerType, containsNull = true),
    """{"type":"map","values":"int"}"""           -> MapType(StringType, IntegerType, valueContainsNull = false),
    """["null","int"]"""                          -> IntegerType,
    """["int"]"""                                 -> IntegerType,
    """["int","long"]"""                          -> LongType,
    """["float","null","double"]"""               -> DoubleType,
    """["null","string","int"]""" -> new StructType().add("member0", StringType).add("member1", IntegerType)
  )

  test("each type of Avro, its type of Spark") {
    table.foreach { case (schema, dataType) => assertEquals(field(schema).dataType, dataType, schema) }
  }

  test("columns are nullable, fields in them as the schema says, and everything in JSON") {
    val inner =
      """{"name":"r","type":{"type":"record","name":"I","fields":[{"name":"a","type":"int","doc":"an int"},{"name":"b","type":["null","int"]}]}}"""
    val avroFields =
      Seq(StructField("a", IntegerType, nullable = false).withComment("an int"), StructField("b", IntegerType))
    assertEquals(avro(inner), StructType(Seq(StructField("r", StructType(avroFields)))))
    assertEquals(avro(inner, "JSON"),
      StructType(Seq(StructField("r", StructType(avroFields.map(_.copy(nullable = true)))))))
  }

  test("a value that is not a record is the column value") {
    assertEquals(SchemaTranslation.toStruct("t", TopicSchema("AVRO", "\"long\"")),
      new StructType().add("value", LongType))
  }

  test("a record may appear twice, and have names that Avro itself would not take") {
    val twice = """{"name":"a-b","type":{"type":"record","name":"I","fields":[]}},{"name":"c","type":"I"}"""
    assertEquals(avro(twice).fieldNames.toSeq, Seq("a-b", "c"))
  }

  private def refused(schema: TopicSchema, text: String)(implicit loc: munit.Location): Unit = {
    val error = intercept[IllegalArgumentException](SchemaTranslation.toStruct("persistent://a/b/t", schema))
    assert(error.getMessage.startsWith(text), error.getMessage)
  }

  test("schema types that are not read, refused by their name") {
    for (t <- Seq("AUTO_CONSUME", "EXTERNAL"))
      refused(
        TopicSchema(t),
        s"[PULSAR_SCHEMA_TYPE_NOT_SUPPORTED] Topic persistent://a/b/t has a schema of type $t, which is not supported. What to do: " +
          "Set schemaMode=raw to read the bytes of the values."
      )
  }

  test("schemas without columns, refused with the reason") {
    val begin =
      "[PULSAR_SCHEMA_NOT_READABLE] The AVRO schema of topic persistent://a/b/t cannot be converted to columns: "
    def record(fields: String) = TopicSchema("AVRO", s"""{"type":"record","name":"R","fields":[$fields]}""")
    refused(
      record("""{"name":"next","type":["null","R"]}"""),
      begin + "field `next`: record R contains itself, and a table cannot be nested without end. What to do:"
    )
    refused(record("""{"name":"u","type":[]}"""), begin + "field `u`: a union without types has no values.")
    for (
      (definition, kind) <- Seq(
        """{"type":"object","id":"x"}"""           -> "JSON Schema",
        """{"$schema":"http://json-schema.org"}""" -> "JSON Schema",
        """{"type":"recrd"}"""                     -> "JSON of another kind",
        "message Ride {}"                          -> "not JSON",
        ""                                         -> "empty"
      )
    )
      refused(
        TopicSchema("AVRO", definition),
        begin +
          s"its definition is $kind, and no schema of Avro. What to do: Set schemaMode=raw to read the bytes of the values. " +
          "AVRO and JSON values can also be read by an Avro schema of yours: set schemaMode=pinned and `readerSchema`."
      )
  }

  test("a definition that is not Avro's is read by a schema of the user's") {
    val mine = """{"type":"record","name":"R","fields":[{"name":"id","type":"long"}]}"""
    for (
      (schemaType, value) <- Seq("JSON" -> """{"id":7,"other":"x"}""".getBytes, "AVRO" -> Array[Byte](14));
      definition          <- Seq("""{"type":"object","properties":{"id":{"type":"integer"}}}""", "", "message Ride {}")
    ) {
      val own    = TopicSchema(schemaType, definition, version = Messages.version(0).toSeq)
      val reader = AvroFormat.pinned(Messages.topic, own, mine)
      val table  = SchemaTranslation.toStruct(Messages.topic, reader)
      val row    = Messages.decoder(reader, table, _ => own).decode(Messages.of(value, Messages.version(0)))
      assertEquals(row.getLong(0), 7L)
    }
  }

  test("a field that is named like a metadata column is the field") {
    val schema = TopicSchema(
      "AVRO",
      """{"type":"record","name":"R","fields":[{"name":"__partition","type":"int"},{"name":"__key","type":"int"}]}"""
    )
    val table = SchemaTranslation.toStruct(Messages.topic, schema)
    val both  = table.add("__topic", StringType)
    val row   = Messages.decoder(schema, both).decode(Messages.of(Array[Byte](14, 16)))
    assertEquals((row.getInt(0), row.getInt(1), row.getUTF8String(2).toString), (7, 8, Messages.topic))
    val plan = WritePlanner(both, Some(Messages.topic), Some(schema), "auto")
    assertEquals(new RowEncoder(plan).encode(row).value.toSeq, Seq[Byte](14, 16))
    val bare = StructType(both.fields.map(f => StructField(f.name, f.dataType)))
    val e    = intercept[IllegalArgumentException] {
      WritePlanner(bare.add("__partition", IntegerType).add("x", IntegerType), Some(Messages.topic), Some(schema),
        "auto")
    }
    assert(e.getMessage.contains("[PULSAR_WRITE_COLUMN"), e.getMessage)
  }

  private val actual =
    new StructType().add("a", IntegerType).add("s", new StructType().add("x", LongType).add("y", ArrayType(StringType)))

  test("a given schema may be a part of the columns in any order") {
    UserColumns.check(actual, actual)
    UserColumns.check(
      new StructType().add(
        "s",
        new StructType().add("y", ArrayType(StringType, containsNull = false))
      ).add("a", IntegerType, nullable = false),
      actual
    )
  }

  private def mismatch(user: StructType, text: String)(implicit loc: munit.Location): Unit =
    assertEquals(
      intercept[IllegalArgumentException](UserColumns.check(user, actual)).getMessage,
      s"[PULSAR_USER_SCHEMA_MISMATCH] $text What to do: If you set a schema, remove it, or use a subset of the columns " +
        "with their types. Else the schema of the topic has changed since: make the DataFrame again."
    )

  test("a given schema that does not match is refused with the column") {
    mismatch(
      new StructType().add("b", IntegerType),
      "Column `b` of the DataFrame does not match the topic: the topic has no such column; it has a, s."
    )
    mismatch(new StructType().add("a", LongType),
      "Column `a` of the DataFrame does not match the topic: it is INT, not BIGINT.")
    mismatch(
      new StructType().add("s", new StructType().add("y", ArrayType(BinaryType))),
      "Column `s.y[]` of the DataFrame does not match the topic: it is STRING, not BINARY."
    )
  }

  private def record(fields: String) = s"""{"type":"record","name":"R","fields":[$fields]}"""

  private def values(schema: TopicSchema, bytes: Array[Byte]): Map[String, Any] =
    Plain.ofRow(Messages.decode(schema, bytes), SchemaTranslation.toStruct(Messages.topic, schema))

  test("an empty payload is a tombstone, unless no bytes are a value") {
    val empty = Array.emptyByteArray
    assertEquals[Any, Any](values(TopicSchema("AVRO", record("""{"name":"a","type":"int"}""")), empty),
      Map("a" -> null))
    Seq("INT32", "DOUBLE", "BOOLEAN", "LOCAL_DATE").foreach(t =>
      assertEquals[Any, Any](values(TopicSchema(t), empty), Map("value" -> null), t)
    )
    assertEquals[Any, Any](values(TopicSchema("STRING"), empty), Map("value" -> ""))
    assertEquals[Any, Any](values(TopicSchema("BYTES"), empty), Map("value" -> Vector.empty[Byte]))
    val nothing = TopicSchema("AVRO", record("""{"name":"n","type":"null"}"""))
    assertEquals[Any, Any](values(nothing, empty), Map("n" -> null))
  }

  test("bytes that a property of the schema says are before each value are skipped") {
    val definition = record("""{"name":"a","type":"int"}""")
    val schema     = TopicSchema("AVRO", definition, Map("__AVRO_READ_OFFSET__" -> "5"))
    assertEquals[Any, Any](values(schema, Array[Byte](0, 0, 0, 0, 7, 84)), Map("a" -> 42))
    intercept[RuntimeException](values(schema, Array[Byte](0, 0, 0)))
    intercept[RuntimeException](values(schema.copy(properties = Map("__AVRO_READ_OFFSET__" -> "x")), Array[Byte](84)))
    val e = intercept[RuntimeException](
      WritePlanner(new StructType().add("a", IntegerType), Some("t"), Some(schema), "auto")
    )
    assert(e.getMessage.contains("__AVRO_READ_OFFSET__"), e.getMessage)
  }

  test("a decimal of more digits than Spark has is read as far as its values fit") {
    val schema = TopicSchema("AVRO",
      record("""{"name":"p","type":{"type":"bytes","logicalType":"decimal","precision":64,"scale":2}}"""))
    def bytes(n: BigInt) = { val b = n.toByteArray; (b.length * 2).toByte +: b }
    assertEquals(SchemaTranslation.toStruct("t", schema)("p").dataType, DecimalType(38, 2))
    assertEquals[Any, Any](values(schema, bytes(196)), Map("p" -> new java.math.BigDecimal("1.96")))
    intercept[RuntimeException](values(schema, bytes(BigInt(10).pow(40))))
  }
}
