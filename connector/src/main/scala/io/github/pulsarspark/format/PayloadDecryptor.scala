package io.github.pulsarspark.format

import io.netty.buffer.ByteBuf

/** Undoes the encryption that a producer put on a payload. For one thread. */
private[pulsarspark] trait PayloadDecryptor {

  /** Decrypts the payload.
    *
    * @param metadata
    *   the `MessageMetadata` before it, as stored, in the first `length` bytes
    * @param payload
    *   from its reader index to its writer index
    */
  def decrypt(metadata: Array[Byte], length: Int, payload: ByteBuf): Array[Byte]
}

/** Reports that no available key decrypts a payload; the text contains the reason. Caught by `EntryDecoder`, which
  * knows topic and position.
  */
private[pulsarspark] final class Undecryptable(reason: String) extends RuntimeException(reason, null, false, false)

private[pulsarspark] object PayloadDecryptor {

  /** Decryptor of a query without private keys: it always throws. */
  val NoKeys: PayloadDecryptor = (_, _, _) => throw new Undecryptable("the query has no private keys")
}
