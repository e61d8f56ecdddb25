package io.github.pulsarspark.schema

import org.apache.spark.sql.types.StructType

/** What the connector can do with values of some schema types. A format is one folder with one of these, and one line
  * in `rows.SchemaTranslation`. Pure.
  */
private[pulsarspark] trait SchemaFormat {

  /** Pulsar's names of the types. */
  def schemaTypes: Set[String]

  /** The value columns; fails with `PULSAR_SCHEMA_NOT_READABLE`. */
  def columns(topic: String, schema: TopicSchema): StructType

  /** Whether values have fields, which are columns of their own. */
  def isRecord(topic: String, schema: TopicSchema): Boolean

  /** Whether values are made of several columns: fields, or a key and a value. */
  def hasFields(topic: String, schema: TopicSchema): Boolean = isRecord(topic, schema)

  /** Whether values that were written with one type can be read as values of another one. One of them is of this
    * format.
    */
  def converts(writer: String, reader: String): Boolean = writer == reader

  /** Makes the decoder of values that were written with one schema, for rows of another one.
    *
    * @param wanted
    *   the value columns of the rows
    * @param ordinals
    *   where in the row each of them goes
    */
  def decoder(
      topic: String,
      writer: TopicSchema,
      reader: TopicSchema,
      wanted: StructType,
      ordinals: Array[Int]
  ): ValueDecoder

  /** Fails when `wanted` has a field that cannot be read. */
  def checkKnown(topic: String, schema: TopicSchema, wanted: StructType): Unit = ()

  /** Whether values read with this schema may point into the bytes of the message. */
  def refersToBytes(reader: TopicSchema): Boolean = true

  /** Whether a message without a value has something to decode all the same. */
  def takesTombstones: Boolean = false

  /** Makes what writes the columns of a plan; fails with [[convert.ColumnMismatch]] when a column does not fit. */
  def encoder(plan: WritePlan): ValueEncoder

  /** A schema of a type made from the columns of a plan; left with why there is none. */
  def fromColumns(plan: WritePlan, schemaType: String): Either[String, TopicSchema]

  /** By what a query that has read a topic by one schema reads it when the topic has another of a type that converts:
    * new fields are there, and those that were removed stay. Left with what cannot be read as one.
    */
  def merge(topic: String, known: TopicSchema, newest: TopicSchema): Either[String, TopicSchema]
}
