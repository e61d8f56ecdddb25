package io.github.pulsarspark.schema.avro

import org.apache.spark.sql.types.StructType
import org.scalacheck.Gen
import org.scalacheck.rng.Seed

import io.github.pulsarspark.fuzz.FuzzTarget
import io.github.pulsarspark.schema.TopicSchema
import io.github.pulsarspark.schema.rows.{AvroGenerators, Messages, Plain, SchemaTranslation}

/** AVRO values of many schemas; the first byte of an input selects one. Some are read by all columns, some by a part of
  * them, and one was written with a record that contains itself.
  */
object AvroValueFuzz extends FuzzTarget {

  private val generated = Seq.tabulate(40)(n =>
    AvroGenerators.dataOf(AvroGenerators.anyRecord)(Gen.Parameters.default, Seed(n.toLong)).get
  )

  private val reader    = TopicSchema("AVRO", """{"type":"record","name":"R","fields":[{"name":"n","type":"int"}]}""")
  private val recursive = TopicSchema(
    "AVRO",
    """{"type":"record","name":"R","fields":[{"name":"next","type":["null","R"]},{"name":"all","type":{"type":"array",
      |"items":"R"}},{"name":"n","type":"int"}]}""".stripMargin,
    version = Messages.version(9).toSeq
  )

  private val readings = generated.zipWithIndex.map { case ((schema, _), i) =>
    val topic   = TopicSchema("AVRO", schema.toString)
    val all     = SchemaTranslation.toStruct(Messages.topic, topic)
    val columns = if (i % 2 == 0) all else StructType(all.fields.drop(1))
    (topic, columns)
  }

  override def seeds: Seq[Array[Byte]] = generated.zipWithIndex.flatMap { case ((schema, data), i) =>
    data.map(datum => i.toByte +: AvroGenerators.encoded(schema, datum))
  } :+ Array[Byte](-1, 2, 0, 0, 2, 0, 0, 6, 0, 4)

  override def decode(bytes: Array[Byte]): Any = {
    val which = bytes.headOption.fold(0)(_.toInt)
    val value = bytes.drop(1)
    if (which < 0) {
      val columns = SchemaTranslation.toStruct(Messages.topic, reader)
      val message = Messages.of(value, Messages.version(9))
      Plain.ofRow(Messages.decoder(reader, columns, _ => recursive).decode(message), columns)
    } else {
      val (schema, columns) = readings(which % readings.size)
      Plain.ofRow(Messages.decoder(schema, columns).decode(Messages.of(value)), columns)
    }
  }
}
