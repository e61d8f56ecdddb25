package io.github.pulsarspark.schema.protobuf

import java.nio.charset.StandardCharsets.UTF_8

import scala.jdk.CollectionConverters._
import scala.util.Random

import com.google.protobuf.{DynamicMessage, TextFormat}
import com.google.protobuf.DescriptorProtos.FileDescriptorProto
import com.google.protobuf.Descriptors.{Descriptor, FieldDescriptor, FileDescriptor}
import com.google.protobuf.Descriptors.FieldDescriptor.JavaType
import org.apache.pulsar.client.impl.schema.ProtobufNativeSchemaUtils
import org.apache.spark.sql.catalyst.InternalRow
import org.apache.spark.sql.catalyst.expressions.SpecificInternalRow
import org.apache.spark.sql.types.StructType

import io.github.pulsarspark.format.entry.MessageView
import io.github.pulsarspark.micro.Turns
import io.github.pulsarspark.schema.TopicSchema
import io.github.pulsarspark.schema.rows.{Messages, SchemaTranslation, WritePlanner}

/** Protobuf messages, read and written by our own code and by the library's dynamic messages. */
object ProtobufThroughput {
  private val Count = 1000

  /** Types of the fields of a flat message, of which wider ones have several. */
  private val Flat = Seq("INT64", "STRING", "INT64", "ENUM", "DOUBLE", "INT32", "STRING", "DOUBLE", "BOOL", "STRING")

  private def field(name: String, number: Int, kind: String, more: String = ""): String =
    s"""field { name: "$name" number: $number type: TYPE_$kind label: LABEL_OPTIONAL $more } """

  private def flat(width: Int): String = (0 until width).map { i =>
    val kind = Flat(i % Flat.size)
    field(s"f$i", i + 1, kind, if (kind == "ENUM") "type_name: '.Kind'" else "")
  }.mkString

  private def descriptor(fields: String, nested: String = ""): Descriptor = {
    val file = FileDescriptorProto.newBuilder
    TextFormat.merge(
      s"""name: "m.proto" syntax: "proto3"
         enum_type { name: "Kind" value { name: "VIEW" number: 0 } value { name: "CLICK" number: 1 } }
         message_type { name: "M" $fields }
         $nested""",
      file
    )
    FileDescriptor.buildFrom(file.build, Array.empty[FileDescriptor]).findMessageTypeByName("M")
  }

  /** An order: a customer and three items, each a message of its own. */
  private val order = descriptor(
    field("id", 1, "INT64") + field("customer", 2, "MESSAGE", "type_name: '.Part'") +
      """field { name: "items" number: 3 type: TYPE_MESSAGE label: LABEL_REPEATED type_name: ".Part" }
         field { name: "codes" number: 4 type: TYPE_INT32 label: LABEL_REPEATED }""",
    s"""message_type { name: "Part" ${field("id", 1, "INT64") + field("name", 2, "STRING") +
        field("price", 3, "DOUBLE")} }"""
  )

  private final class Values(random: Random) {
    def message(m: Descriptor): DynamicMessage = {
      val result = DynamicMessage.newBuilder(m)
      m.getFields.asScala.foreach { f =>
        if (f.isRepeated) (0 until 3).foreach(_ => result.addRepeatedField(f, one(f))) else result.setField(f, one(f))
      }
      result.build
    }

    private def one(f: FieldDescriptor): Any = f.getJavaType match {
      case JavaType.INT     => random.nextInt(1000)
      case JavaType.LONG    => 1700000000000L + random.nextInt()
      case JavaType.DOUBLE  => random.nextDouble()
      case JavaType.BOOLEAN => random.nextBoolean()
      case JavaType.STRING  => random.alphanumeric.take(12).mkString
      case JavaType.ENUM    => f.getEnumType.getValues.get(random.nextInt(2))
      case JavaType.MESSAGE => message(f.getMessageType)
      case other            => sys.error(s"$other")
    }
  }

  def cases(): Seq[Turns.Case] =
    Seq("10 fields" -> descriptor(flat(10)), "30 fields" -> descriptor(flat(30)), "an order" -> order)
      .flatMap { case (name, message) => of(name, message) }

  private def of(name: String, message: Descriptor): Seq[Turns.Case] = {
    val schema   = TopicSchema("PROTOBUF_NATIVE", new String(ProtobufNativeSchemaUtils.serialize(message), UTF_8))
    val all      = SchemaTranslation.toStruct(Messages.topic, schema)
    val few      = StructType(Seq(0, all.size / 3, 2 * all.size / 3).map(all(_)).distinct)
    val values   = new Values(new Random(20261123))
    val messages = Array.fill(Count)(Messages.of(values.message(message).toByteArray))
    Seq(all, few).flatMap(reads(name, schema, message, _, messages)) ++ writes(name, schema, message, all, messages)
  }

  private def reads(
      name: String,
      schema: TopicSchema,
      message: Descriptor,
      wanted: StructType,
      messages: Array[MessageView]
  ): Seq[Turns.Case] = {
    val row      = new SpecificInternalRow(wanted)
    val ordinals = wanted.indices.toArray
    Seq(
      "connector"      -> ProtobufFormat.decoder(Messages.topic, schema, schema, wanted, ordinals),
      "DynamicMessage" -> DynamicMessages.decoder(message, wanted, ordinals)
    ).map { case (who, decoder) =>
      Turns.Case(s"$name, ${wanted.size} read", who, Count, () => messages.foreach(decoder.decode(_, row)))
    }
  }

  private def writes(
      name: String,
      schema: TopicSchema,
      message: Descriptor,
      all: StructType,
      messages: Array[MessageView]
  ): Seq[Turns.Case] = {
    val decoder = Messages.decoder(schema, all)
    val rows    = messages.map(decoder.decode(_).copy())
    val own     = ProtobufFormat.encoder(WritePlanner(all, Some(Messages.topic), Some(schema), "auto"))
    val dynamic = DynamicMessages.encoder(message, all)
    Seq[(String, InternalRow => Any)]("connector" -> (own.encode(_)), "DynamicMessage" -> dynamic).map {
      case (who, encode) => Turns.Case(s"$name, written", who, Count, () => rows.foreach { r => encode(r); () })
    }
  }
}
