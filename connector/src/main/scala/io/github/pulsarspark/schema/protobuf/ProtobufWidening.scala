package io.github.pulsarspark.schema.protobuf

import com.google.protobuf.Descriptors.FieldDescriptor
import com.google.protobuf.Descriptors.FieldDescriptor.Type

/** Decides which types of a field can be read as which others without a loss; protobuf itself would cut numbers that
  * are too large.
  */
private[schema] object ProtobufWidening {

  private val others: Set[(Type, Type)] = Set(
    Type.INT32  -> Type.INT64,
    Type.UINT32 -> Type.INT64,
    Type.UINT32 -> Type.UINT64,
    Type.SINT32 -> Type.SINT64,
    Type.BOOL   -> Type.INT32,
    Type.BOOL   -> Type.UINT32,
    Type.BOOL   -> Type.INT64,
    Type.BOOL   -> Type.UINT64,
    Type.ENUM   -> Type.INT32,
    Type.ENUM   -> Type.INT64,
    Type.STRING -> Type.BYTES
  )

  def apply(written: FieldDescriptor, read: FieldDescriptor): Boolean =
    // A field that was single is an array of one, and not the other way round.
    (read.isRepeated || !written.isRepeated) && written.isMapField == read.isMapField && (
      if (written.isMapField)
        (1 to 2).forall(n =>
          apply(written.getMessageType.findFieldByNumber(n), read.getMessageType.findFieldByNumber(n))
        )
      else written.getType == read.getType || others(written.getType -> read.getType)
    )

  def text(field: FieldDescriptor): String =
    (if (field.isMapField) "a map" else field.getType.name.toLowerCase) +
      (if (field.isRepeated && !field.isMapField) ", repeated" else "")
}
