package io.github.pulsarspark.schema

import java.nio.ByteBuffer

/** The text of schema versions. */
private[pulsarspark] object SchemaVersions {

  /** The number in the eight bytes Pulsar's own registry uses, hexadecimal for any other registry, `none` without a
    * version.
    */
  def text(version: Array[Byte]): String =
    if (version.isEmpty) "none"
    else if (version.length == 8) ByteBuffer.wrap(version).getLong.toString
    else version.map("%02x".format(_)).mkString("0x", "", "")
}
