package io.github.pulsarspark.schema.rows

import org.apache.avro.generic.GenericData
import org.apache.spark.sql.types._

import io.github.pulsarspark.UnitSuite
import io.github.pulsarspark.errors.PulsarError
import io.github.pulsarspark.schema.TopicSchema
import io.github.pulsarspark.schema.avro.AvroSchemas

/** Tests what the ranges of a task share, and how many schemas they request. */
class RowDecodersSuite extends UnitSuite {

  private def record(version: Long, fields: String*) = TopicSchema(
    "AVRO",
    fields.map(f => s"""{"name":"$f","type":"int"}""").mkString("""{"type":"record","name":"R","fields":[""", ",",
      "]}"),
    version = Messages.version(version).toSeq
  )

  private val columns = StructType(Seq(StructField("a", IntegerType)))
  private val reader  = record(7, "a")
  private val older   = record(6, "b", "a")

  private def bytes(schema: TopicSchema, values: Int*): Array[Byte] = {
    val avro = AvroSchemas.parse(schema.definition)
    val row  = new GenericData.Record(avro)
    values.zipWithIndex.foreach { case (value, i) => row.put(i, value) }
    AvroGenerators.encoded(avro, row)
  }

  private class Asked(answer: TopicSchema = older) extends (Array[Byte] => TopicSchema) {
    var count                                             = 0
    override def apply(version: Array[Byte]): TopicSchema = { count += 1; answer }
  }

  private def read(decoder: RowDecoder, schema: TopicSchema, version: Long, values: Int*): Int =
    decoder.decode(Messages.of(bytes(schema, values: _*), Messages.version(version))).getInt(0)

  test(
    "the version a query reads by is not asked for, and is compiled once for all ranges and all topics with the same schema"
  ) {
    val (decoders, asked) = (new RowDecoders(columns, withErrors = false), new Asked)
    for {
      topic  <- Seq("t", "u")
      slice  <- 1 to 50
      schema <- Seq(reader, reader.copy(version = Messages.version(1).toSeq))
    } {
      val decoder = decoders.decoder(topic, -1, schema, asked)
      assertEquals(read(decoder, reader, java.nio.ByteBuffer.wrap(schema.version.toArray).getLong, slice), slice)
    }
    assertEquals((asked.count, decoders.compilations), (0, 1))
  }

  test("another version is asked for once in each range, and compiled once in a task") {
    val (decoders, asked) = (new RowDecoders(columns, withErrors = false), new Asked)
    (1 to 50).foreach { slice =>
      val decoder = decoders.decoder("t", -1, reader, asked)
      (1 to 3).foreach { _ =>
        assertEquals(read(decoder, older, 6, 0, slice), slice)
        assertEquals(read(decoder, reader, 7, slice), slice)
      }
    }
    assertEquals((asked.count, decoders.compilations), (50, 2))
  }

  test("where the reader's version is not certain it is asked for like any other") {
    val (decoders, asked) = (new RowDecoders(columns, withErrors = false), new Asked)
    assertEquals(read(decoders.decoder("t", -1, reader.withoutVersion, asked), older, 7, 0, 5), 5)
    assertEquals(asked.count, 1)
  }

  test("a schema that is read by more than the newest version has is known by the newest version") {
    val merged = record(0, "a", "b").copy(version = Nil, unversioned = Some(reader))
    val asked  = new Asked
    assertEquals(read(new RowDecoders(columns, withErrors = false).decoder("t", -1, merged, asked), reader, 7, 5), 5)
    assertEquals(asked.count, 0)
  }

  test("an error names the topic of its range, also when another one has the same schema") {
    val decoders            = new RowDecoders(columns, withErrors = false)
    val broken              = TopicSchema("AVRO", "not a schema")
    def topic(name: String) =
      intercept[RuntimeException with PulsarError](decoders.decoder(name, -1, broken, new Asked)).parameters("topic")
    assertEquals(Seq("t", "u").map(topic), Seq("t", "u"))
  }
}
