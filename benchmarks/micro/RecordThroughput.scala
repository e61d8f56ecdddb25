package io.github.pulsarspark.schema.rows

import org.apache.avro.generic.{GenericData, GenericDatumReader}
import org.apache.avro.io.{BinaryDecoder, DecoderFactory}

import io.github.pulsarspark.micro.Turns

/** Decoding and encoding of AVRO and JSON records, with Avro's own generic reader beside them. */
object RecordThroughput {

  def cases(records: EventRecords): Seq[Turns.Case] = {
    import records._
    def a(job: String, contender: String = "connector")(pass: => Unit) =
      Turns.Case(job, contender, EventRecords.Count, () => pass)
    val decoding =
      for {
        (schema, messages) <- Seq(avro -> inAvro, json -> inJson)
        wanted             <- Seq(columns, three)
      } yield {
        val decoder = Messages.decoder(schema, wanted)
        a(s"${schema.schemaType}, ${wanted.size} of $width fields read")(messages.foreach(decoder.decode(_)))
      }
    val encodings = Seq(avro, json).map { s =>
      val encoder = encoding(s)
      a(s"${s.schemaType}, $width fields written")(rows.foreach { r => encoder.encode(r); () })
    }
    decoding ++ encodings :+ a(s"AVRO, $width of $width fields read", "GenericDatumReader")(generic(records))
  }

  private def generic(records: EventRecords): Unit = {
    val reader                 = new GenericDatumReader[GenericData.Record](records.schema)
    var decoder: BinaryDecoder = null
    var record                 = new GenericData.Record(records.schema)
    records.inAvro.foreach { m =>
      decoder = DecoderFactory.get.binaryDecoder(m.bytes, m.valueOffset, m.valueLength, decoder)
      record = reader.read(record, decoder)
    }
  }
}
