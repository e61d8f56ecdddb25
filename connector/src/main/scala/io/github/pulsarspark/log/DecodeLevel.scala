package io.github.pulsarspark.log

/** How deep an entry must be opened for the columns that a scan asks for; each level includes the ones before it. */
sealed abstract class DecodeLevel(private val depth: Int) extends Ordered[DecodeLevel] {
  override def compare(that: DecodeLevel): Int = Integer.compare(depth, that.depth)
}

object DecodeLevel {

  /** Only what all messages of an entry share, and their number: nothing is decompressed. */
  case object Entry extends DecodeLevel(0)

  /** Also what each message has of its own: keys, properties, times, and the place of its value. */
  case object Message extends DecodeLevel(1)
}
