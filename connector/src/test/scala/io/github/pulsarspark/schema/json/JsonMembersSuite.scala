package io.github.pulsarspark.schema.json

import com.fasterxml.jackson.core.JsonFactory
import org.apache.avro.Schema
import org.apache.spark.sql.catalyst.InternalRow
import org.apache.spark.sql.types.NullType

import io.github.pulsarspark.UnitSuite
import io.github.pulsarspark.schema.convert.MalformedValue

/** Chooses the member of a union for a value without the name of its type. */
class JsonMembersSuite extends UnitSuite {

  private val types = Map(
    "int"     -> """"int"""",
    "long"    -> """"long"""",
    "double"  -> """"double"""",
    "float"   -> """"float"""",
    "boolean" -> """"boolean"""",
    "string"  -> """"string"""",
    "bytes"   -> """"bytes"""",
    "decimal" -> """{"type":"bytes","logicalType":"decimal","precision":20,"scale":0}""",
    "enum"    -> """{"type":"enum","name":"E","symbols":["A"]}""",
    "array"   -> """{"type":"array","items":"int"}""",
    "map"     -> """{"type":"map","values":"int"}""",
    "record"  -> """{"type":"record","name":"R","fields":[{"name":"a","type":"int"}]}""",
    "other"   -> """{"type":"record","name":"O","fields":[{"name":"b","type":"int"}]}"""
  )

  /** The members that took something of a value: exactly one of them, unless it is not requested. */
  private def taking(union: String, json: String, hidden: Set[String] = Set.empty): String = {
    val names   = union.split(' ').toSeq
    val members = names.zipWithIndex.map { case (name, i) =>
      val reader: JsonReader = p => { p.skipChildren(); "it" }
      new JsonMembers.Member(new Schema.Parser().parse(types(name)), reader, if (hidden(name)) -1 else i)
    }
    val p = new JsonFactory().createParser(json)
    p.nextToken()
    new JsonMembers(members, names.size).value(p) match {
      case row: InternalRow => names.zipWithIndex.collect { case (n, i) if row.get(i, NullType) != null => n }.mkString
      case other            => fail(s"$other is no row")
    }
  }

  for (
    (union, json, member) <- Seq(
      ("long int", "7", "int"),
      ("int long", "2147483648", "long"),
      ("int double", "2147483648", "double"),
      ("long decimal double", "9223372036854775808", "decimal"),
      ("int float", "2147483648", "float"),
      ("int double float", "1.5", "double"),
      ("double decimal", "1.5", "decimal"),
      ("int boolean", "true", "boolean"),
      ("map array", "[1]", "array"),
      ("string enum", "\"A\"", "enum"),
      ("enum string", "\"B\"", "string"),
      ("decimal bytes int", "\"AP8=\"", "bytes"),
      ("enum int", "\"B\"", "enum"),
      ("int double", "\"NaN\"", "double"),
      ("int float", "\"NaN\"", "float"),
      ("other record", """{"R":{"a":1}}""", "record"),
      ("int record", """{"int":1}""", "int"),
      ("map record", """{"a":1}""", "record"),
      ("other map record", """{"x":1}""", "map"),
      ("other record", """{"x":1}""", "other"),
      ("other record", "{}", "other")
    )
  ) test(s"$json in $union is of $member")(assertEquals(taking(union, json), member))

  for ((union, json) <- Seq("string array" -> "7", "int" -> "1.5", "int array" -> "{}", "int" -> "[]"))
    test(s"$json in $union is refused") {
      intercept[MalformedValue](taking(union, json))
      ()
    }

  test("a value of a member that no column needs, no member at all") {
    assertEquals(taking("int string", "7", hidden = Set("int")), "")
    assertEquals(taking("int string", """{"int":7}""", hidden = Set("int")), "")
  }
}
