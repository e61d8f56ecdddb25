package io.github.pulsarspark.schema.json

import io.github.pulsarspark.fuzz.TextFuzzTarget
import io.github.pulsarspark.schema.TopicSchema
import io.github.pulsarspark.schema.rows.{Messages, Plain, SchemaTranslation}

/** JSON values with a field of every type. */
object JsonValueFuzz extends TextFuzzTarget {
  private val types = Seq(
    "b" -> "\"boolean\"",
    "i" -> "\"int\"",
    "l" -> "\"long\"",
    "f" -> "\"float\"",
    "d" -> "\"double\"",
    "s" -> "\"string\"",
    "y" -> "\"bytes\"",
    "x" -> """{"type":"fixed","name":"X","size":2}""",
    "a" -> """{"type":"array","items":["null","int"]}""",
    "m" -> """{"type":"map","values":"string"}""",
    "r" -> """{"type":"record","name":"Q","fields":[{"name":"q","type":["null","string"]}]}""",
    "c" -> """{"type":"bytes","logicalType":"decimal","precision":10,"scale":2}""",
    "t" -> """{"type":"long","logicalType":"timestamp-millis"}""",
    "e" -> """{"type":"int","logicalType":"date"}"""
  )

  private val schema = TopicSchema(
    "JSON",
    types.map { case (name, of) => s"""{"name":"$name","type":["null",$of],"default":null}""" }
      .mkString("""{"type":"record","name":"R","fields":[""", ",", "]}")
  )

  private lazy val columns = SchemaTranslation.toStruct(Messages.topic, schema)

  override def texts: Seq[String] = Seq(
    """{"b":true,"i":1,"l":-2,"f":1.5,"d":"NaN","s":"t","y":"AQI=","x":"AQI=","a":[1,null],"m":{"k":"v"},
      |"r":{"q":null},"c":12.34,"t":1700000000000,"e":19000}""".stripMargin,
    """{"i":{"int":7},"other":[[{"z":[]}]]}""",
    "{}"
  )

  override def decode(text: String): Any =
    Plain.ofRow(Messages.decoder(schema, columns).decode(Messages.of(text.getBytes("UTF-8"))), columns)
}
