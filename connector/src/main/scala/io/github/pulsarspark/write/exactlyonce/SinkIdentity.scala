package io.github.pulsarspark.write.exactlyonce

/** Whose record it is.
  *
  * @param nonce
  *   the checkpoint, or kind of batch, that the sink belongs to
  * @param owner
  *   the life of a driver's coordinator
  */
private[write] final case class SinkIdentity(sinkId: String, nonce: String, owner: String)
