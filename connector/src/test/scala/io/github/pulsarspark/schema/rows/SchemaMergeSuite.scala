package io.github.pulsarspark.schema.rows

import org.apache.avro.Schema
import org.apache.avro.generic.GenericData
import org.apache.spark.sql.types._
import org.scalacheck.Gen
import org.scalacheck.Prop.forAll

import io.github.pulsarspark.PropertySuite
import io.github.pulsarspark.errors.PulsarError
import io.github.pulsarspark.schema.TopicSchema
import io.github.pulsarspark.schema.keyvalue.KeyValueSchema

class SchemaMergeSuite extends PropertySuite(250) {
  import AvroGenerators._

  private def record(fields: String*) =
    TopicSchema("AVRO", s"""{"type":"record","name":"R","fields":[${fields.mkString(",")}]}""")
  private def field(name: String, kind: String, more: String = "") = s"""{"name":"$name","type":$kind$more}"""
  private def merged(known: TopicSchema, newest: TopicSchema)      = SchemaMerge(Messages.topic, known, newest)
  private def both(known: TopicSchema, newest: TopicSchema)        = merged(known, newest).fold(fail(_), identity)
  private def columns(schema: TopicSchema): StructType             = SchemaTranslation.toStruct(Messages.topic, schema)
  private def types(schema: TopicSchema): Seq[(String, DataType)]  = columns(schema).fields.toSeq.map(f =>
    f.name -> f.dataType
  )
  private def refused(known: TopicSchema, newest: TopicSchema) = merged(known, newest).left.toOption

  private def read(reader: TopicSchema, writer: TopicSchema, values: (String, Any)*): Map[String, Any] = {
    val schema = new Schema.Parser().parse(writer.definition)
    val datum  = new GenericData.Record(schema)
    values.foreach { case (name, value) => datum.put(name, value) }
    val decoder = Messages.decoder(reader, columns(reader), _ => writer)
    Plain.ofRow(decoder.decode(Messages.of(encoded(schema, datum), Messages.version(1))), columns(reader))
  }

  private val id   = field("id", "\"int\"")
  private val name = field("name", "\"string\"")

  test("new fields are there, those that were removed stay, with null or their default") {
    val known  = record(id, name, field("flag", "\"boolean\"", ""","default":true"""))
    val newest = record(field("note", """["null","string"]""", ""","default":null"""), id)
    val reader = both(known, newest)
    assertEquals(types(reader),
      Seq("id" -> IntegerType, "name" -> StringType, "flag" -> BooleanType, "note" -> StringType))
    assertEquals(read(reader, newest, "id" -> 1, "note" -> "x"),
      Map[String, Any]("id"                -> 1, "name" -> null, "flag" -> true, "note" -> "x"))
    assertEquals(
      read(reader, known, "id" -> 2, "name" -> "n", "flag" -> false),
      Map[String, Any]("id"    -> 2, "name" -> "n", "flag" -> false, "note" -> null)
    )
  }

  test("a field that comes back is one column, and values that were without it are still read") {
    val gone   = both(record(id, name), record(id))
    val reader = both(gone, record(id, name))
    assertEquals(types(reader), Seq("id" -> IntegerType, "name" -> StringType))
    assertEquals(read(reader, record(id, name), "id" -> 1, "name" -> "n"), Map[String, Any]("id" -> 1, "name" -> "n"))
    assertEquals(read(gone, record(id), "id" -> 1), Map[String, Any]("id" -> 1, "name" -> null))
  }

  test("what did not change is the newest schema itself") {
    val schema = record(id, name).copy(version = Messages.version(3).toSeq)
    assertEquals(both(record(id, name), schema), schema)
    assertEquals(both(record(id), schema), schema)
    val nullLast = record(field("n", """["int","null"]"""))
    assertEquals(both(nullLast, nullLast), nullLast)
  }

  test("the wider number counts, whichever was first") {
    val (int, long, double) =
      (record(field("n", "\"int\"")), record(field("n", "\"long\"")), record(field("n", """["null","double"]""")))
    assertEquals(types(both(int, long)), Seq("n" -> LongType))
    assertEquals(types(both(long, int)), Seq("n" -> LongType))
    assertEquals(types(both(both(int, long), double)), Seq("n" -> DoubleType))
    assertEquals(read(both(long, int), int, "n" -> 7), Map[String, Any]("n" -> 7L))
    assertEquals(read(both(long, double), long, "n" -> 7L), Map[String, Any]("n" -> Plain.ofSpark(7.0, DoubleType)))
  }

  test("a renamed field is one column, by its new name") {
    val known  = record(id, name)
    val newest = record(field("title", "\"string\"", ""","aliases":["name"]"""), id)
    val reader = both(known, newest)
    assertEquals(types(reader), Seq("id" -> IntegerType, "title" -> StringType))
    assertEquals(read(reader, known, "id" -> 1, "name" -> "n"), Map[String, Any]("id" -> 1, "title" -> "n"))
  }

