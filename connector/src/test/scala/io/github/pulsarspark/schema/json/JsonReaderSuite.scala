package io.github.pulsarspark.schema.json

import com.fasterxml.jackson.core.{JsonFactory, JsonParser, JsonToken}
import org.apache.spark.sql.catalyst.InternalRow
import org.apache.spark.sql.catalyst.expressions.GenericInternalRow
import org.apache.spark.sql.types.{DecimalType, NullType}

import io.github.pulsarspark.UnitSuite
import io.github.pulsarspark.schema.convert.{DecimalConversion, MalformedValue}
import io.github.pulsarspark.schema.json.JsonReader._

/** The readers of single values: each takes its tokens and no more, and refuses what is none of its own. */
class JsonReaderSuite extends UnitSuite {

  private def parser(json: String): JsonParser = {
    val p = new JsonFactory().createParser(json)
    p.nextToken()
    p
  }

  /** The value as an item, after a check that it is the same as a field, and that the next value is left. */
  private def read(reader: JsonReader, json: String): Any = {
    val p     = parser(s"$json 77")
    val value = reader.valueOrNull(p)
    assertEquals((p.nextToken(), p.getText), (JsonToken.VALUE_NUMBER_INT, "77"), s"after $json")
    val row = new GenericInternalRow(Array[Any]("x"))
    reader.setOrNull(parser(json), row, 0)
    (row.get(0, NullType), value) match {
      case (nested: InternalRow, other: InternalRow) => assertEquals(nested.toString, other.toString)
      case (field, item)                             => assertEquals(shown(field), shown(item))
    }
    value
  }

  private def shown(value: Any): Any = value match {
    case bytes: Array[Byte] => bytes.toSeq
    case null               => None
    case other              => other.toString
  }

  private def refused(reader: JsonReader, json: String, problem: String): Unit = {
    assertEquals(intercept[MalformedValue](reader.value(parser(json))).getMessage, problem)
    intercept[MalformedValue](reader.set(parser(json), new GenericInternalRow(1), 0))
    ()
  }

  private val decimal = new Decimal(new DecimalConversion(2, DecimalType(6, 2)))

  for (
    (name, reader, json, expected) <- Seq[(String, JsonReader, String, Any)](
      ("null", AsInt, "null", None),
      ("any value as null", Null, """{"a":[1]}""", None),
      ("true", Bool, "true", "true"),
      ("false in a text", Bool, "\" false \"", "false"),
      ("an int", AsInt, "-7", "-7"),
      ("an int in a text", AsInt, "\" 7 \"", "7"),
      ("an int with an exponent", AsInt, "7e1", "70"),
      ("a long", AsLong, Long.MinValue.toString, Long.MinValue.toString),
      ("a float of all digits", AsFloat, "0.1", "0.1"),
      ("a float in a text", AsFloat, "\"NaN\"", "NaN"),
      ("a double", AsDouble, "1", "1.0"),
      ("infinity, as Java", AsDouble, "\"Infinity\"", "Infinity"),
      ("infinity, as others", AsDouble, "\"+INF\"", "Infinity"),
      ("minus infinity, as others", AsDouble, "\"-INF\"", "-Infinity"),
      ("a text", Text, "\"a\"", "a"),
      ("a number as a text", Text, "1.50", "1.50"),
      ("bytes", new Binary(-1), "\"AP8=\"", Seq[Byte](0, -1)),
      ("a fixed", new Binary(2), "\"AP8=\"", Seq[Byte](0, -1)),
      ("a decimal", decimal, "12.3", "12.30"),
      ("a decimal in a text", decimal, "\"12.3\"", "12.30"),
      ("an array", new Sequence(AsInt), "[1, null, 3]", "[1,null,3]"),
      ("a map", new Mapping(AsInt), """{"a":1,"b":null,"a":2}""", "keys: [a,b], values: [2,null]")
    )
  ) test(s"$name: $json")(assertEquals(shown(read(reader, json)), expected))

