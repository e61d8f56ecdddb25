package io.github.pulsarspark.schema.avro

import java.util.IdentityHashMap

import scala.jdk.CollectionConverters._

import org.apache.avro.Schema

/** Tells whether every value of a schema takes no bytes in Avro's encoding. Looks at each record once: it may be used
  * many times, and contain itself.
  */
private[avro] final class EmptyValues {
  private val records = new IdentityHashMap[Schema, Boolean]

  def of(schema: Schema): Boolean = schema.getType match {
    case Schema.Type.NULL                                  => true
    case Schema.Type.FIXED                                 => schema.getFixedSize == 0
    case Schema.Type.RECORD if records.containsKey(schema) => records.get(schema)
    case Schema.Type.RECORD                                =>
      records.put(schema, false) // no value of a record that contains itself has an end
      val isEmpty = schema.getFields.asScala.forall(f => of(f.schema))
      records.put(schema, isEmpty)
      isEmpty
    case _ => false
  }
}
