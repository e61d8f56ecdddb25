package io.github.pulsarspark.storage.offload

import java.io.ByteArrayInputStream

import org.apache.hadoop.fs.{PositionedReadable, Seekable}

/** A file in memory. */
private[offload] final class SeekableBytes(bytes: Array[Byte])
    extends ByteArrayInputStream(bytes) with Seekable with PositionedReadable {

  override def seek(to: Long): Unit =
    if (to < 0 || to > bytes.length) throw new java.io.EOFException(s"no byte $to") else pos = to.toInt
  override def getPos: Long                           = pos.toLong
  override def seekToNewSource(target: Long): Boolean = false

  override def read(position: Long, into: Array[Byte], offset: Int, length: Int): Int =
    throw new UnsupportedOperationException
  override def readFully(position: Long, into: Array[Byte], offset: Int, length: Int): Unit =
    throw new UnsupportedOperationException
  override def readFully(position: Long, into: Array[Byte]): Unit = throw new UnsupportedOperationException
}
