package io.github.pulsarspark.fuzz

import java.nio.charset.StandardCharsets.UTF_8

/** A decoder of bytes from outside, as a fuzzer calls it. The static forwarder of its object is what Jazzer looks for.
  */
trait FuzzTarget {

  /** Inputs as Pulsar, its offloaders or this connector write them, all of which the decoder accepts. */
  def seeds: Seq[Array[Byte]]

  /** Decodes the bytes to the end. Its result has to be the same each time. */
  def decode(bytes: Array[Byte]): Any

  /** Exceptions, besides named conditions, by which the decoder refuses bytes: its callers turn them into conditions.
    */
  def refusals: Set[Class[_]] = Set.empty

  /** Bytes that may be allocated for any input, such as the limit of a message. Each byte of the input may add some. */
  def allowance: Long = 4L << 20

  final def fuzzerTestOneInput(bytes: Array[Byte]): Unit = FuzzRule.check(this, bytes)

  final def name: String = getClass.getName.stripSuffix("$")
}

/** Decoders of texts. */
trait TextFuzzTarget extends FuzzTarget {
  def texts: Seq[String]
  def decode(text: String): Any

  final override def seeds: Seq[Array[Byte]]         = texts.map(_.getBytes(UTF_8))
  final override def decode(bytes: Array[Byte]): Any = decode(new String(bytes, UTF_8))
}
