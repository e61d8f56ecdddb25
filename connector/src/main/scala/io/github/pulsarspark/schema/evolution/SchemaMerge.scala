package io.github.pulsarspark.schema.evolution

import io.github.pulsarspark.schema.avro.AvroSchemaMerge
import io.github.pulsarspark.schema.avro.AvroSchemaMerge.Difference
import io.github.pulsarspark.schema.keyvalue.KeyValueSchema
import io.github.pulsarspark.schema.protobuf.ProtobufParsingInfo
import io.github.pulsarspark.schema.{SchemaTranslation, TopicSchema, ValueDecoder}

/** What a query that has read a topic by one schema reads it by when the topic has another: new fields are there, and
  * those that were removed stay. Pure.
  */
private[pulsarspark] object SchemaMerge {

  /** Left with what cannot be read as one. */
  def apply(topic: String, known: TopicSchema, newest: TopicSchema): Either[String, TopicSchema] =
    merge(topic, known, newest).map(merged =>
      if (merged.definition == newest.definition) newest else merged.copy(unversioned = Some(newest))
    )

  private def merge(topic: String, known: TopicSchema, newest: TopicSchema): Either[String, TopicSchema] =
    (known.schemaType, newest.schemaType) match {
      case (was, is) if was == is && known.definition == newest.definition => Right(newest)
      case ("AVRO" | "JSON", "AVRO" | "JSON")                              => avro(topic, known, newest)
      case (KeyValueSchema.Type, KeyValueSchema.Type)                      => keyValue(topic, known, newest)
      case _ if ValueDecoder.isReadAsBytes(known) && ValueDecoder.isReadAsBytes(newest) => Right(newest)
      case (was, is) if was != is                            => Left(s"values were of type $was and are of type $is")
      case _ if newest.message.isDefined                     => Right(newest) // the user says what there is
      case ("PROTOBUF_NATIVE" | ProtobufParsingInfo.Type, _) => protobuf(topic, known, newest)
      case _                                                 => Right(newest)
    }

  private def avro(topic: String, known: TopicSchema, newest: TopicSchema): Either[String, TopicSchema] = {
    // Both have columns, else the merge could not tell what is the same.
    SchemaTranslation.toStruct(topic, newest)
    val (was, is) = (SchemaTranslation.avroSchema(topic, known), SchemaTranslation.avroSchema(topic, newest))
    // Texts are compared, since aliases do not make Avro's schemas unequal.
    try
      Right(AvroSchemaMerge(was, is).toString match {
        case merged if merged == is.toString  => newest
        case merged if merged == was.toString => newest.copy(definition = known.definition, version = Nil)
        case merged                           => newest.copy(definition = merged, version = Nil)
      })
    catch { case d: Difference => Left(s"column `${d.path}` was ${d.was.sql} and is ${d.is.sql}") }
  }

  private def keyValue(topic: String, known: TopicSchema, newest: TopicSchema): Either[String, TopicSchema] = {
    val (was, is) = (KeyValueSchema.of(known), KeyValueSchema.of(newest))
    for {
      key   <- merge(topic, was.key, is.key).left.map(d => s"of the key, $d")
      value <- merge(topic, was.value, is.value).left.map(d => s"of the value, $d")
    } yield if (key == is.key && value == is.value) newest else is.copy(key = key, value = value).toTopicSchema()
  }

  /** Descriptors are taken as they are: the one that has the fields of both. */
  private def protobuf(topic: String, known: TopicSchema, newest: TopicSchema): Either[String, TopicSchema] = {
    val (was, is) = (SchemaTranslation.toStruct(topic, known), SchemaTranslation.toStruct(topic, newest))
    ColumnMerge(was, is).left.map(d => s"column `${d.path}` was ${d.one.sql} and is ${d.other.sql}").flatMap { all =>
      Seq(is -> newest, was -> known).collectFirst {
        case (columns, schema) if SchemaTranslation.mismatch(all, columns).isEmpty => schema
      }
        .toRight(s"fields were removed and others added, and for ${newest.schemaType} no schema is made of both")
    }
  }
}