  test("types with names stay one, wherever they are used") {
    def inner(more: String*) =
      s"""{"type":"record","name":"I","fields":[${(field("x", "\"int\"") +: more).mkString(",")}]}"""
    def kind(symbols: String) = s"""{"type":"enum","name":"K","symbols":[$symbols]}"""
    def array(items: String)  = s"""{"type":"array","items":$items}"""
    val known                 =
      record(field("a", inner(field("k", kind("\"A\",\"B\"")))), field("gone", array("\"I\"")), field("b", "\"I\""))
    val newest =
      record(field("a", inner(field("y", """["null","long"]""", ""","default":null"""))), field("b", "\"I\""),
        field("c", kind("\"C\"")))
    val reader = both(known, newest)
    val struct = new StructType().add("x", IntegerType, nullable = false).add("k", StringType).add("y", LongType)
    assertEquals(types(reader),
      Seq("a" -> struct, "gone" -> ArrayType(struct, containsNull = false), "b" -> struct, "c" -> StringType))
    assertEquals(both(reader, newest).definition, reader.definition)
  }

  test("a type that cannot be read as the one before is named, at any depth") {
    assertEquals(refused(record(id), record(field("id", "\"string\""))), Some("column `id` was INT and is STRING"))
    val deep =
      (kind: String) =>
        record(field("m", s"""{"type":"map","values":{"type":"record","name":"V","fields":[${field("v", kind)}]}}"""))
    assertEquals(refused(deep("\"string\""), deep("\"bytes\"")), Some("column `m{}.v` was STRING and is BINARY"))
    val decimal = (scale: Int) => s"""{"type":"bytes","logicalType":"decimal","precision":9,"scale":$scale}"""
    assertEquals(
      refused(record(field("d", decimal(2))), record(field("d", decimal(3)))),
      Some("column `d` was DECIMAL(9,2) and is DECIMAL(9,3)")
    )
    assertEquals(refused(record(id), TopicSchema("AVRO", "\"int\"")).map(_.take(14)), Some("column `value`"))
    assertEquals(refused(TopicSchema("INT32"), TopicSchema("INT64")),
      Some("values were of type INT32 and are of type INT64"))
    assertEquals(refused(TopicSchema.Bytes, record(id)), Some("values were of type BYTES and are of type AVRO"))
  }

  test("records that contain each other only together are refused by name, and no stack is full") {
    def inner(name: String, field: String) = s"""{"type":"record","name":"$name","fields":[$field]}"""
    val known                              = record(field("a", inner("A", field("b", inner("B", id)))))
    val newest                             = record(field("c", inner("B", field("a", inner("A", id)))))
    val error                              = intercept[RuntimeException with PulsarError](merged(known, newest))
    assertEquals(error.condition, "PULSAR_SCHEMA_NOT_READABLE")
    assert(error.getMessage.contains("record A contains itself"), error.getMessage)
  }

  test("what is not made of fields stays what it is") {
    assertEquals(both(TopicSchema("STRING"), TopicSchema("STRING")), TopicSchema("STRING"))
    assertEquals(both(TopicSchema("NONE"), TopicSchema.Bytes), TopicSchema.Bytes)
    assertEquals(types(both(TopicSchema("AVRO", "\"int\""), TopicSchema("AVRO", "\"long\""))), Seq("value" -> LongType))
  }

  test("both parts of KEY_VALUE") {
    def pair(key: TopicSchema, value: TopicSchema) = KeyValueSchema(key, value, separated = true).toTopicSchema()
    val known                                      = pair(TopicSchema("STRING"), record(id, name))
    assertEquals(
      types(both(known, pair(TopicSchema("STRING"), record(id)))),
      Seq("key" -> StringType, "value" -> new StructType().add("id", IntegerType).add("name", StringType))
    )
    assertEquals(both(known, known), known)
    assertEquals(
      refused(known, pair(TopicSchema("INT32"), record(id))),
      Some("of the key, values were of type STRING and are of type INT32")
    )
  }

  test("a value without a version is read as the newest schema writes it") {
    val reader  = both(record(name, id), record(id))
    val decoder = Messages.decoder(reader, columns(reader))
    assertEquals(Plain.ofRow(decoder.decode(Messages.of(Array[Byte](2))), columns(reader)),
      Map[String, Any]("name" -> null, "id" -> 1))
  }

  private val changed = for {
    (newest, known) <- EvolvedSchemas.pair
    data            <- Gen.listOfN(3, value(newest))
  } yield (known, newest, data)

  private var read   = 0
  private var unlike = 0

  property("values of the newest schema are what they are without the merge, and its columns are all there") {
    forAll(changed) { case (known, newest, data) =>
      val own = TopicSchema("AVRO", newest.toString)
      merged(TopicSchema("AVRO", known.toString), own) match {
        case Left(_)       => unlike += 1
        case Right(reader) =>
          read += 1
          val all     = columns(reader)
          val decoder = Messages.decoder(reader, all, _ => own)
          assertEquals(both(reader, own).definition, reader.definition)
          data.foreach { datum =>
            val row = Plain.ofRow(decoder.decode(Messages.of(encoded(newest, datum), Messages.version(1))), all)
            columns(own).filter(c => all.find(_.name == c.name).exists(_.dataType == c.dataType)).foreach { c =>
              assertEquals(row(c.name), Plain.ofAvro(datum, newest).asInstanceOf[Map[String, Any]](c.name))
            }
            assertEquals(columns(own).fieldNames.toSet -- all.fieldNames, Set.empty[String])
          }
      }
    }
  }

  test("the property above has seen both") {
    assert(read > 100 && unlike > 10, s"$read schemas were merged, $unlike refused: the generator is one-sided")
  }
}
