package io.github.pulsarspark.options

import java.nio.file.{Files, Path}

import scala.util.control.NonFatal

import io.github.pulsarspark.errors.Conditions
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
    val files =
      try Files.readAllBytes(Path.of(path))
      catch {
        case NonFatal(e) =>
          throw Conditions.OptionInvalid(option = File, value = path,
            allowed = s"a file that the driver can read; $e").exception
      }
    ProtobufMessageOption(options("protobuf.message"), path, files.toIndexedSeq)
  }
}
