package io.github.pulsarspark.schema.protobuf

import scala.util.control.NonFatal

import com.google.protobuf.Descriptors.Descriptor
import org.apache.spark.sql.types._

import io.github.pulsarspark.errors.{Conditions, PulsarError}
import io.github.pulsarspark.schema.convert.UnsupportedSchema
import io.github.pulsarspark.schema.columns.{ColumnMerge, UserColumns}
import io.github.pulsarspark.schema.{SchemaFormat, TopicSchema, ValueColumns, ValueDecoder, ValueEncoder, WritePlan}

/** PROTOBUF_NATIVE schemas contain the descriptor of their message, PROTOBUF ones a part of it. */
private[pulsarspark] object ProtobufFormat extends SchemaFormat {

  override val schemaTypes: Set[String] = Set("PROTOBUF_NATIVE", ProtobufParsingInfo.Type)

  override def columns(topic: String, schema: TopicSchema): StructType = {
    val found = message(topic, schema, Nil)
    ValueColumns.ofRecord(ValueColumns.reading(topic, schema)(ProtobufSchemas.sparkType(found)))
  }

  /** A message of which every field has its default. */
  override def hasEmptyValues(topic: String, writer: TopicSchema): Boolean = true

  override def isRecord(topic: String, schema: TopicSchema): Boolean = true

  override def decoder(
      topic: String,
      writer: TopicSchema,
      reader: TopicSchema,
      required: StructType,
      ordinals: Array[Int]
  ): ValueDecoder = {
    val own = message(topic, reader, required.fieldNames.toSeq)
    // The user's word counts for a schema that says nothing of its message.
    def known(schema: TopicSchema) =
      if (reader.message.isDefined && ProtobufParsingInfo.isMissing(schema)) own else declared(topic, schema)
    ProtobufDecoder(known(writer), known(reader), own, required, ordinals)
  }

  override def checkKnown(topic: String, schema: TopicSchema, required: StructType): Unit = {
    message(topic, schema, required.fieldNames.toSeq)
    ()
  }

  override def encoder(plan: WritePlan): ValueEncoder =
    ProtobufEncoder(plan, message(plan.topicName, plan.schema, plan.valueColumns.fieldNames.toSeq))

  override def fromColumns(plan: WritePlan, schemaType: String): Either[String, TopicSchema] =
    Left("such a schema is made from a message and not from columns, and the topic does not have one yet")

  /** Descriptors are taken as they are: the one that has the fields of both. */
  override def merge(topic: String, known: TopicSchema, newest: TopicSchema): Either[String, TopicSchema] =
    if (newest.message.isDefined) Right(newest) // the user says what there is
    else {
      val (was, is) = (columns(topic, known), columns(topic, newest))
      ColumnMerge(was, is).left.map(d => s"column `${d.path}` was ${d.one.sql} and is ${d.other.sql}").flatMap { all =>
        Seq(is -> newest, was -> known)
          .collectFirst { case (columns, schema) if UserColumns.mismatch(all, columns).isEmpty => schema }
          .toRight(s"fields were removed and others added, and for ${newest.schemaType} no schema is made of both")
      }
    }

  /** Message descriptor that the schema itself contains. */
  private def declared(topic: String, schema: TopicSchema): Descriptor = parsing(topic, schema) {
    if (schema.schemaType == ProtobufParsingInfo.Type) ProtobufParsingInfo.declared(schema)
    else ProtobufSchemas.parse(schema.definition)
  }

  /** The message, as the user or else the schema describes it; fails when a requested field is incomplete there. */
  private def message(topic: String, schema: TopicSchema, names: Seq[String]): Descriptor = {
    val found = schema.message.fold(declared(topic, schema))(own => parsing(topic, schema)(ProtobufSchemas.parse(own)))
    names.flatMap(name => Option(found.findFieldByName(name))).find(!ProtobufParsingInfo.isComplete(_)).foreach { f =>
      throw Conditions.ProtobufFieldUnknown(topic = topic, field = f.getName,
        fieldType = ProtobufWidening.text(f)).exception
    }
    found
  }

  /** A PROTOBUF schema with the descriptor that the user sets.
    *
    * @param files
    *   a FileDescriptorSet, from the file `source`
    */
  def described(topic: String, own: TopicSchema, source: String, files: Array[Byte], message: String): TopicSchema = {
    def refused(reason: String) =
      Conditions.ProtobufDescriptor(message = message, source = source, topic = topic, reason = reason).exception
    if (own.schemaType != ProtobufParsingInfo.Type)
      throw refused(s"its schema is of type ${own.schemaType}, and only PROTOBUF lacks a descriptor")
    val definition =
      try ProtobufSchemas.definition(files, message)
      catch {
        case e: UnsupportedSchema => throw refused(e.getMessage)
        case NonFatal(e)          => throw refused(s"the file is not a FileDescriptorSet: ${e.getMessage}")
      }
    val found =
      try ProtobufSchemas.parse(definition)
      catch {
        case NonFatal(e) =>
          throw refused(s"${e.getMessage} (protoc puts imports into the file with --include_imports)")
      }
    if (!ProtobufParsingInfo.isMissing(own))
      parsing(topic, own)(ProtobufParsingInfo.disagreement(own, found)).foreach(reason => throw refused(reason))
    own.copy(message = Some(definition))
  }

  private def parsing[T](topic: String, schema: TopicSchema)(body: => T): T =
    try ValueColumns.reading(topic, schema)(body)
    catch {
      case error: PulsarError => throw error
      case NonFatal(e)        =>
        throw ValueColumns.notReadable(topic, schema, s"its definition has no descriptor of a message: ${e.getMessage}")
    }
}
