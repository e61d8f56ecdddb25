package io.github.pulsarspark.fuzz

import java.nio.ByteBuffer

/** Several byte strings in one input, each behind its length in two bytes; the last is what is left. */
private[pulsarspark] object Pieces {
  def joined(pieces: Array[Byte]*): Array[Byte] =
    pieces.flatMap(piece => ByteBuffer.allocate(2).putShort(piece.length.toShort).array ++ piece).toArray

  def of(bytes: Array[Byte]): List[Array[Byte]] = bytes.length match {
    case length if length <= 2 => Nil
    case _                     =>
      val size = math.min(bytes.length - 2, ByteBuffer.wrap(bytes).getShort & 0xffff)
      bytes.slice(2, 2 + size) :: of(bytes.drop(2 + size))
  }
}
