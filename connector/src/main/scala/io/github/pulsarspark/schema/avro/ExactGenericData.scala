package io.github.pulsarspark.schema.avro

import org.apache.avro.Schema
import org.apache.avro.generic.GenericData

/** Avro's generic data with arrays that keep what is put in: those of Avro 1.12.0 cut doubles to floats (AVRO-2108). */
private[schema] object ExactGenericData extends GenericData {
  override def newArray(old: Any, size: Int, schema: Schema): AnyRef = new GenericData.Array[Any](size, schema)
}
