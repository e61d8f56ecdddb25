package io.github.pulsarspark.schema.json

import java.math.BigDecimal

import com.fasterxml.jackson.core.{JsonFactory, JsonGenerator, SerializableString, StreamWriteFeature}
import org.apache.spark.unsafe.types.UTF8String

import io.github.pulsarspark.schema.avro.RecordFormat
import io.github.pulsarspark.schema.columns.EncodedValue

/** JSON as Pulsar's Java client writes it: values of unions plain, bytes in base64, NaN and infinities as texts. Not
  * thread-safe.
  *
  * Nulls are written where Java leaves them out, so that a reader never takes a null for its own default.
  */
private[schema] final class JsonOutput extends RecordFormat.Output {
  private val out                 = new RecordFormat.Collected
  private var json: JsonGenerator = _

  override def reset(): Unit = {
    out.reset()
    json = JsonOutput.factory.createGenerator(out)
  }

  override def result(value: EncodedValue): Unit = {
    json.close()
    out.refer(value)
  }

  override def empty(): Unit                               = json.writeNull()
  override def boolean(value: Boolean): Unit               = json.writeBoolean(value)
  override def int(value: Int): Unit                       = json.writeNumber(value)
  override def long(value: Long): Unit                     = json.writeNumber(value)
  override def float(value: Float): Unit                   = json.writeNumber(value)
  override def double(value: Double): Unit                 = json.writeNumber(value)
  override def text(value: UTF8String): Unit               = json.writeString(value.toString)
  override def bytes(value: Array[Byte]): Unit             = json.writeBinary(value)
  override def fixed(value: Array[Byte]): Unit             = json.writeBinary(value)
  override def decimal(value: BigDecimal, size: Int): Unit = json.writeNumber(value.toPlainString)
  override def symbol(index: Int, name: UTF8String): Unit  = text(name)
  override def branch(index: Int): Unit                    = ()
  override def startRecord(): Unit                         = json.writeStartObject()
  override def field(name: SerializableString): Unit       = json.writeFieldName(name)
  override def endRecord(): Unit                           = json.writeEndObject()
  override def startArray(size: Int): Unit                 = json.writeStartArray()
  override def item(): Unit                                = ()
  override def endArray(): Unit                            = json.writeEndArray()
  override def startMap(size: Int): Unit                   = json.writeStartObject()
  override def key(name: UTF8String): Unit                 = json.writeFieldName(name.toString)
  override def endMap(): Unit                              = json.writeEndObject()
}

private[schema] object JsonOutput {
  private val factory = new JsonFactory().enable(StreamWriteFeature.USE_FAST_DOUBLE_WRITER.mappedFeature)
}