  for (
    (reader, json, problem) <- Seq(
      (Bool, "1", "VALUE_NUMBER_INT at the top is not a boolean"),
      (Bool, "\"TRUE\"", "VALUE_STRING at the top is not a boolean"),
      (AsInt, "2147483648", "2147483648 is not an int"),
      (AsInt, "true", "VALUE_TRUE at the top is not a number"),
      (AsLong, "1.5", "1.5 is not a whole number of 64 bits"),
      (AsLong, "\"9223372036854775808\"", "9223372036854775808 is not a whole number of 64 bits"),
      (AsDouble, "\"nan\"", "VALUE_STRING at the top is not a number"),
      (AsDouble, "[]", "START_ARRAY at the top is not a number"),
      (Text, "{}", "START_OBJECT at the top is not a text"),
      (new Binary(-1), "1", "VALUE_NUMBER_INT at the top is not base64 text"),
      (new Binary(-1), "\"?\"", "VALUE_STRING at the top is not base64 text, as Java writes bytes"),
      (new Binary(3), "\"AP8=\"", "2 bytes are given for a fixed of 3"),
      (decimal, "\"x\"", "VALUE_STRING at the top is not a number"),
      (new Sequence(AsInt), "{}", "START_OBJECT at the top is not an array"),
      (new Sequence(AsInt), "[1,true]", "VALUE_TRUE at /1 is not a number"),
      (new Mapping(AsInt), "[]", "START_ARRAY at the top is not an object"),
      (new Mapping(AsInt), """{"a":"x"}""", "VALUE_STRING at /a is not a number")
    )
  ) test(s"${reader.getClass.getSimpleName} refuses $json, with its place")(refused(reader, json, problem))

  test("a number in a text is at most 1,000 characters long, which more would take hours to read") {
    refused(decimal, "\"" + "0" * 1001 + "\"", "VALUE_STRING at the top is not a number")
    assertEquals(read(decimal, "\"" + "0" * 1000 + "\"").toString, "0.00")
  }

  private def record = new Record(Array("a", "b", "c"), Array(AsInt, AsInt, Text), Array(2, 0, 1),
    Array[Any](null, 5, null), size = 3)

  private def fields(row: Any) = row match {
    case row: InternalRow => (0 until row.numFields).map(i => shown(row.get(i, NullType)))
    case other            => fail(s"$other is no row")
  }

  test("a record in any order of its fields, others skipped, those that are missing with their defaults") {
    assertEquals(fields(read(record, """{"c":"x","z":{"a":[9]},"a":1,"b":2}""")), Seq[Any]("2", "x", "1"))
    assertEquals(fields(read(record, """{"a":1}""")), Seq[Any]("5", None, "1"))
    assertEquals(fields(read(record, """{"a":1,"a":2,"b":null}""")), Seq[Any](None, None, "2"))
  }

  test("a record that is a whole value: its fields at their places in a wider row") {
    val row = new GenericInternalRow(Array[Any]("p", "q", "r", "s", "t"))
    record.atTop(Array(4, 3, 1)).setAll(parser("""{"a":1,"b":2,"c":"x"}"""), row)
    assertEquals(fields(row), Seq[Any]("p", "1", "r", "x", "2"))
  }

  test("a branch, plain or in an object with the name of its type") {
    val branch = new Branch(Set("long", "int"), AsLong, plainObject = false)
    assertEquals(read(branch, "7"), 7L)
    assertEquals(read(branch, """{"int":7}"""), 7L)
    refused(branch, """{"string":7}""", "FIELD_NAME at /string is not long or int")
    refused(branch, """{"long":7,"int":8}""", "FIELD_NAME at /int is not the end of an object")
    val nested = new Branch(Set("R"), record, plainObject = true)
    assertEquals(fields(read(nested, """{"R":{"a":1}}""")), fields(read(nested, """{"a":1}""")))
  }
}
