package io.github.pulsarspark.schema.protobuf

import com.google.protobuf.DescriptorProtos.FileDescriptorSet
import com.google.protobuf.{DescriptorProtos, TimestampProto}

import io.github.pulsarspark.fuzz.FuzzTarget
import io.github.pulsarspark.schema.TopicSchema
import io.github.pulsarspark.schema.rows.{Messages, SchemaTranslation}

/** The file of `protobuf.descriptorFile`, for a topic whose schema says nothing of its message. */
object DescriptorFileFuzz extends FuzzTarget {
  private val own = TopicSchema("PROTOBUF", """{"type":"record","name":"Type","fields":[]}""")

  private val file = DescriptorProtos.FileDescriptorProto.newBuilder.setName("a.proto").setPackage("google.protobuf")
    .setSyntax("proto3").addMessageType(
      DescriptorProtos.DescriptorProto.newBuilder.setName("Timestamp").addField(
        DescriptorProtos.FieldDescriptorProto.newBuilder.setName("seconds").setNumber(1)
          .setType(DescriptorProtos.FieldDescriptorProto.Type.TYPE_INT64)
          .setLabel(DescriptorProtos.FieldDescriptorProto.Label.LABEL_REPEATED)
      )
    )

  override def seeds: Seq[Array[Byte]] = Seq(
    FileDescriptorSet.newBuilder.addFile(TimestampProto.getDescriptor.toProto).build.toByteArray,
    FileDescriptorSet.newBuilder.addFile(file).build.toByteArray
  )

  override def decode(bytes: Array[Byte]): Any = {
    val described = ProtobufFormat.described(Messages.topic, own, "a.desc", bytes, "google.protobuf.Timestamp")
    SchemaTranslation.toStruct(Messages.topic, described).sql
  }
}
