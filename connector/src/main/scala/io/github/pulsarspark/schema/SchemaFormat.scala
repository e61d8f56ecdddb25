package io.github.pulsarspark.schema

import org.apache.spark.sql.types.StructType

/** Reads and writes values of some schema types. A format is one folder with an implementation, and one line in
  * `rows.SchemaTranslation`. Pure.
  */
private[pulsarspark] trait SchemaFormat {

  /** Pulsar's names of the types. */
  def schemaTypes: Set[String]

  /** The value columns; fails with `PULSAR_SCHEMA_NOT_READABLE`. */
  def columns(topic: String, schema: TopicSchema): StructType

  /** True if values have fields, which are columns of their own. */
  def isRecord(topic: String, schema: TopicSchema): Boolean

  /** True if values consist of several columns: fields, or a key and a value. */
  def hasFields(topic: String, schema: TopicSchema): Boolean = isRecord(topic, schema)

  /** True if values of one type can be read as values of another. One of the types is of this format. */
  def converts(writer: String, reader: String): Boolean = writer == reader

  /** Compiles the decoder of values of one schema, for rows of another.
    *
    * @param required
    *   the value columns of the rows
    * @param ordinals
    *   the place of each of them in the row
    */
  def decoder(
      topic: String,
      writer: TopicSchema,
      reader: TopicSchema,
      required: StructType,
      ordinals: Array[Int]
  ): ValueDecoder

  /** Fails when `required` has a field that cannot be read. */
  def checkKnown(topic: String, schema: TopicSchema, required: StructType): Unit = ()

  /** True if values read with this schema may point into the bytes of the message. */
  def refersToBytes(reader: TopicSchema): Boolean = true

  /** True if a value may have no bytes. If it may not, an empty payload is a tombstone: clients that cannot send a null
    * value send an empty one, and compaction treats it as a tombstone.
    */
  def hasEmptyValues(topic: String, writer: TopicSchema): Boolean

  /** True if a message without a value still has something to decode. */
  def takesTombstones: Boolean = false

  /** Compiles the encoder of the columns of a plan; fails with [[convert.ColumnMismatch]] when a column does not fit.
    */
  def encoder(plan: WritePlan): ValueEncoder

  /** A schema of a type, derived from the columns of a plan; left with the reason when there is none. */
  def fromColumns(plan: WritePlan, schemaType: String): Either[String, TopicSchema]

  /** The schema to read by after a topic changes from one schema to another of a type that converts: with the new
    * fields and the removed ones. Left with the difference that cannot be resolved.
    */
  def merge(topic: String, known: TopicSchema, newest: TopicSchema): Either[String, TopicSchema]
}
