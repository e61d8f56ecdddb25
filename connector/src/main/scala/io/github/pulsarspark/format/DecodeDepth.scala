package io.github.pulsarspark.format

/** How deep an entry must be opened for the columns of a scan; each depth includes the ones before it. */
sealed abstract class DecodeDepth(private val depth: Int) extends Ordered[DecodeDepth] {
  override def compare(that: DecodeDepth): Int = Integer.compare(depth, that.depth)
}

object DecodeDepth {

  /** Only what all messages of an entry share, and their number: nothing is decompressed. */
  case object Entry extends DecodeDepth(0)

  /** Also what each message has of its own: keys, properties, times, and the place of its value. */
  case object Message extends DecodeDepth(1)
}
