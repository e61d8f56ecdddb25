package io.github.pulsarspark.schema

import scala.util.Random

import org.apache.avro.Schema
import org.apache.avro.generic.{GenericData, GenericDatumReader}
import org.apache.avro.io.DecoderFactory
import org.apache.spark.sql.types.StructType

/** Measures decoding and encoding of a record of 10 fields on one thread: `connector/Test/runMain
  * io.github.pulsarspark.schema.SchemaThroughput`. The number of rounds can be given.
  */
object SchemaThroughput {
  private val random = new Random(20261121)

  private val schema = new Schema.Parser().parse(
    """{"type":"record","name":"Event","fields":[
    {"name":"id","type":"long"},{"name":"user","type":"string"},{"name":"at","type":{"type":"long","logicalType":"timestamp-millis"}},
    {"name":"kind","type":{"type":"enum","name":"Kind","symbols":["VIEW","CLICK","BUY"]}},{"name":"amount","type":"double"},{"name":"count","type":"int"},
    {"name":"page","type":["null","string"]},{"name":"score","type":["null","double"]},{"name":"mobile","type":"boolean"},{"name":"country","type":"string"}]}"""
  )

  private def text(length: Int) = random.alphanumeric.take(length).mkString

  private val records = Seq.fill(1000) {
    val r = new GenericData.Record(schema)
    r.put("id", random.nextLong()); r.put("user", text(12)); r.put("at", 1700000000000L + random.nextInt())
    r.put("kind", new GenericData.EnumSymbol(schema.getField("kind").schema, "CLICK")); r.put("amount", random.nextDouble());
    r.put("count", random.nextInt(1000))
    r.put("page", if (random.nextBoolean()) text(24) else null); r.put("score", if (random.nextBoolean()) random.nextDouble() else null)
    r.put("mobile", random.nextBoolean()); r.put("country", text(2))
    r
  }

  private val avro    = TopicSchema("AVRO", schema.toString)
  private val json    = avro.copy(schemaType = "JSON")
  private val columns = SchemaTranslation.toStruct("t", avro)
  private val three   = StructType(Seq("id", "at", "amount").map(columns(_)))

  private def measure(what: String, rounds: Int)(pass: => Unit): Unit = {
    val best = Seq.fill(rounds) {
      val start = System.nanoTime()
      (0 until 300).foreach(_ => pass)
      (System.nanoTime() - start) / 300.0 / records.size
    }.sorted
    println(f"$what%-44s ${best(rounds / 2)}%7.0f ns/record (best ${best.head}%.0f), ${1000 / best(rounds / 2)}%.2f M records/s")
  }

  def main(args: Array[String]): Unit = {
    val rounds  = args.headOption.fold(15)(_.toInt)
    val rows    = records.map(r => Messages.decode(avro, AvroGenerators.encoded(schema, r)).copy())
    val inAvro  = records.map(r => Messages.of(AvroGenerators.encoded(schema, r))).toArray
    val toJson  = new RowEncoder(WritePlan(columns, Some("t"), Some(json), "auto"))
    val inJson  = rows.map(r => Messages.of(toJson.encode(r).value)).toArray
    val toAvro  = new RowEncoder(WritePlan(columns, Some("t"), Some(avro), "auto"))
    val generic = new GenericDatumReader[GenericData.Record](schema)
    println(
      s"AVRO value: ${inAvro.map(_.valueLength).sum / records.size} bytes, JSON value: ${inJson.map(_.valueLength).sum / records.size} bytes"
    )

    for ((name, messages, topicSchema) <- Seq(("AVRO", inAvro, avro), ("JSON", inJson, json)); wanted <- Seq(columns, three)) {
      val decoder = Messages.decoder(topicSchema, wanted)
      measure(s"decode $name, ${wanted.size} of 10 fields", rounds)(messages.foreach(decoder.decode(_)))
    }
    measure("encode AVRO, 10 fields", rounds)(rows.foreach(toAvro.encode(_)))
    measure("encode JSON, 10 fields", rounds)(rows.foreach(toJson.encode(_)))
    var decoder: org.apache.avro.io.BinaryDecoder = null
    var record: GenericData.Record                = null
    measure("Avro's GenericDatumReader, for comparison", rounds)(inAvro.foreach { m =>
      decoder = DecoderFactory.get.binaryDecoder(m.bytes, m.valueOffset, m.valueLength, decoder)
      record = generic.read(record, decoder)
    })
  }
}
