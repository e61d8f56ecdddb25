package io.github.pulsarspark.format

/** Depth to which an entry is decoded for the columns of a scan. Each depth includes the ones before it. */
sealed abstract class DecodeDepth(private val depth: Int) extends Ordered[DecodeDepth] {
  override def compare(that: DecodeDepth): Int = Integer.compare(depth, that.depth)
}

object DecodeDepth {

  /** Decodes the number of messages and the fields that they share. Nothing is decompressed. */
  case object Entry extends DecodeDepth(0)

  /** Decodes the fields of each message as well: keys, properties, times, and the place of its value. */
  case object Message extends DecodeDepth(1)
}
