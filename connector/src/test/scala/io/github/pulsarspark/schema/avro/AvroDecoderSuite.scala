package io.github.pulsarspark.schema.avro

import scala.util.Random

import org.apache.avro.Schema
import org.apache.spark.sql.types.StructType
import org.scalacheck.Prop.forAll

import io.github.pulsarspark.PropertySuite
import io.github.pulsarspark.errors.PulsarError
import io.github.pulsarspark.schema.TopicSchema
import io.github.pulsarspark.schema.rows.{Messages, Plain, SchemaTranslation}

/** Avro's own reader is the oracle. */
class AvroDecoderSuite extends PropertySuite(150) {
  import io.github.pulsarspark.schema.rows.AvroGenerators._

  private def topicSchema(schema: Schema) = TopicSchema("AVRO", schema.toString)

  property("values of Avro's own writer are read") {
    forAll(dataOf(anyRecord)) { case (schema, data) =>
      val columns = SchemaTranslation.toStruct(Messages.topic, topicSchema(schema))
      val decoder = Messages.decoder(topicSchema(schema), columns)
      data.foreach { datum =>
        assertEquals(Plain.ofRow(decoder.decode(Messages.of(encoded(schema, datum))), columns),
          Plain.ofAvro(datum, schema))
      }
    }
  }

  property("a read of some columns returns what a read of all does") {
    forAll(dataOf(anyRecord), org.scalacheck.Gen.choose(0L, Long.MaxValue)) { case ((schema, data), seed) =>
      val columns = SchemaTranslation.toStruct(Messages.topic, topicSchema(schema))
      val some    = pruned(columns, new Random(seed))
      val all     = Messages.decoder(topicSchema(schema), columns)
      val decoder = Messages.decoder(topicSchema(schema), some)
      data.foreach { datum =>
        val message = Messages.of(encoded(schema, datum))
        val whole   = Plain.ofRow(all.decode(message), columns)
        assertEquals[Any, Any](Plain.ofRow(decoder.decode(message), some), restricted(whole, some))
      }
    }
  }

  property("a damaged value is a row or a named error, and takes neither the memory nor the time of the task") {
    forAll(dataOf(anyRecord), org.scalacheck.Gen.choose(0L, Long.MaxValue)) { case ((schema, data), seed) =>
      val random  = new Random(seed)
      val columns = SchemaTranslation.toStruct(Messages.topic, topicSchema(schema))
      val decoder = Messages.decoder(topicSchema(schema), columns)
      data.foreach { datum =>
        val bytes   = encoded(schema, datum)
        val damaged = bytes.take(random.nextInt(bytes.length + 1)).map(b =>
          if (random.nextInt(8) == 0) random.nextInt().toByte else b
        )
        try { decoder.decode(Messages.of(damaged)); () }
        catch { case e: PulsarError => assertEquals(e.condition, "PULSAR_VALUE_NOT_DECODABLE") }
      }
    }
  }

  private def pruned(struct: StructType, random: Random): StructType =
    StructType(random.shuffle(struct.fields.toSeq).take(1 + random.nextInt(struct.size)).map { f =>
      f.dataType match {
        case nested: StructType => f.copy(dataType = pruned(nested, random))
        case _                  => f
      }
    })

  private def restricted(value: Any, struct: StructType): Any = value match {
    case fields: Map[_, _] =>
      struct.fields.map { f =>
        val inner = fields.asInstanceOf[Map[String, Any]](f.name)
        f.name ->
          (f.dataType match {
            case nested: StructType => restricted(inner, nested)
            case _                  => inner
          })
      }.toMap
    case other => other
  }
}
