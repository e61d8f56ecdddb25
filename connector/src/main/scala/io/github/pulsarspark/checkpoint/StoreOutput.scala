package io.github.pulsarspark.checkpoint

import java.io.{ByteArrayOutputStream, IOException, OutputStream}

import io.github.pulsarspark.errors.Occurrence

/** Collects a file, which exists when it is closed.
  *
  * @param limit
  *   most bytes
  * @param full
  *   the error for more
  * @param finish
  *   writes the file
  */
private[checkpoint] final class StoreOutput(limit: Long, full: Long => Occurrence, finish: Array[Byte] => Unit)
    extends OutputStream {
  private val bytes  = new ByteArrayOutputStream
  private var isOpen = true

  override def write(byte: Int): Unit = {
    check(1)
    bytes.write(byte)
  }

  override def write(from: Array[Byte], offset: Int, length: Int): Unit = {
    check(length)
    bytes.write(from, offset, length)
  }

  private def check(more: Int): Unit = {
    if (!isOpen) throw new IOException("the stream is closed")
    val size = bytes.size.toLong + more
    if (size > limit) throw full(size).exception
  }

  override def close(): Unit = if (isOpen) {
    isOpen = false
    finish(bytes.toByteArray)
  }
}
