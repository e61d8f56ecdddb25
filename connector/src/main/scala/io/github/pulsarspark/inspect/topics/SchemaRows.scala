package io.github.pulsarspark.inspect.topics

import java.nio.ByteBuffer

import scala.util.Try

import io.github.pulsarspark.schema.TopicSchema
import io.github.pulsarspark.schema.rows.SchemaTranslation

/** Values of columns that describe a schema. Pure. */
private[topics] object SchemaRows {

  /** Number of the version, if the cluster reports one. */
  def version(schema: TopicSchema): Option[Long] =
    Option.when(schema.version.size == java.lang.Long.BYTES)(ByteBuffer.wrap(schema.version.toArray).getLong)

  /** Bytes of a version, as messages have them. */
  def bytes(version: Long): Array[Byte] = ByteBuffer.allocate(java.lang.Long.BYTES).putLong(version).array

  /** The columns of a read with this schema, as DDL; None for a schema that is not read. */
  def columns(topic: String, schema: TopicSchema): Option[String] =
    Try(SchemaTranslation.toStruct(topic, schema).toDDL).toOption
}
