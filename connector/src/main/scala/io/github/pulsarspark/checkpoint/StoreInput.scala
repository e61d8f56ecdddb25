package io.github.pulsarspark.checkpoint

import java.io.EOFException

import org.apache.hadoop.fs.FSInputStream

/** Reads a file from memory. */
private[checkpoint] final class StoreInput(bytes: Array[Byte]) extends FSInputStream {
  private var place  = 0
  private var isOpen = true

  override def getPos: Long = place.toLong

  override def seek(to: Long): Unit = {
    checkOpen()
    if (to < 0 || to > bytes.length) throw new EOFException(s"a seek to $to in a file of ${bytes.length} bytes")
    place = to.toInt
  }

  override def seekToNewSource(target: Long): Boolean = false

  override def available: Int = bytes.length - place

  override def read(): Int = {
    checkOpen()
    if (place == bytes.length) -1
    else {
      place += 1
      bytes(place - 1) & 0xff
    }
  }

  override def read(into: Array[Byte], from: Int, most: Int): Int = {
    checkOpen()
    if (most == 0) 0
    else if (place == bytes.length) -1
    else {
      val size = math.min(most, available)
      System.arraycopy(bytes, place, into, from, size)
      place += size
      size
    }
  }

  private def checkOpen(): Unit = if (!isOpen) throw new java.io.IOException("the stream is closed")

  override def close(): Unit = isOpen = false
}
