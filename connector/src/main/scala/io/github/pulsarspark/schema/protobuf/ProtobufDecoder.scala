package io.github.pulsarspark.schema.protobuf

import scala.jdk.CollectionConverters._

import com.google.protobuf.Descriptors.{Descriptor, FieldDescriptor}
import com.google.protobuf.Descriptors.FieldDescriptor.JavaType
import org.apache.spark.sql.catalyst.InternalRow
import org.apache.spark.sql.types._

import io.github.pulsarspark.format.entry.{MessageView, ProtobufCursor}
import io.github.pulsarspark.schema.ValueDecoder
import io.github.pulsarspark.schema.convert.{SparkTime, UnresolvableSchema}

/** PROTOBUF_NATIVE and PROTOBUF values: the fields of a message are the columns.
  *
  * Numbers identify fields, so messages of any version are read with the reader's schema; the writer's is only compared
  * for numbers that mean something else.
  */
private[schema] object ProtobufDecoder {

  /** @param writer
    *   descriptor of the message in the schema of the values
    * @param reader
    *   descriptor of the message in the schema to read by
    * @param message
    *   the message itself, which is `reader` unless that knows only a part of it
    * @param required
    *   requested value columns
    * @param ordinals
    *   where in the row each of them goes
    */
  def apply(
      writer: Descriptor,
      reader: Descriptor,
      message: Descriptor,
      required: StructType,
      ordinals: Array[Int]
  ): ValueDecoder = {
    checkFields(writer, reader, required)
    val fields = compile(message, required, ordinals, required.size, identity)
    val in     = new ProtobufCursor("malformed message")
    new ValueDecoder {
      override def decode(m: MessageView, row: InternalRow): Unit = {
        in.over(m.bytes, m.valueOffset, m.valueLength)
        fields.startAll(row)
        fields.readAll(in, row)
        fields.finishAll(row)
      }
    }
  }

  private def compile(
      message: Descriptor,
      required: StructType,
      ordinals: Array[Int],
      size: Int,
      show: InternalRow => Any
  ): ProtobufMessage = {
    val fields = for {
      (column, ordinal) <- required.fields.toSeq.zip(ordinals)
      field             <- Option(message.findFieldByName(column.name))
    } yield field -> of(field, column.dataType, ordinal)
    val known  = fields.toMap
    val rivals =
      fields.flatMap { case (f, _) => members(f) }.distinct.filterNot(known.contains).map(_ -> new ProtobufField.Rival)
    val all = (fields ++ rivals).sortBy(_._1.getNumber)
    all.foreach { case (f, field) => field.rivals = members(f).filterNot(_ == f).flatMap(known.get).toArray }
    new ProtobufMessage(all.map(_._1.getNumber).toArray, all.map(_._2).toArray, size, show)
  }

  private def members(field: FieldDescriptor): Seq[FieldDescriptor] =
    Option(field.getRealContainingOneof).fold(Seq.empty[FieldDescriptor])(_.getFields.asScala.toSeq)

  private def of(field: FieldDescriptor, required: DataType, ordinal: Int): ProtobufField =
    (required, field.getJavaType) match {
      case (MapType(_, value, _), _) if field.isMapField =>
        val entry = field.getMessageType
        new ProtobufField.Mapping(ProtobufScalar(entry.findFieldByNumber(1)), item(entry.findFieldByNumber(2), value),
          ordinal)
      case (ArrayType(element, _), _) => new ProtobufField.Repeated(item(field, element), ordinal)
      case (_, JavaType.MESSAGE)      => new ProtobufField.Embedded(embedded(field.getMessageType, required), ordinal)
      case _                          =>
        val scalar = ProtobufScalar(field)
        new ProtobufField.Single(scalar, if (field.hasPresence) null else scalar.default, ordinal)
    }

  private def item(field: FieldDescriptor, required: DataType): ProtobufField.Item =
    if (field.getJavaType == JavaType.MESSAGE) ProtobufField.item(embedded(field.getMessageType, required))
    else ProtobufField.item(ProtobufScalar(field))

  private def embedded(message: Descriptor, required: DataType): ProtobufMessage = required match {
    case struct: StructType => compile(message, struct, struct.indices.toArray, struct.size, identity)
    case single             =>
      val fields                   = ProtobufSchemas.sparkType(message)
      val show: InternalRow => Any = single match {
        case TimestampType | _: DayTimeIntervalType => row => SparkTime.ofSeconds(row.getLong(0), row.getInt(1).toLong)
        case _                                      => row => row.get(0, single)
      }
      compile(message, fields, fields.indices.toArray, fields.size, show)
  }

  /** Fails if a field number has another type in the writer's schema that cannot be read as the field. */
  private def checkFields(writer: Descriptor, reader: Descriptor, required: StructType): Unit =
    for {
      column  <- required.fields
      field   <- Option(reader.findFieldByName(column.name))
      written <- Option(writer.findFieldByNumber(field.getNumber))
    } {
      if (!ProtobufWidening(written, field))
        throw new UnresolvableSchema(
          s"field ${field.getNumber} is ${ProtobufWidening.text(written)} there" +
            s" and ${ProtobufWidening.text(field)} here"
        )
      (column.dataType, field.getJavaType) match {
        case (StructOf(struct), JavaType.MESSAGE) if !field.isMapField =>
          checkFields(written.getMessageType, field.getMessageType, struct)
        case _ => ()
      }
    }

  private object StructOf {
    def unapply(dataType: DataType): Option[StructType] = dataType match {
      case struct: StructType               => Some(struct)
      case ArrayType(struct: StructType, _) => Some(struct)
      case _                                => None
    }
  }
}
