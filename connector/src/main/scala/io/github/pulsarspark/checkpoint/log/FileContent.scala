package io.github.pulsarspark.checkpoint.log

import java.util.Arrays
import java.util.zip.CRC32

import io.github.pulsarspark.position.Position

/** Content of a file, or the places where it is stored. */
private[checkpoint] sealed trait FileContent {

  /** Bytes of the content. */
  def size: Long

  /** Bytes that each JVM with the store has in memory for it. */
  def held: Long
}

/** Content in the log itself; nobody changes the array. */
private[checkpoint] final class Content(val bytes: Array[Byte]) extends FileContent {
  override def size: Long = bytes.length.toLong
  override def held: Long = size

  override def hashCode: Int               = Arrays.hashCode(bytes)
  override def equals(other: Any): Boolean = other match {
    case that: Content => Arrays.equals(bytes, that.bytes)
    case _             => false
  }
  override def toString: String = s"Content(${bytes.length} bytes)"
}

/** Content that is stored apart from the log.
  *
  * @param checksum
  *   CRC-32 of it
  * @param places
  *   records of the other topic that have its parts, in order
  * @param since
  *   bytes that had been stored apart when the log got it; the log counts them
  */
private[checkpoint] final case class Apart(size: Long, checksum: Long, places: Seq[Position], since: Long = 0)
    extends FileContent {
  override def held: Long = Apart.PlaceBytes * places.size
}

private[checkpoint] object Apart {
  private val PlaceBytes = 16L

  def checksum(bytes: Array[Byte]): Long = {
    val sum = new CRC32
    sum.update(bytes)
    sum.getValue
  }
}
