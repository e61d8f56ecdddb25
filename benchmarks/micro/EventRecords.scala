package io.github.pulsarspark.schema.rows

import java.lang.management.ManagementFactory

import scala.util.Random

import org.apache.avro.Schema
import org.apache.avro.generic.{GenericData, GenericDatumReader}
import org.apache.avro.io.DecoderFactory
import org.apache.spark.sql.types.StructType

import io.github.pulsarspark.format.entry.MessageView
import io.github.pulsarspark.schema.TopicSchema

/** Measures decoding and encoding of records of 10 and of 30 fields, CPU time of one thread, in turns:
  * `connector/Test/runMain io.github.pulsarspark.schema.SchemaThroughput`. The number of rounds can be given.
  */
object SchemaThroughput {
  private val random = new Random(20261121)
  private val clock  = ManagementFactory.getThreadMXBean
  private val Count  = 1000

  private def text(length: Int) = random.alphanumeric.take(length).mkString

  /** What a field is, and its values. */
  private val fields = Seq[(String, String, Schema => Any)](
    ("id", """"long"""", _ => random.nextLong()),
    ("user", """"string"""", _ => text(12)),
    ("at", """{"type":"long","logicalType":"timestamp-millis"}""", _ => 1700000000000L + random.nextInt()),
    (
      "kind",
      """{"type":"enum","name":"Kind@","symbols":["VIEW","CLICK","BUY"]}""",
      new GenericData.EnumSymbol(_, "CLICK")
    ),
    ("amount", """"double"""", _ => random.nextDouble()),
    ("count", """"int"""", _ => random.nextInt(1000)),
    ("page", """["null","string"]""", _ => if (random.nextBoolean()) text(24) else null),
    ("score", """["null","double"]""", _ => if (random.nextBoolean()) random.nextDouble() else null),
    ("mobile", """"boolean"""", _ => random.nextBoolean()),
    ("country", """"string"""", _ => text(2))
  )

  /** The fields, several times where there are to be more. */
  private final class Records(width: Int) {
    private val times = width / fields.size

    private val all = (0 until times).flatMap(i =>
      fields.map { case (name, definition, value) => (s"${name}_$i", definition.replace("@", s"$i"), value) }
    )

    val schema: Schema = new Schema.Parser().parse(
      all.map { case (name, definition, _) => s"""{"name":"$name","type":$definition}""" }
        .mkString("""{"type":"record","name":"Event","fields":[""", ",", "]}")
    )

    val avro: TopicSchema   = TopicSchema("AVRO", schema.toString)
    val json: TopicSchema   = avro.copy(schemaType = "JSON")
    val columns: StructType = SchemaTranslation.toStruct("t", avro)
    val three: StructType   = StructType((0 until 3).map(i => columns(i * width / 3)))

    private val values = Seq.fill(Count) {
      val r = new GenericData.Record(schema)
      all.foreach { case (name, _, value) => r.put(name, value(schema.getField(name).schema)) }
      AvroGenerators.encoded(schema, r)
    }
    val inAvro: Array[MessageView] = values.map(Messages.of(_)).toArray
    val rows                       = values.map(Messages.decode(avro, _).copy())
    val inJson: Array[MessageView] = {
      val encoder = encoding(json)
      rows.map(r => Messages.of(encoder.encode(r).value)).toArray
    }

    def encoding(schema: TopicSchema): RowEncoder =
      new RowEncoder(WritePlanner(columns, Some("t"), Some(schema), "auto"))

    /** What is measured, and how. */
    def cases: Seq[(String, () => Unit)] = {
      val decoding =
        for (
          (name, messages, topicSchema) <- Seq(("AVRO", inAvro, avro), ("JSON", inJson, json));
          wanted                        <- Seq(columns, three)
        )
          yield {
            val decoder = Messages.decoder(topicSchema, wanted)
            (s"decode $name, ${wanted.size} of $width fields", () => messages.foreach(decoder.decode(_)))
          }
      val encodings = Seq(avro, json).map { s =>
        val encoder = encoding(s)
        (s"encode ${s.schemaType}, $width fields", () => rows.foreach { r => encoder.encode(r); () })
      }
      decoding ++ encodings :+ (s"Avro's GenericDatumReader, $width fields" -> generic())
    }

    private def generic(): () => Unit = {
      val reader                                    = new GenericDatumReader[GenericData.Record](schema)
      var decoder: org.apache.avro.io.BinaryDecoder = null
      var record: GenericData.Record                = null
      () =>
        inAvro.foreach { m =>
          decoder = DecoderFactory.get.binaryDecoder(m.bytes, m.valueOffset, m.valueLength, decoder)
          record = reader.read(record, decoder)
        }
    }
  }

  private def nanos(pass: () => Unit): Double = {
    val start = clock.getCurrentThreadCpuTime
    (0 until 100).foreach(_ => pass())
    (clock.getCurrentThreadCpuTime - start) / 100.0 / Count
  }

  def main(args: Array[String]): Unit = {
    val rounds = args.headOption.fold(15)(_.toInt)
    for (width <- Seq(10, 30)) {
      val records = new Records(width)
      println(
        s"$width fields: AVRO ${records.inAvro.map(_.valueLength).sum /
            Count} bytes, JSON ${records.inJson.map(_.valueLength).sum / Count} bytes"
      )
      val cases = records.cases
      val spent = Seq.fill(3 + rounds)(cases.map { case (_, pass) => nanos(pass) }).drop(3).transpose
      for (((what, _), all) <- cases.zip(spent)) {
        val median = all.sorted.apply(rounds / 2)
        println(f"$what%-44s $median%7.0f ns/record (best ${all.min}%.0f), ${1000 / median}%.2f M records/s")
      }
    }
  }
}
