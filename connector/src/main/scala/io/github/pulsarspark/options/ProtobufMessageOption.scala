package io.github.pulsarspark.options

import io.github.pulsarspark.options.registry.CheckedOptions

/** The user's descriptor of the message of a PROTOBUF schema. The driver reads it and sends it to tasks.
  *
  * @param files
  *   a FileDescriptorSet
  */
private[pulsarspark] final case class ProtobufMessageOption(name: String, source: String, files: Seq[Byte])

private[options] object ProtobufMessageOption {
  private val File = "protobuf.descriptorFile"

  def apply(options: CheckedOptions): Option[ProtobufMessageOption] = options.get(File).map { path =>
    ProtobufMessageOption(options("protobuf.message"), path, NamedFile.readLarge(File, path).toIndexedSeq)
  }
}
